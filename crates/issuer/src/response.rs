//! The issuer's JSON responses: never cached, errors in the format of RFC 6749 section 5.2.

use std::borrow::Cow;

use poem::{IntoResponse, Response, error::ResponseError, http::StatusCode};
use sea_orm::DbErr;
use serde_json::{Value, json};
use store::unavailable;

/// An error of an endpoint that responds in JSON.
#[derive(Debug, thiserror::Error)]
pub enum OAuthError {
    /// The request is invalid: status 400 (401 for `invalid_client`), a code of the RFC and a sentence for people.
    #[error("{code}: {description}")]
    Refused {
        /// `invalid_request`, `invalid_grant`, …
        code: &'static str,
        /// A description of the problem.
        description: Cow<'static, str>,
    },
    /// Too many requests: status 429, and the seconds after which to try again.
    #[error("too many requests")]
    TooMany(u64),
    /// The database cannot answer at the moment: status 503.
    #[error("the database is unavailable: {0}")]
    Unavailable(String),
    /// A fault of the issuer, such as a signing key that cannot be used.
    #[error("internal: {0}")]
    Internal(String),
}

/// An error with `code`.
pub(super) fn refused(code: &'static str, description: impl Into<Cow<'static, str>>) -> OAuthError {
    OAuthError::Refused { code, description: description.into() }
}

impl From<DbErr> for OAuthError {
    fn from(error: DbErr) -> Self {
        if unavailable::is_unavailable(&error) {
            Self::Unavailable(error.to_string())
        } else {
            Self::Internal(error.to_string())
        }
    }
}

impl ResponseError for OAuthError {
    fn status(&self) -> StatusCode {
        match self {
            Self::Refused { code: "invalid_client", .. } => StatusCode::UNAUTHORIZED,
            Self::Refused { .. } => StatusCode::BAD_REQUEST,
            Self::TooMany(_) => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable(_) => StatusCode::SERVICE_UNAVAILABLE,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn as_response(&self) -> Response {
        let body = match self {
            Self::Refused { code, description } => json!({ "error": code, "error_description": description }),
            Self::TooMany(_) => {
                json!({ "error": "temporarily_unavailable", "error_description": "Too many requests; try again later." })
            }
            Self::Unavailable(reason) => {
                tracing::warn!(reason, "the database is unavailable to the issuer");
                json!({ "error": "temporarily_unavailable", "error_description": "Not available at the moment; try again later." })
            }
            Self::Internal(reason) => {
                tracing::error!(reason, "the issuer cannot answer");
                json!({ "error": "server_error", "error_description": "An unexpected error occurred." })
            }
        };
        let mut response = private_json(self.status(), &body);
        if self.status() == StatusCode::UNAUTHORIZED {
            // RFC 6749 requires a challenge of the scheme that the client used, which can only be Basic.
            response
                .headers_mut()
                .insert("WWW-Authenticate", poem::http::HeaderValue::from_static("Basic realm=\"oauth\""));
        }
        let retry_after = match self {
            Self::TooMany(seconds) => Some(*seconds),
            Self::Unavailable(_) => Some(unavailable::RETRY_AFTER),
            Self::Refused { .. } | Self::Internal(_) => None,
        };
        if let Some(seconds) = retry_after {
            response.headers_mut().insert("Retry-After", seconds.into());
        }
        response
    }
}

/// A JSON response that must not be cached.
pub(super) fn private_json(status: StatusCode, body: &Value) -> Response {
    Response::builder()
        .status(status)
        .content_type("application/json")
        .header("Cache-Control", "no-store")
        .header("Pragma", "no-cache")
        .body(body.to_string())
        .into_response()
}
