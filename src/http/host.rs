//! Refuses requests of HTTP/1.1 whose host cannot be read (RFC 9112 section 3.2), which proxies and caches in front would read in other ways.

use std::sync::Arc;

use api::error::ApiError;
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderMap, Version, header::HOST, uri::Authority},
};

/// The layer.
///
/// # Errors
/// 400, and the errors of the inner layers.
pub async fn check<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if request.version() == Version::HTTP_11 && !is_named(request.headers()) {
        return Err(ApiError::invalid("Host", "send it once, with the host of this service and its port").into());
    }
    next.call(request).await.map(IntoResponse::into_response)
}

fn is_named(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(HOST).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else { return false };
    let text = line.to_str().unwrap_or("/");
    text.is_empty() || text.parse::<Authority>().is_ok_and(|host| !host.as_str().contains('@'))
}
