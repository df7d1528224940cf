//! What authentication has established, as operations see it.
//!
//! Credentials are judged in the server, before the router; nothing here verifies anything. The schemes of the document
//! (OAuth 2.0, bearer, session cookie) are written by `document::security`.

use std::any::type_name;

use poem::{FromRequest, Request, RequestBody, Result, http::Extensions};

use crate::error::{ApiError, Code};

/// What the layers in front of the router have put into the request: the caller's identity, the access to the property
/// in the path, the open transaction. The contract does not know these types; implementations ask for them by type.
#[derive(Debug, Clone)]
pub struct Caller(Extensions);

impl Caller {
    /// The established value of type `T`. Its absence is a fault of the server's own wiring.
    pub fn get<T: Clone + Send + Sync + 'static>(&self) -> Result<T, ApiError> {
        self.find()
            .ok_or_else(|| ApiError::new(Code::Internal).hint(format!("nothing established a {}", type_name::<T>())))
    }

    /// The established value of type `T`, if there is one.
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
