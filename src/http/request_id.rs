//! Gives each request a name that stands in its answer, in its log lines and, on 5xx, in its body.

use std::sync::Arc;

use poem::{
    Endpoint, IntoResponse, Middleware, Request, Response, Result,
    http::{HeaderName, HeaderValue},
};
use tracing::Instrument;

use super::operation;
use crate::{clock::Clock, random::Random};

/// The header that carries the name, both ways.
pub const HEADER: HeaderName = HeaderName::from_static("x-correlation-id");

/// The request's name, as request data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CorrelationId(pub Arc<str>);

/// The middleware.
#[derive(Debug, Clone)]
pub struct Correlation {
    /// Times requests and dates generated names.
    pub clock: Clock,
    /// Draws generated names.
    pub random: Random,
}

/// See [`Correlation`].
pub struct CorrelationEndpoint<E> {
    inner: E,
    settings: Correlation,
}

impl<E: Endpoint> Middleware<E> for Correlation {
    type Output = CorrelationEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        CorrelationEndpoint { inner, settings: self.clone() }
    }
}

impl<E: Endpoint> Endpoint for CorrelationEndpoint<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        let start = self.settings.clock.now();
        let id = given(&request).unwrap_or_else(|| self.settings.random.id(start).to_string().into());
        request.set_data(CorrelationId(id.clone()));
        let method = request.method().clone();
        let path = loggable_path(&request);
        let span = tracing::info_span!("request", correlation_id = %id, %method, path);
        let answer = async {
            let mut response = match self.inner.call(request).await {
                Ok(response) => response.into_response(),
                Err(error) => error.into_response(),
            };
            if let Ok(value) = HeaderValue::from_str(&id) {
                response.headers_mut().insert(HEADER, value);
            }
            let status = response.status().as_u16();
            let milliseconds = (self.settings.clock.now() - start).num_milliseconds();
            tracing::info!(status, milliseconds, "{method} {path} answered {status} in {milliseconds} ms");
            response
        };
        Ok(answer.instrument(span).await)
    }
}

/// The client's own name for the request, if it is short and plain enough to stand in a log.
fn given(request: &Request) -> Option<Arc<str>> {
    let text = request.headers().get(HEADER)?.to_str().ok()?;
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    ((1..=128).contains(&text.len()) && plain).then(|| text.into())
}

/// The pattern of the path: the path itself may hold a share link's token. Paths outside the API hold no secrets.
fn loggable_path(request: &Request) -> &'static str {
    match operation::of(request) {
        Some(operation) => operation.path,
        None if request.uri().path().starts_with("/api") => "/api/…",
        None => "(not an operation)",
    }
}
