//! The envelope of a successful answer.

use poem_openapi::{
    Object,
    types::{ParseFromJSON, ToJSON},
};

use crate::params::Ignored;

/// The success envelope.
#[derive(Debug, Clone, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct Data<T: ParseFromJSON + ToJSON + Send + Sync> {
    /// The result.
    pub data: T,
    /// Metadata of the answer; absent where there is nothing to say.
    pub meta: Option<RecordMeta>,
}

/// Metadata of a record.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct RecordMeta {
    /// Parameters of the request that had no effect; absent without any.
    #[oai(validator(max_items = 30))]
    pub ignored: Option<Vec<String>>,
}

impl<T: ParseFromJSON + ToJSON + Send + Sync> From<T> for Data<T> {
    fn from(data: T) -> Self {
        Self { data, meta: None }
    }
}

impl<T: ParseFromJSON + ToJSON + Send + Sync> Data<T> {
    /// The envelope around `data`. It names the parameters that had no effect.
    #[must_use]
    pub fn of(data: T, ignored: &Ignored) -> Self {
        Self { data, meta: ignored.names().map(|names| RecordMeta { ignored: Some(names) }) }
    }
}
