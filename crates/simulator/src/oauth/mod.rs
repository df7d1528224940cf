//! The simulated OAuth 2.0 endpoints: authorization code with PKCE, refresh, revocation, userinfo.
//!
//! Codes and tokens contain their own data, signed with a key from the seed, so they stay valid across restarts. Only used
//! codes, consents and revocations are stored, in memory and up to a limit.

mod authorize;
mod consent;
mod exchange;
mod profile;
mod token;

pub(super) use authorize::authorize;
pub(super) use consent::{permissions, remove};
pub(super) use exchange::{revoke, token};
pub(super) use profile::userinfo;
pub(super) use token::OAuth;

use poem::http::{StatusCode, header};
use poem::{IntoResponse as _, Response};
use serde_json::json;

/// The scopes that allow reading search data.
const SEARCH_SCOPES: [&str; 2] =
    ["https://www.googleapis.com/auth/webmasters.readonly", "https://www.googleapis.com/auth/webmasters"];

/// An error of the token or revocation endpoint (RFC 6749, section 5.2).
struct Refusal {
    status: StatusCode,
    error: &'static str,
    description: String,
}

impl Refusal {
    fn bad(error: &'static str, description: &str) -> Self {
        Self { status: StatusCode::BAD_REQUEST, error, description: description.to_owned() }
    }

    fn unauthorized(error: &'static str, description: &str) -> Self {
        Self { status: StatusCode::UNAUTHORIZED, ..Self::bad(error, description) }
    }

    fn into_response(self) -> Response {
        poem::web::Json(json!({ "error": self.error, "error_description": self.description }))
            .with_status(self.status)
            .with_header(header::CACHE_CONTROL, "no-store")
            .into_response()
    }
}

/// The value of `name` in a form or query string. An empty value counts as absent.
fn parameter(form: &[(String, String)], name: &str) -> Option<String> {
    form.iter().find(|(key, value)| key == name && !value.is_empty()).map(|(_, value)| value.clone())
}

/// Parses a form or query string into pairs.
fn pairs(encoded: &[u8]) -> Vec<(String, String)> {
    url::form_urlencoded::parse(encoded).into_owned().collect()
}
