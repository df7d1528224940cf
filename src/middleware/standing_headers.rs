//! Headers that every answer carries, whatever it is: no content sniffing; errors are not kept by caches.

use poem::{
    Endpoint, IntoResponse, Middleware, Request, Response, Result,
    http::{HeaderValue, header},
};

/// The middleware.
#[derive(Debug, Clone, Copy, Default)]
pub struct StandingHeaders;

/// See [`StandingHeaders`].
pub struct StandingHeadersEndpoint<E>(E);

impl<E: Endpoint> Middleware<E> for StandingHeaders {
    type Output = StandingHeadersEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        StandingHeadersEndpoint(inner)
    }
}

impl<E: Endpoint> Endpoint for StandingHeadersEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let mut response = match self.0.call(request).await {
            Ok(response) => response.into_response(),
            Err(error) => error.into_response(),
        };
        let failed = response.status().is_client_error() || response.status().is_server_error();
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if failed {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        Ok(response)
    }
}
