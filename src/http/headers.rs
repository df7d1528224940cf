//! Adds headers to every response: the request's id; the newest API version, unless the response names another; `nosniff`;
//! `no-store` on errors; the end of a deprecated operation; and HSTS if the service uses https.

use std::sync::Arc;

use common::base_url::BaseUrl;
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderValue, header},
};

use super::{deprecation, operation, request_id, version};

/// Makes browsers use https for this host, whatever the port, for a year.
const HTTPS_ONLY: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// The settings of the layer.
#[derive(Debug, Clone)]
pub struct Headers {
    /// The service's public root.
    pub base_url: BaseUrl,
    /// The newest version of the API.
    pub newest: HeaderValue,
}

/// The layer.
///
/// # Errors
/// None. Every error of the inner layers becomes a response.
pub async fn headers<E: Endpoint>(settings: Arc<Headers>, next: Arc<E>, request: Request) -> Result<Response> {
    let deprecated = operation::of(&request).filter(|operation| operation.deprecated.is_some());
    let deprecated = deprecated.map(|operation| (operation, request.uri().path().to_owned()));
    let id = request_id::of(&request).and_then(|id| HeaderValue::from_str(&id.0).ok());
    let mut response = next.call(request).await.map_or_else(poem::Error::into_response, IntoResponse::into_response);
    let failed = response.status().is_client_error() || response.status().is_server_error();
    let headers = response.headers_mut();
    headers.entry(version::HEADER).or_insert_with(|| settings.newest.clone());
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if let Some(id) = id {
        headers.insert(request_id::HEADER, id);
    }
    if let Some((operation, path)) = deprecated {
        deprecation::tell(operation, &path, failed, &settings.base_url, headers);
    }
    // A host with a service at another port may have others in plain http.
    if settings.base_url.is_https() && settings.base_url.url().port().is_none() {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HTTPS_ONLY);
    }
    if failed {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(response)
}
