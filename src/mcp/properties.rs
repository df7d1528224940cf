//! The properties that a caller can name.

use std::sync::Arc;

use api::error::{ApiError, Code};
use common::clock::Clock;
use poem::http::request::Parts;
use uuid::Uuid;

use super::state::{AnswerState, MUST_RECONNECT, NEVER_CONNECTED, NOTHING_TRACKED};
use crate::{
    error::{Disconnection, Error, RequestId, finished},
    services::{analyses::search_data::SearchData, properties::reference, system, users::Member},
};

/// Finds the properties that callers name.
pub struct Properties {
    /// The database of properties.
    pub search: SearchData,
    /// The clock.
    pub clock: Clock,
}

impl Properties {
    /// Returns the property that the caller of `outer` means. Access to it is checked by the layers in front of operations.
    ///
    /// # Errors
    /// 404 if the text names none that the caller can see, 400 if it names several.
    pub async fn find(&self, text: &str, outer: &Parts) -> Result<Uuid, ApiError> {
        let found = reference::find(&self.search.db, caller(outer)?, text, self.clock.now()).await;
        found.map_err(|error| refused(error, outer))
    }

    /// Returns a name for each property that the caller of `outer` can see.
    ///
    /// # Errors
    /// 500 if the database fails.
    pub async fn names(&self, outer: &Parts) -> Result<Vec<String>, ApiError> {
        let names = reference::names(&self.search.db, caller(outer)?, self.clock.now()).await;
        names.map_err(|error| refused(error, outer))
    }

    /// Returns why the caller of `outer` sees no property, or `None` if they see one. It says nothing about a property that they named.
    ///
    /// # Errors
    /// 500 if the database fails.
    pub async fn absence(&self, outer: &Parts) -> Result<Option<AnswerState>, ApiError> {
        if !self.names(outer).await?.is_empty() {
            return Ok(None);
        }
        let place = self.search.account_page.as_deref().map_or_else(String::new, |page| format!(" at {page}"));
        let advice =
            format!("A search account is connected, and none of its properties is tracked. Choose properties{place}.");
        let nothing = AnswerState { name: NOTHING_TRACKED, advice };
        Ok(Some(self.account(outer).await?.unwrap_or(nothing)))
    }

    /// Returns why none of the caller's own search accounts can be read, or `None` if one can.
    ///
    /// # Errors
    /// 500 if the database fails.
    pub async fn account(&self, outer: &Parts) -> Result<Option<AnswerState>, ApiError> {
        let error = system::unreadable(&self.search, caller(outer)?).await.map_err(|error| refused(error, outer))?;
        Ok(error.map(|error| {
            let is_first = matches!(&error, Error::SearchAccountDisconnected(account) if account.reason == Disconnection::NeverConnected);
            let name = if is_first { NEVER_CONNECTED } else { MUST_RECONNECT };
            AnswerState { name, advice: error.hint().unwrap_or_default().into_owned() }
        }))
    }
}

fn caller(outer: &Parts) -> Result<&Arc<Member>, ApiError> {
    outer.extensions.get::<Arc<Member>>().ok_or_else(|| ApiError::new(Code::Unauthorized))
}

fn refused(error: Error, outer: &Parts) -> ApiError {
    finished(error.into(), outer.extensions.get::<RequestId>())
}
