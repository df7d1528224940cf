//! The methods of a path: the refusal of others, `Allow` on it, and the response to `OPTIONS`, for any caller.

use std::sync::Arc;

use api::operation;
use pages::paths::is_at;
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    error::MethodNotAllowedError,
    http::{Method, StatusCode, header},
};

use super::operation as asked;

/// The layer that refuses methods that a path does not have, and answers `OPTIONS`. It runs before authentication.
///
/// # Errors
/// 405, and the errors of the inner layers.
pub async fn methods<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if is_refused(&request) {
        return Err(MethodNotAllowedError.into());
    }
    if *request.method() == Method::OPTIONS {
        let allow = allow(request.uri().path(), &[]);
        if !allow.is_empty() {
            return Ok(Response::builder().status(StatusCode::NO_CONTENT).header(header::ALLOW, allow).finish());
        }
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// Returns whether an operation is at the path of `request`, but none by its method. A `HEAD` that would cost money is refused, too.
#[must_use]
pub fn is_refused(request: &Request) -> bool {
    let (method, path) = (request.method(), request.uri().path());
    match asked::of(request) {
        Some(operation) => operation.is_paid && *method == Method::HEAD,
        None => *method != Method::OPTIONS && operation::at(path).next().is_some(),
    }
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
