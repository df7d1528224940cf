//! Looks up the operation of a request, once.

use std::sync::Arc;

use api::operation::{self, Operation};
use poem::{Endpoint, IntoResponse, Request, Response, Result};

/// The operation of a request, as request data.
#[derive(Clone, Copy)]
struct Asked(&'static Operation);

/// The layer that looks up the operation.
///
/// # Errors
/// The errors of the inner layers.
pub async fn look_up<E: Endpoint>(next: Arc<E>, mut request: Request) -> Result<Response> {
    if let Some(operation) = operation::find(request.method(), request.uri().path()) {
        request.set_data(Asked(operation));
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// Returns the operation of `request`, or `None` if its method and path are not in the operation table.
#[must_use]
pub fn of(request: &Request) -> Option<&'static Operation> {
    request.data::<Asked>().map(|asked| asked.0)
}
