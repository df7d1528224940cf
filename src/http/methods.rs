//! The methods of a path: `Allow` on 405, and the response to `OPTIONS` for any caller. It grants no cross-origin access.

use std::sync::Arc;

use api::operation;
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{Method, StatusCode, header},
};

/// The layer that answers `OPTIONS`. It runs before authentication.
///
/// # Errors
/// The errors of the inner layers.
pub async fn options<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if *request.method() == Method::OPTIONS {
        let allow = allow(request.uri().path(), &[]);
        if !allow.is_empty() {
            return Ok(Response::builder().status(StatusCode::NO_CONTENT).header(header::ALLOW, allow).finish());
        }
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// Returns the methods of `path` for `Allow`, or an empty string for an unknown path.
#[must_use]
pub fn allow(path: &str, other: &[(&str, &str)]) -> String {
    if let Some((_, methods)) = other.iter().find(|(known, _)| *known == path) {
        return (*methods).to_owned();
    }
    let here = operation::all().iter().filter(|operation| operation.matches(path).is_some());
    let mut methods: Vec<&str> = here.map(|operation| operation.method.as_str()).collect();
    if methods.contains(&Method::GET.as_str()) {
        methods.push(Method::HEAD.as_str());
    }
    if !methods.is_empty() {
        methods.push(Method::OPTIONS.as_str());
    }
    methods.sort_unstable();
    methods.dedup();
    methods.join(", ")
}
