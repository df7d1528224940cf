//! `X-API-Version`: a client may pin the version it was written for; every answer says which one served it.

use std::sync::Arc;

use api::error::{ApiError, Code};
use poem::{Endpoint, IntoResponse, Request, Response, Result, http::HeaderName};

/// The version served.
pub const CURRENT: &str = api::VERSION;
/// The header that names a version, both ways.
pub const HEADER: HeaderName = HeaderName::from_static("x-api-version");

/// The layer. It refuses before anything else looks at the request.
///
/// # Errors
/// 400 for a version that is not served, and those of the layers inside.
pub async fn version<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if !is_supported(&request) {
        let hint = format!("X-API-Version: the only supported version is {CURRENT}");
        return Err(ApiError::new(Code::UnsupportedApiVersion).hint(hint).into());
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// Versions are the API's; sign-in pages and metadata have none.
fn is_supported(request: &Request) -> bool {
    let path = request.uri().path();
    let versioned = path == "/api" || path.starts_with("/api/");
    !versioned || request.headers().get_all(HEADER).iter().all(|version| version == CURRENT)
}
