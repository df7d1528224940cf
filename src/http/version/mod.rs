//! `X-API-Version`: a client may pin the version that it was written for, and every response names the version of its shape.
//!
//! The layers and operations inside know the newest version only. For a client of an older version, this layer rewrites the query
//! and the tags of conditional requests on the way in, and the answer on the way out. The body is rewritten where it is read, by
//! [`idempotency`](super::idempotency), so that no stranger's body is parsed.

mod request;
mod response;
mod served;

pub use self::{request::Pin, served::Served};

use std::sync::Arc;

use api::error::{ApiError, Code};
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderName, HeaderValue, header},
};

use self::served::RequestedVersion;
use super::{errors, operation, request_id};
use crate::error::caught;

/// The header that names a version, in requests and responses.
pub const HEADER: HeaderName = HeaderName::from_static("x-api-version");

/// The version layer. A request that pins no version passes after one look at its headers. The layer is around
/// [`errors`], so that refusals are in the terms of the client's version, too.
///
/// # Errors
/// The errors of the inner layers.
pub async fn version<E: Endpoint>(served: Arc<Served>, next: Arc<E>, request: Request) -> Result<Response> {
    match served.asked(&request) {
        RequestedVersion::Newest => next.call(request).await.map(IntoResponse::into_response),
        RequestedVersion::Unknown => {
            let refusal = ApiError::new(Code::UnsupportedApiVersion).hint(served.versions.hint());
            let mut response = refusal.into_response();
            response.headers_mut().append(header::VARY, HeaderValue::from_static("X-API-Version"));
            Ok(response)
        }
        RequestedVersion::Older(at) => {
            let id = request_id::of(&request).cloned();
            let pin = Pin { served: served.clone(), at };
            // A transform that panics is a fault of the service.
            let answer = caught(Box::pin(older(pin, next, request))).await;
            let mut response = answer.unwrap_or_else(|error| errors::response_of(error, id.as_ref()));
            served.tell(at, response.headers_mut());
            Ok(response)
        }
    }
}

/// Answers a client of an older version in its shape.
async fn older<E: Endpoint>(pin: Pin, next: Arc<E>, mut request: Request) -> Result<Response> {
    let operation = operation::of(&request);
    pin.rewrite(&mut request, operation);
    request.set_data(pin.clone());
    let response = next.call(request).await.map_or_else(poem::Error::into_response, IntoResponse::into_response);
    match operation {
        Some(operation) => response::rewritten(&pin, operation, response).await,
        None => Ok(response),
    }
}

/// Names the version of the shape that `response` was stored in.
pub(super) fn name(response: &mut Response, date: &str) {
    if let Ok(date) = HeaderValue::from_str(date) {
        response.headers_mut().insert(HEADER, date);
    }
}

/// Returns the older version that the client of `request` has pinned, if it has.
pub(super) fn pin(request: &Request) -> Option<&Pin> {
    request.data()
}
