//! Refuses requests that no handler is to see: those on connections over the limit of their address, and those whose host cannot be read.
//! Both are one layer, because each layer makes the stack of a request deeper.

use std::sync::Arc;

use api::error::{ApiError, Code};
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderMap, Version, header::HOST, uri::Authority},
};

use crate::server::OverLimit;

/// The value of `Retry-After`, in seconds.
const SOON: u64 = 1;

/// The layer. A body is read before, because a client that is still sending would get a closed connection instead of the answer.
///
/// # Errors
/// 429, 400, and the errors of the inner layers.
pub async fn admit<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if let Some(OverLimit(most)) = request.data() {
        let hint = format!(
            "{most} connections of this address are open, and it may have no more. Close some, or send requests over those that are open."
        );
        return Err(ApiError::new(Code::RateLimited).hint(hint).retry_after(SOON).into());
    }
    if request.version() == Version::HTTP_11 && !is_host_named(request.headers()) {
        return Err(ApiError::invalid("Host", "send it once, with the host of this service and its port").into());
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// Returns whether a request of HTTP/1.1 names one host (RFC 9112 section 3.2). Proxies and caches in front would read others in other ways.
fn is_host_named(headers: &HeaderMap) -> bool {
    let mut lines = headers.get_all(HOST).iter();
    let (Some(line), None) = (lines.next(), lines.next()) else { return false };
    let text = line.to_str().unwrap_or("/");
    text.is_empty() || text.parse::<Authority>().is_ok_and(|host| !host.as_str().contains('@'))
}
