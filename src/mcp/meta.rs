//! Reads what the metadata of an answer says beside its figures.

use api::{
    analytics::AnswerMeta,
    models::{DataState, DateRange, Warning},
};
use poem_openapi::types::ParseFromJSON;
use serde_json::Value;

/// The metadata of an operation's answer, as far as it does not depend on the rows shown.
#[derive(Debug, Default)]
pub struct Meta {
    /// The metadata that all analyses share; `None` of other operations.
    pub analysis: Option<AnswerMeta>,
    /// The days that the figures count.
    pub window: Option<DateRange>,
    /// The days that they are compared with.
    pub compare_window: Option<DateRange>,
    /// The days that an analysis was asked to count.
    pub data_state: DataState,
    /// Facts about the windows that the numbers do not show.
    pub warnings: Vec<Warning>,
}

impl Meta {
    /// Reads the metadata of `answer`.
    #[must_use]
    pub fn of(answer: &Value) -> Self {
        let meta = &answer["meta"];
        Self {
            analysis: read(meta),
            window: read(&meta["window"]),
            compare_window: read(&meta["compareWindow"]),
            data_state: read(&meta["question"]["dataState"]).unwrap_or_default(),
            warnings: read(&meta["warnings"]).unwrap_or_default(),
        }
    }
}

/// Reads a part of an answer as its model. `None` if it is another one.
#[must_use]
pub fn read<T: ParseFromJSON>(part: &Value) -> Option<T> {
    T::parse_from_json(Some(part.clone())).ok()
}
