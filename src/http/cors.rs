//! Lets pages of other origins call the API and the tool endpoint (cross-origin resource sharing of the Fetch standard).
//!
//! Such a page sends a token that its own user gave it. A cookie never counts: the answers lack `Access-Control-Allow-Credentials`, and
//! admission takes no session from another origin. An answer that a cookie opened is granted to nobody: its request names no origin, or the
//! service's own. Preflights are answered here, in front of versions, limits and authentication.

use std::sync::Arc;

use pages::paths::TOOLS;
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderValue, Method, StatusCode, header},
};

use super::origin::OwnOrigins;

const ANY: HeaderValue = HeaderValue::from_static("*");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, DELETE, OPTIONS");
/// The headers that the service reads. Some browsers do not know `*`, and none takes it for `Authorization`.
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Accept, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-API-Version, X-Correlation-Id, \
     MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, *",
);
/// The headers of answers that scripts may read, beside the safelisted ones.
const ANSWER_HEADERS: HeaderValue = HeaderValue::from_static(
    "Allow, Content-Disposition, Deprecation, ETag, Idempotency-Replayed, Idempotency-Storage, Link, Location, Retry-After, Sunset, \
     WWW-Authenticate, X-API-Version, X-Correlation-Id, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, \
     X-Has-More, X-Ignored, X-Rows-Ceiling, X-Rows-Known, X-Rows-Matched, X-Rows-Shown, X-Total-Rows-Capped, X-Window, \
     X-Compare-Window, X-Last-Final-Date, X-Warnings",
);
/// The time in seconds for which a browser may remember a preflight. Browsers shorten it.
const PREFLIGHT_AGE: HeaderValue = HeaderValue::from_static("86400");

/// The origins whose pages may call the service.
#[derive(Debug, Clone)]
pub struct Cors {
    /// The origins that may call the API. Empty: every origin.
    pub origins: Vec<String>,
    /// The origins that may call the tool endpoint.
    pub tools: Arc<OwnOrigins>,
}

/// The layer.
///
/// # Errors
/// The errors of the inner layers.
pub async fn cors<E: Endpoint>(settings: Arc<Cors>, next: Arc<E>, request: Request) -> Result<Response> {
    let path = request.uri().path();
    if path != TOOLS && path != "/api" && !path.starts_with("/api/") {
        return next.call(request).await.map(IntoResponse::into_response);
    }
    let granted = settings.granted(path == TOOLS, &request);
    let mut response = if granted.is_some() && is_preflight(&request) {
        preflight()
    } else {
        next.call(request).await.map_or_else(poem::Error::into_response, IntoResponse::into_response)
    };
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = granted {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, ANSWER_HEADERS);
    }
    Ok(response)
}

impl Cors {
    /// The value of `Access-Control-Allow-Origin` for `request`, or `None` if no page sent it, or one that needs no grant or may not call.
    fn granted(&self, to_tools: bool, request: &Request) -> Option<HeaderValue> {
        let mut lines = request.headers().get_all(header::ORIGIN).iter();
        let (Some(line), None) = (lines.next(), lines.next()) else { return None };
        let origin = line.to_str().ok()?;
        if to_tools {
            return self.tools.includes(origin).then(|| line.clone());
        }
        if origin == self.tools.pages.origin() {
            return None;
        }
        if self.origins.is_empty() {
            return Some(ANY);
        }
        self.origins.iter().any(|listed| listed == origin).then(|| line.clone())
    }
}

fn is_preflight(request: &Request) -> bool {
    *request.method() == Method::OPTIONS
        && request.headers().contains_key(header::ORIGIN)
        && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight() -> Response {
    Response::builder()
        .status(StatusCode::NO_CONTENT)
        .header(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS)
        .header(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS)
        .header(header::ACCESS_CONTROL_MAX_AGE, PREFLIGHT_AGE)
        .finish()
}
