//! Looks the operation of a request up, once.

use std::sync::Arc;

use api::operation::{self, Operation};
use poem::{Endpoint, IntoResponse, Request, Response, Result};

/// The operation that a request asks for, as request data.
#[derive(Clone, Copy)]
struct Asked(&'static Operation);

/// The layer.
///
/// # Errors
/// Those of the layers inside.
pub async fn look_up<E: Endpoint>(next: Arc<E>, mut request: Request) -> Result<Response> {
    if let Some(operation) = operation::find(request.method(), request.uri().path()) {
        request.set_data(Asked(operation));
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// The operation that `request` asks for; none where its method and path are not in the table.
#[must_use]
pub fn of(request: &Request) -> Option<&'static Operation> {
    request.data::<Asked>().map(|asked| asked.0)
}
