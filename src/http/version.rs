//! `X-API-Version`: a client may pin the version it was written for; every answer says which one served it.

use api::error::{ApiError, Code};
use poem::{
    Endpoint, IntoResponse, Middleware, Request, Response, Result,
    http::{HeaderName, HeaderValue},
};

/// The version served.
pub const CURRENT: &str = api::VERSION;
/// The header that names a version, both ways.
pub const HEADER: HeaderName = HeaderName::from_static("x-api-version");

/// The middleware. It stands outside the envelope, because it refuses before anything else looks at the request.
#[derive(Debug, Clone, Copy, Default)]
pub struct ApiVersion;

/// See [`ApiVersion`].
pub struct ApiVersionEndpoint<E>(E);

impl<E: Endpoint> Middleware<E> for ApiVersion {
    type Output = ApiVersionEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        ApiVersionEndpoint(inner)
    }
}

impl<E: Endpoint> Endpoint for ApiVersionEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let mut response = if is_supported(&request) {
            match self.0.call(request).await {
                Ok(response) => response.into_response(),
                Err(error) => error.into_response(),
            }
        } else {
            let hint = format!("X-API-Version: the only supported version is {CURRENT}");
            ApiError::new(Code::UnsupportedApiVersion).hint(hint).into_response()
        };
        response.headers_mut().insert(HEADER, HeaderValue::from_static(CURRENT));
        Ok(response)
    }
}

/// Versions are the API's; sign-in pages and metadata have none.
fn is_supported(request: &Request) -> bool {
    let path = request.uri().path();
    let versioned = path == "/api" || path.starts_with("/api/");
    !versioned || request.headers().get_all(HEADER).iter().all(|version| version == CURRENT)
}
