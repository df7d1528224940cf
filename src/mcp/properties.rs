//! The properties that a caller can name.

use std::sync::Arc;

use api::error::{ApiError, Code};
use poem::http::request::Parts;
use uuid::Uuid;

use crate::{
    clock::Clock,
    config::Config,
    error::Error,
    http::{errors, request_id::RequestId},
    services::{analyses::search_data::SearchData, properties::reference, users::Member},
};

/// Finds the properties that callers name.
pub struct Properties {
    /// The database of properties.
    pub search: SearchData,
    /// The settings.
    pub config: Arc<Config>,
    /// The clock.
    pub clock: Clock,
}

impl Properties {
    /// Returns the property that the caller of `outer` means. Access to it is checked by the layers in front of operations.
    ///
    /// # Errors
    /// 404 if the text names none that the caller can see, 400 if it names several.
    pub async fn find(&self, text: &str, outer: &Parts) -> Result<Uuid, ApiError> {
        let found = reference::find(&self.search.db, &self.config, caller(outer)?, text, self.clock.now()).await;
        found.map_err(|error| refused(error, outer))
    }

    /// Returns a name for each property that the caller of `outer` can see.
    ///
    /// # Errors
    /// 500 if the database fails.
    pub async fn names(&self, outer: &Parts) -> Result<Vec<String>, ApiError> {
        let names = reference::names(&self.search.db, &self.config, caller(outer)?, self.clock.now()).await;
        names.map_err(|error| refused(error, outer))
    }
}

fn caller(outer: &Parts) -> Result<&Arc<Member>, ApiError> {
    outer.extensions.get::<Arc<Member>>().ok_or_else(|| ApiError::new(Code::Unauthorized))
}

fn refused(error: Error, outer: &Parts) -> ApiError {
    errors::finished(error.into(), outer.extensions.get::<RequestId>())
}
