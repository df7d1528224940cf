//! Error responses in the search engine's JSON format.

use poem::http::{StatusCode, header};
use poem::{IntoResponse as _, Response};
use serde_json::{Value, json};

/// One error response of the search engine's API.
#[derive(Debug, Clone)]
pub(crate) struct ApiError(Box<Refusal>);

#[derive(Debug, Clone)]
struct Refusal {
    status: StatusCode,
    message: String,
    item: Value,
    rpc_status: &'static str,
    details: Option<Value>,
    challenge: Option<&'static str>,
}

impl ApiError {
    fn new(status: StatusCode, message: &str, domain: &str, reason: &str, rpc_status: &'static str) -> Self {
        let item = json!({ "message": message, "domain": domain, "reason": reason });
        let message = message.to_owned();
        Self(Box::new(Refusal { status, message, item, rpc_status, details: None, challenge: None }))
    }

    /// 400 for a body that cannot be parsed or is not allowed.
    pub fn bad_request(message: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, "global", "badRequest", "INVALID_ARGUMENT")
    }

    /// 400 that names the invalid parameter.
    pub fn invalid_parameter(message: &str, location: &str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message, "global", "invalidParameter", "INVALID_ARGUMENT")
            .at(location, "parameter")
    }

    /// 400 for a missing parameter.
    pub fn required(location: &str) -> Self {
        let message = format!("Required parameter is missing: {location}");
        Self::new(StatusCode::BAD_REQUEST, &message, "global", "required", "INVALID_ARGUMENT").at(location, "parameter")
    }

    /// 403 for a site that the caller does not have or has not verified.
    pub fn forbidden(site: &str) -> Self {
        let message = format!(
            "User does not have sufficient permission for site '{site}'. See also: \
             https://support.google.com/webmasters/answer/2451999."
        );
        Self::new(StatusCode::FORBIDDEN, &message, "global", "forbidden", "PERMISSION_DENIED")
    }

    /// 403 for the long-lasting load quota on expensive queries.
    pub fn load_quota() -> Self {
        let message = "Search Analytics load quota exceeded. Learn about usage limits: \
                       https://developers.google.com/webmaster-tools/limits.";
        Self::new(StatusCode::FORBIDDEN, message, "usageLimits", "quotaExceeded", "PERMISSION_DENIED")
    }

    /// 429 for too many queries at once.
    pub fn rate_limit() -> Self {
        let message = "Search Analytics QPS quota exceeded. Learn about usage limits: \
                       https://developers.google.com/webmaster-tools/limits.";
        Self::new(StatusCode::TOO_MANY_REQUESTS, message, "usageLimits", "rateLimitExceeded", "RESOURCE_EXHAUSTED")
    }

    /// 500, an internal error.
    pub fn backend() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "Internal error encountered.",
            "global",
            "backendError",
            "INTERNAL",
        )
    }

    /// 404 for an unknown path or malformed site id.
    pub fn not_found(what: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, what, "global", "notFound", "NOT_FOUND")
    }

    /// 413 for a body above the size limit.
    pub fn too_large() -> Self {
        let message = "Request payload size exceeds the limit.";
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message, "global", "uploadTooLarge", "INVALID_ARGUMENT")
    }

    /// 401 for a missing token.
    pub fn login_required() -> Self {
        let challenge = "Bearer realm=\"https://accounts.google.com/\"";
        let error = Self::new(StatusCode::UNAUTHORIZED, "Login Required.", "global", "required", "UNAUTHENTICATED");
        error.at("Authorization", "header").challenging(challenge)
    }

    /// 401 for a token that is expired, revoked or unknown.
    pub fn invalid_credentials() -> Self {
        let challenge = "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\"";
        let error =
            Self::new(StatusCode::UNAUTHORIZED, "Invalid Credentials", "global", "authError", "UNAUTHENTICATED");
        let message = "Request had invalid authentication credentials. Expected OAuth 2 access token, login cookie or other \
                       valid authentication credential.";
        let mut error = error.at("Authorization", "header").challenging(challenge);
        message.clone_into(&mut error.0.message);
        error
    }

    /// 403 for a token whose grant lacks the scope.
    pub fn insufficient_scope() -> Self {
        let message = "Request had insufficient authentication scopes.";
        let error = Self::new(StatusCode::FORBIDDEN, message, "global", "insufficientPermissions", "PERMISSION_DENIED");
        let details = json!([{
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": "ACCESS_TOKEN_SCOPE_INSUFFICIENT",
            "domain": "googleapis.com",
            "metadata": { "service": "searchconsole.googleapis.com" },
        }]);
        let challenge = "Bearer realm=\"https://accounts.google.com/\", error=\"insufficient_scope\", \
                         scope=\"https://www.googleapis.com/auth/webmasters.readonly\"";
        let mut error = error.challenging(challenge);
        error.0.details = Some(details);
        error
    }

    fn at(mut self, location: &str, kind: &str) -> Self {
        self.0.item["location"] = location.into();
        self.0.item["locationType"] = kind.into();
        self
    }

    fn challenging(mut self, challenge: &'static str) -> Self {
        self.0.challenge = Some(challenge);
        self
    }

    /// Builds the HTTP response.
    pub fn into_response(self) -> Response {
        let refusal = *self.0;
        let mut error = json!({
            "code": refusal.status.as_u16(),
            "message": refusal.message,
            "errors": [refusal.item],
            "status": refusal.rpc_status,
        });
        if let Some(details) = refusal.details {
            error["details"] = details;
        }
        let response = poem::web::Json(json!({ "error": error })).with_status(refusal.status);
        match refusal.challenge {
            Some(challenge) => response.with_header(header::WWW_AUTHENTICATE, challenge).into_response(),
            None => response.into_response(),
        }
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.0.status.as_u16(), self.0.message)
    }
}
