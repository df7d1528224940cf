//! Results of authentication, as operations see them.
//!
//! The server verifies credentials before the router runs; this module verifies nothing. `document::security` writes
//! the schemes of the document (OAuth 2.0, bearer, session cookie).

use std::any::type_name;

use poem::{FromRequest, Request, RequestBody, Result, http::Extensions};

use crate::error::{ApiError, Code};

/// Request data from the layers in front of the router: the caller's identity, the access to the property in the path,
/// the open transaction. The contract does not know these types; implementations get them by type.
#[derive(Debug, Clone)]
pub struct Caller(Extensions);

impl Caller {
    /// Returns the value of type `T`. A missing value is a wiring fault of the server and fails with 500.
    pub fn get<T: Clone + Send + Sync + 'static>(&self) -> Result<T, ApiError> {
        self.find()
            .ok_or_else(|| ApiError::new(Code::Internal).hint(format!("nothing established a {}", type_name::<T>())))
    }

    /// Returns the value of type `T`, if there is one.
    #[must_use]
    pub fn find<T: Clone + Send + Sync + 'static>(&self) -> Option<T> {
        self.0.get::<T>().cloned()
    }
}

impl<'a> FromRequest<'a> for Caller {
    async fn from_request(request: &'a Request, _: &mut RequestBody) -> Result<Self> {
        Ok(Self(request.extensions().clone()))
    }
}
