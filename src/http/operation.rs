//! Looks up the operation of a request, once, and counts and times the request by it, if metrics are served.

use std::sync::Arc;

use api::operation::{self, Operation};
use poem::{Endpoint, IntoResponse, Request, Response, Result};
use telemetry::{
    requests::{OTHER, RequestMeter},
    traces::Span,
};

use super::REPLAYED;

/// The operation of a request, as request data.
#[derive(Clone, Copy)]
struct Asked(&'static Operation);

/// The layer that looks up the operation. Without a `meter` nothing is measured. Both are one layer, because each layer makes the
/// stack of a request deeper.
///
/// # Errors
/// None. Every error of the inner layers becomes a response.
pub async fn look_up<E: Endpoint>(
    meter: Option<Arc<RequestMeter>>,
    next: Arc<E>,
    mut request: Request,
) -> Result<Response> {
    let operation = find(&mut request);
    let under_way = meter.as_deref().map(|meter| meter.begin(operation.map_or(OTHER, |operation| operation.id)));
    // Around a request itself there is no span yet: only operations that tools and pages ask have one of their own.
    let span = operation.map(|operation| Span::part(operation.id)).unwrap_or_default();
    let response =
        span.around(next.call(request)).await.map_or_else(poem::Error::into_response, IntoResponse::into_response);
    if let Some(under_way) = under_way {
        let replayed = response.headers().get(REPLAYED).map(|replayed| replayed == "true");
        under_way.answered(response.status().as_u16(), replayed);
    }
    span.status(response.status().as_u16());
    span.fail_if(response.status().is_server_error());
    Ok(response)
}

/// Looks up the operation of `request`, and makes it known to [`of`].
pub(super) fn find(request: &mut Request) -> Option<&'static Operation> {
    let operation = operation::find(request.method(), request.uri().path())?;
    request.set_data(Asked(operation));
    Some(operation)
}

/// Returns the operation of `request`, or `None` if its method and path are not in the operation table.
#[must_use]
pub fn of(request: &Request) -> Option<&'static Operation> {
    request.data::<Asked>().map(|asked| asked.0)
}
