//! Public documents that scripts of any origin may read.

use poem::{
    Endpoint, EndpointExt, IntoResponse, Request, Response, RouteMethod, error::MethodNotAllowedError, http::Method,
};
use serde_json::Value;

use crate::fixed::fixed;

/// Serves a public JSON document that may be cached for a few minutes.
#[must_use]
pub fn json_document(document: &Value) -> RouteMethod {
    fixed("application/json", document.to_string())
}

/// Lets scripts of any origin call an endpoint that uses no cookies, and answers their preflight requests.
pub fn open_to_browsers(endpoint: impl Endpoint + 'static) -> impl Endpoint<Output = Response> + 'static {
    endpoint.around(|endpoint, request: Request| async move {
        let mut response = if request.method() == Method::OPTIONS {
            Response::builder()
                .status(poem::http::StatusCode::NO_CONTENT)
                .header("Access-Control-Allow-Methods", "GET, POST, OPTIONS")
                .header("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version, *")
                .header("Access-Control-Max-Age", "86400")
                .finish()
        } else {
            match endpoint.call(request).await {
                Ok(response) => response.into_response(),
                // Another layer, which knows the methods of each path, answers these.
                Err(error) if error.is::<MethodNotAllowedError>() => return Err(error),
                Err(error) => error.into_response(),
            }
        };
        let headers = response.headers_mut();
        headers.insert("Access-Control-Allow-Origin", poem::http::HeaderValue::from_static("*"));
        headers.insert(
            "Access-Control-Expose-Headers",
            poem::http::HeaderValue::from_static("WWW-Authenticate, Retry-After"),
        );
        Ok(response)
    })
}
