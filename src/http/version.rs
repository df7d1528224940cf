//! `X-API-Version`: a client may pin the version it was written for, and every response names the version that served it.

use std::sync::Arc;

use api::error::{ApiError, Code};
use poem::{Endpoint, IntoResponse, Request, Response, Result, http::HeaderName};

/// The version served.
pub const CURRENT: &str = api::VERSION;
/// The header that names a version, in requests and responses.
pub const HEADER: HeaderName = HeaderName::from_static("x-api-version");

/// The version layer. It runs before anything else looks at the request.
///
/// # Errors
/// 400 for a version that is not supported, and the errors of the inner layers.
pub async fn version<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if !is_supported(&request) {
        let hint = format!("X-API-Version: the only supported version is {CURRENT}");
        return Err(ApiError::new(Code::UnsupportedApiVersion).hint(hint).into());
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// Returns whether the version requested is supported. Only the API has versions, not the sign-in pages and metadata.
fn is_supported(request: &Request) -> bool {
    let path = request.uri().path();
    let versioned = path == "/api" || path.starts_with("/api/");
    !versioned || request.headers().get_all(HEADER).iter().all(|version| version == CURRENT)
}
