//! Judges the names of query parameters, and the bodies of writes that take none, for every operation and from its declaration. This layer
//! is behind the checks of rights, so that a refusal never reveals what exists.

use std::sync::Arc;

use api::{body, params};
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderName, HeaderValue},
};

use super::operation;

const IGNORED: HeaderName = HeaderName::from_static("x-ignored");

/// The layer that refuses query parameters that the operation does not take, and fields of a body where it takes none. It adds the
/// parameters without effect to the request, for `meta.ignored`, and names them in a header, because not every answer has a place for them.
///
/// # Errors
/// 400, and the errors of the inner layers.
pub async fn judge<E: Endpoint>(next: Arc<E>, mut request: Request) -> Result<Response> {
    if let Some(operation) = operation::of(&request) {
        let ignored = params::judge(operation, request.uri().query().unwrap_or_default())?;
        let listed = (!ignored.0.is_empty()).then(|| ignored.0.join(", "));
        request.set_data(ignored);
        if operation.idempotency.is_some() && !operation.takes_body {
            body::check_empty(&request.take_body().into_bytes().await?)?;
        }
        let mut answer = next.call(request).await?.into_response();
        if let Some(Ok(names)) = listed.map(HeaderValue::try_from) {
            answer.headers_mut().insert(IGNORED, names);
        }
        return Ok(answer);
    }
    next.call(request).await.map(IntoResponse::into_response)
}
