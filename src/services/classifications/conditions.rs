//! Conditions that are saved: segments on pages, topic clusters on queries, filter presets on anything.
//!
//! What no question could be asked with is refused when it is saved, not when it is used.

use api::{
    classifications::ClassificationCondition,
    models::{FilterCondition, FilterDimension, MAX_CONDITIONS_BYTES},
};
use serde::Serialize;

use crate::{
    compute::beside,
    error::Error,
    search_engine::{Expression, PlanError, Predicate, filter, plan},
};

/// Conditions of a classification as they are stored, once they are known to mean something and to be plannable on `dimension`.
pub async fn stored(dimension: FilterDimension, conditions: Vec<ClassificationCondition>) -> Result<String, Error> {
    let json = json("conditions", &conditions)?;
    let check = move || check_plannable("conditions", &on(dimension, &conditions));
    beside(check).await??;
    Ok(json)
}

/// The same of a preset's.
pub async fn stored_filters(filters: Vec<FilterCondition>) -> Result<String, Error> {
    let json = json("filters", &filters)?;
    beside(move || check_plannable("filters", &filters)).await??;
    Ok(json)
}

fn json(field: &str, conditions: &[impl Serialize]) -> Result<String, Error> {
    let json = serde_json::to_string(conditions).map_err(Error::internal)?;
    if json.len() > MAX_CONDITIONS_BYTES {
        return Err(Error::invalid(format!(
            "{field}: at most 60,000 bytes as JSON are kept, and these take {}; shorten the values or use fewer conditions",
            json.len()
        )));
    }
    Ok(json)
}

/// The same conditions, as a filter on `dimension` has them.
#[must_use]
pub fn on(dimension: FilterDimension, conditions: &[ClassificationCondition]) -> Vec<FilterCondition> {
    let condition = |saved: &ClassificationCondition| FilterCondition {
        dimension,
        operator: saved.operator,
        value: saved.value.clone(),
        logic: saved.logic,
    };
    conditions.iter().map(condition).collect()
}

/// Conditions as answers say them.
pub fn from_stored(json: &str) -> Result<Vec<ClassificationCondition>, Error> {
    serde_json::from_str(json).map_err(Error::internal)
}

/// Refuses conditions that mean nothing or that no plan answers. `field` is where they stand in the body.
fn check_plannable(field: &str, conditions: &[FilterCondition]) -> Result<(), Error> {
    for (index, condition) in conditions.iter().enumerate() {
        filter::check(condition).map_err(|allowed| Error::invalid(format!("{field}[{index}]: {allowed}")))?;
    }
    // The planner speaks of the parameter that a question has its conditions in.
    plan(&Predicate(vec![Expression::of(conditions)]))
        .map(drop)
        .map_err(|PlanError::TooComplex(hint)| Error::FilterTooComplex(hint.replacen("filters", field, 1)))
}
