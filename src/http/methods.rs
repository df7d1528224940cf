//! The methods of a path: `Allow` on 405, and the answer to `OPTIONS`, for anyone. Scripts of other origins get no permission by it.

use std::sync::Arc;

use api::operation;
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{Method, StatusCode, header},
};

/// The layer that answers `OPTIONS`. It stands in front of authentication.
///
/// # Errors
/// Those of the layers inside.
pub async fn options<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if *request.method() == Method::OPTIONS {
        let allow = allow(request.uri().path(), &[]);
        if !allow.is_empty() {
            return Ok(Response::builder().status(StatusCode::NO_CONTENT).header(header::ALLOW, allow).finish());
        }
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// The methods that `path` answers, for `Allow`; empty where it is no path of ours.
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
