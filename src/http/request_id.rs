//! Gives each request an id. It is in the response, in the log lines and, on 5xx, in the body.

use std::sync::Arc;

use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderName, Method},
};
use tracing::Instrument;

use super::operation;
use crate::{clock::Clock, random::Random, web::paths::TOOLS};

/// The header of the id, in requests and responses.
pub const HEADER: HeaderName = HeaderName::from_static("x-correlation-id");

/// The request's id, as request data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

/// Returns the id of a request.
#[must_use]
pub fn of(request: &Request) -> Option<&RequestId> {
    request.data()
}

/// The layer. `clock` times the request. If the client sends no id, the layer makes one with `clock` and `random`.
///
/// # Errors
/// None. Every error of the inner layers becomes a response.
pub async fn request_id<E: Endpoint>(
    clock: Clock,
    random: Random,
    next: Arc<E>,
    mut request: Request,
) -> Result<Response> {
    let start = clock.now();
    let id = given(&request).unwrap_or_else(|| random.id(start).to_string().into());
    let (method, path) = (loggable_method(&request), loggable_path(&request));
    let span = tracing::info_span!("request", correlation_id = %id, %method, path);
    request.set_data(RequestId(id));
    let answer = async {
        let response = next.call(request).await.map_or_else(poem::Error::into_response, IntoResponse::into_response);
        let status = response.status().as_u16();
        let milliseconds = (clock.now() - start).num_milliseconds();
        tracing::info!(status, milliseconds, "{method} {path} answered {status} in {milliseconds} ms");
        response
    };
    Ok(answer.instrument(span).await)
}

/// Returns the client's own id for the request, if it is short and plain enough for a log.
fn given(request: &Request) -> Option<Arc<str>> {
    let text = request.headers().get(HEADER)?.to_str().ok()?;
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    ((1..=128).contains(&text.len()) && plain).then(|| text.into())
}

/// Returns the method, if the standard defines it. Anybody can make up others, of any length.
fn loggable_method(request: &Request) -> &'static str {
    match *request.method() {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "(another method)",
    }
}

/// Returns the pattern of the path, because the path itself may contain a share link's token. Paths outside the API contain no
/// secrets.
fn loggable_path(request: &Request) -> &'static str {
    match operation::of(request) {
        Some(operation) => operation.path,
        None if request.uri().path().starts_with("/api") => "/api/…",
        None if request.uri().path() == TOOLS => TOOLS,
        None => "(not an operation)",
    }
}
