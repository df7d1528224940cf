//! Headers that every answer carries, whatever it is: no content sniffing; errors are not kept by caches; a service on https is not
//! asked over http again.

use poem::{
    Endpoint, IntoResponse, Middleware, Request, Response, Result,
    http::{HeaderValue, header},
};

/// A year, in which browsers ask this host over https only.
const HTTPS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The middleware.
#[derive(Debug, Clone, Copy, Default)]
pub struct StandingHeaders {
    /// Whether the service's public root is on https.
    pub https: bool,
}

/// See [`StandingHeaders`].
pub struct StandingHeadersEndpoint<E> {
    inner: E,
    https: bool,
}

impl<E: Endpoint> Middleware<E> for StandingHeaders {
    type Output = StandingHeadersEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        StandingHeadersEndpoint { inner, https: self.https }
    }
}

impl<E: Endpoint> Endpoint for StandingHeadersEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let mut response = match self.inner.call(request).await {
            Ok(response) => response.into_response(),
            Err(error) => error.into_response(),
        };
        let failed = response.status().is_client_error() || response.status().is_server_error();
        let headers = response.headers_mut();
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        if self.https {
            headers.insert(header::STRICT_TRANSPORT_SECURITY, HTTPS_ONLY);
        }
        if failed {
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        }
        Ok(response)
    }
}
