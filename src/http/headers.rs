//! Adds headers to every response: the request's id; the newest API version, unless the response names another; `nosniff`;
//! `no-store` on errors; and HSTS if the service uses https.

use std::sync::Arc;

use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderValue, header},
};

use super::{request_id, version};

/// Tells browsers to use https for this host for a year.
const HTTPS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The layer. `https` is true if the service's public root uses https, and `newest` is the newest version of the API.
///
/// # Errors
/// None. Every error of the inner layers becomes a response.
pub async fn headers<E: Endpoint>(
    https: bool,
    newest: HeaderValue,
    next: Arc<E>,
    request: Request,
) -> Result<Response> {
    let id = request_id::of(&request).and_then(|id| HeaderValue::from_str(&id.0).ok());
    let mut response = next.call(request).await.map_or_else(poem::Error::into_response, IntoResponse::into_response);
    let failed = response.status().is_client_error() || response.status().is_server_error();
    let headers = response.headers_mut();
    headers.entry(version::HEADER).or_insert(newest);
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(id) = id {
        headers.insert(request_id::HEADER, id);
    }
    if https {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HTTPS_ONLY);
    }
    if failed {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(response)
}
