//! Asks operations from within the service, through the layers that every request for them passes.

use std::sync::Arc;

use bytes::Bytes;
use poem::{Endpoint as _, Request, ResponseParts, endpoint::BoxEndpoint, http::Extensions};

use crate::error::Error;

/// The operations behind their layers, which answer errors as responses.
#[derive(Clone)]
pub struct Operations(Arc<BoxEndpoint<'static>>);

impl Operations {
    /// Asks these operations.
    #[must_use]
    pub fn new(operations: BoxEndpoint<'static>) -> Self {
        Self(Arc::new(operations))
    }

    /// Sends a request with the data that the layers of the `outer` one established: the caller's address and the request's id.
    ///
    /// # Errors
    /// [`Error::Internal`] if there is no whole answer.
    pub async fn ask(&self, mut request: Request, outer: &Extensions) -> Result<(ResponseParts, Bytes), Error> {
        request.extensions_mut().extend(outer.clone());
        let response = self.0.call(request).await.map_err(|error| Error::internal(error.to_string()))?;
        let (parts, body) = response.into_parts();
        Ok((parts, body.into_bytes().await.map_err(Error::internal)?))
    }
}
