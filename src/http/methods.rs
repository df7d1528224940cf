//! The methods of a path: `Allow` on 405, the response to `OPTIONS` for any caller, and the refusal of a `HEAD` that would cost money.

use std::sync::Arc;

use api::operation;
use pages::paths::is_at;
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    error::MethodNotAllowedError,
    http::{Method, StatusCode, header},
};

use super::operation as asked;

/// The layer that answers `OPTIONS`, and refuses `HEAD` where a read is paid for. It runs before authentication.
///
/// # Errors
/// 405, and the errors of the inner layers.
pub async fn options<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if *request.method() == Method::OPTIONS {
        let allow = allow(request.uri().path(), &[]);
        if !allow.is_empty() {
            return Ok(Response::builder().status(StatusCode::NO_CONTENT).header(header::ALLOW, allow).finish());
        }
    }
    if *request.method() == Method::HEAD && asked::of(&request).is_some_and(|operation| operation.is_paid) {
        return Err(MethodNotAllowedError.into());
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// Returns the methods of `path` for `Allow`, or an empty string for an unknown path.
#[must_use]
pub fn allow(path: &str, other: &[(&str, &str)]) -> String {
    if let Some((_, methods)) = other.iter().find(|(known, _)| is_at(known, path)) {
        return (*methods).to_owned();
    }
    let here = operation::at(path).collect::<Vec<_>>();
    let mut methods: Vec<&str> = here.iter().map(|operation| operation.method.as_str()).collect();
    if here.iter().any(|operation| operation.method == Method::GET && !operation.is_paid) {
        methods.push(Method::HEAD.as_str());
    }
    if !methods.is_empty() {
        methods.push(Method::OPTIONS.as_str());
    }
    methods.sort_unstable();
    methods.dedup();
    methods.join(", ")
}
