//! Judges the names of query parameters, for every operation and from its declaration. This layer is behind the checks of rights, so
//! that a refusal never reveals what exists.

use std::sync::Arc;

use api::params;
use poem::{Endpoint, IntoResponse, Request, Response, Result};

use super::operation;

/// The layer that refuses query parameters that the operation does not take. It adds the ones that the operation ignores to the
/// request, for `meta.ignored`.
///
/// # Errors
/// 400, and the errors of the inner layers.
pub async fn judge<E: Endpoint>(next: Arc<E>, mut request: Request) -> Result<Response> {
    if let Some(operation) = operation::of(&request) {
        let ignored = params::judge(operation, request.uri().query().unwrap_or_default())?;
        request.set_data(ignored);
    }
    next.call(request).await.map(IntoResponse::into_response)
}
