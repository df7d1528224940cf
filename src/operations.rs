//! Asks operations from within the service, through the layers that every request for them passes.

use std::sync::Arc;

use api::error::{ApiError, Code, ErrorBody};
use bytes::Bytes;
use common::compute::beside_unless;
use poem::{
    Endpoint as _, Request, ResponseParts,
    endpoint::BoxEndpoint,
    http::{Extensions, header},
};
use poem_openapi::types::ParseFromJSON as _;
use serde_json::Value;

use crate::error::Error;

/// Answers of at most this many bytes are parsed at once.
const SMALL: usize = 64 * 1024;

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

    /// Sends a request as [`ask`](Self::ask) does and returns the JSON of its answer, or null if it has no body.
    ///
    /// # Errors
    /// The refusal of the layers or of the operation.
    pub async fn json(&self, request: Request, outer: &Extensions) -> Result<Value, ApiError> {
        let (parts, body) = self.ask(request, outer).await?;
        if body.is_empty() && parts.status.is_success() {
            return Ok(Value::Null);
        }
        let parsed = beside_unless(body.len() <= SMALL, move || serde_json::from_slice(&body)).await;
        let json = parsed.map_err(Error::from)?.map_err(|_| ApiError::new(Code::Internal))?;
        if parts.status.is_success() { Ok(json) } else { Err(refusal_of(&parts, json)) }
    }
}

/// Reads a refusal back from its wire form.
fn refusal_of(parts: &ResponseParts, body: Value) -> ApiError {
    let Ok(body) = ErrorBody::parse_from_json(Some(body)) else { return ApiError::new(Code::Internal) };
    let code = Code::ALL.iter().find(|code| Some(code.as_str()) == body.code.as_deref());
    ApiError {
        code: code.copied().unwrap_or(Code::Internal),
        hint: body.hint,
        retry_after: parts.headers.get(header::RETRY_AFTER).and_then(|seconds| seconds.to_str().ok()?.parse().ok()),
        correlation_id: body.correlation_id,
    }
}
