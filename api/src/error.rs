//! The wire error `{ error, code?, hint?, correlationId? }` and the table of its codes: status, code, text, way out, usual hint.

use common::plain_text::Controlled;
use poem::{IntoResponse, Response, error::ResponseError, http::StatusCode};
use poem_openapi::{
    ApiResponse, Object,
    registry::{MetaResponses, Registry},
    types::ToJSON,
};

use crate::JSON;

/// Maximum number of characters of a hint. A hint may quote text of the request, whose length is unbounded.
const LONGEST_HINT: usize = 2000;

/// Body of every answer that is not a success.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(rename = "ErrorBody", rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ErrorBody {
    /// Error message for people. Not meant to be parsed.
    #[oai(validator(max_length = 200))]
    pub error: String,
    /// Stable error code for programs. Codes may be added: read one that you do not know by its status. `/docs/errors` lists all, with
    /// meaning and way out.
    #[oai(validator(max_length = 64, pattern = "^[a-z][a-z0-9_]*$"))]
    pub code: Option<String>,
    /// Advice: the parameter or field at fault, and the allowed values.
    #[oai(validator(max_length = 2000))]
    pub hint: Option<String>,
    /// Identifier of this request in the server's logs; present on every 5xx.
    #[oai(validator(max_length = 128))]
    pub correlation_id: Option<String>,
}

macro_rules! codes {
    ($(#[doc = $meaning:literal] $name:ident $status:ident $code:literal $text:literal $way_out:literal $($hint:literal)?;)*) => {
        /// Error codes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $(#[doc = $meaning] $name),* }

        impl Code {
            /// Every code, in the order of the table.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// HTTP status of this code.
            #[must_use]
            pub const fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status),* }
            }

            /// The value of `code`.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => $code),* }
            }

            /// The fixed value of `error`.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// The cases in which the code is sent.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning.trim_ascii()),* }
            }

            /// The way out for the client.
            #[must_use]
            pub const fn way_out(self) -> &'static str {
                match self { $(Self::$name => $way_out),* }
            }

            /// The default hint: for errors without a particular cause, and for the examples in the document.
            #[must_use]
            pub fn usual_hint(self) -> Option<&'static str> {
                let hint: &[&'static str] = match self { $(Self::$name => &[$($hint)?]),* };
                hint.first().copied()
            }
        }
    };
}

codes! {
    /// A parameter or body that is not allowed; the hint names it.
    InvalidRequest BAD_REQUEST "invalid_request" "Invalid request"
        "Correct what the hint names, and send the request again."
        "name: is required";
    /// `X-API-Version` names a version that is not served.
    UnsupportedApiVersion BAD_REQUEST "unsupported_api_version" "Unsupported API version"
        "Send a version that the hint names, or leave the header out to get the newest."
        "X-API-Version: the only supported version is 2026-09-14";
    /// `Idempotency-Key` is not 1 to 255 printable ASCII characters, or was sent twice.
    InvalidIdempotencyKey BAD_REQUEST "invalid_idempotency_key" "Invalid Idempotency-Key"
        "Send one key of allowed characters, such as a UUID."
        "Idempotency-Key: must be 1 to 255 printable ASCII characters";
    /// The filters and classification cannot be answered exactly.
    FilterTooComplex BAD_REQUEST "filter_too_complex" "The filters cannot be answered exactly"
        "Use fewer conditions or fewer joined by `or`, shorter values, or a shorter window; the hint names the limit that was met.";
    /// The search type has no such data, e.g. queries in discover.
    NotAvailableForSearchType BAD_REQUEST "not_available_for_search_type" "Not available for this search type"
        "Ask for another search type, or leave out the dimension that the hint names.";
    /// Credentials are missing or invalid.
    Unauthorized UNAUTHORIZED "unauthorized" "Unauthorized"
        "Refresh the access token, or sign in again. `WWW-Authenticate` names the metadata of the authorization server."
        "Send Authorization: Bearer <access token>; WWW-Authenticate says where to get one.";
    /// The plan does not include access.
    SubscriptionRequired PAYMENT_REQUIRED "subscription_required" "Subscription required"
        "Subscribe at the address in `Link`; on a property of another person, its owner must."
        "Subscribe to a plan that includes this. Plans are at https://sightline.example/subscribe.";
    /// More tracked properties than the plan allows.
    PropertyQuotaExceeded PAYMENT_REQUIRED "property_quota_exceeded" "Property quota exceeded"
        "Track fewer properties, or subscribe to a larger plan at the address in `Link`."
        "propertyIds: the plan tracks at most 25 properties; this would track 26. Plans are at https://sightline.example/subscribe.";
    /// The role on the property is too low, or the session cookie came with a request of another site's page.
    Forbidden FORBIDDEN "forbidden" "Forbidden"
        "Ask the owner of the property for the role that the hint names. Programs send a token and no cookie."
        "This needs the role editor on the property.";
    /// The token lacks the scope that the operation needs, or the person allows the application less now. `WWW-Authenticate` names the scopes to ask for.
    InsufficientScope FORBIDDEN "insufficient_scope" "Insufficient scope"
        "Sign in again with the scopes that `WWW-Authenticate` names; where the hint says that the person allows less, they must change it on their account page."
        "This needs the scope records:write; sign in again and ask for it.";
    /// The record or property does not exist, or the caller cannot see it, or the property is not tracked; the three are never distinguished.
    NotFound NOT_FOUND "not_found" "Not found"
        "Look the id up in the list of its kind. A property must be tracked, and shared with you.";
    /// The path exists, the method does not.
    MethodNotAllowed METHOD_NOT_ALLOWED "method_not_allowed" "Method not allowed"
        "Use one of the methods in `Allow`.";
    /// A request with this idempotency key is still running.
    IdempotencyInProgress CONFLICT "idempotency_in_progress" "A request with this Idempotency-Key is still running"
        "Send the same request again after `Retry-After` seconds.";
    /// The search engine refused the stored grant.
    SearchAccountDisconnected CONFLICT "search_account_disconnected" "The search-engine account is disconnected"
        "Connect the search account again on the account page; the hint says who must."
        "The owner of the property, \"Ada (ada@sightline.example)\", must reconnect the search account.";
    /// The search engine does not let the property's search account read the site. Only the owner gets this code.
    SearchSiteRefused CONFLICT "search_site_refused" "The search engine refuses this site to the search account"
        "Give the search account access to the site at the search engine, then sync."
        "The search engine has not let your search account read this site since 2026-11-21 12:00 UTC. Give the account access there, then sync; the site is asked about again in 60 seconds at the soonest.";
    /// No day of the window of a CSV is counted yet.
    NotFinalYet CONFLICT "not_final_yet" "The search engine is still counting these days"
        "Ask for days up to the last final day, or send `dataState=all` without a comparison for what is counted so far."
        "The last day with final numbers is 2026-11-18. Ask for days up to it, or send dataState=all without a comparison for what is counted so far.";
    /// No credentials are stored for the SEO provider.
    ProviderNotConnected CONFLICT "provider_not_connected" "The SEO provider is not connected"
        "Store credentials of the provider on the account page or by its `PUT` operation.";
    /// The SEO provider refused the stored credentials.
    ProviderRejectedCredentials CONFLICT "provider_rejected_credentials" "The SEO provider rejected the credentials"
        "Store new credentials of the provider.";
    /// The SEO provider account has no credit left.
    ProviderOutOfCredit CONFLICT "provider_out_of_credit" "The SEO provider account is out of credit"
        "Buy credit at the provider.";
    /// `If-Match` does not name the current state.
    PreconditionFailed PRECONDITION_FAILED "precondition_failed" "The record has changed"
        "Read the record again, repeat the change on it, and send its new tag."
        "If-Match: the record has changed; list the records again and repeat the change with its new etag.";
    /// The body is larger than 1 MiB.
    PayloadTooLarge PAYLOAD_TOO_LARGE "payload_too_large" "Payload too large"
        "Send a shorter body."
        "body: at most 1 MiB";
    /// The body is not `application/json`, or it is compressed.
    UnsupportedMediaType UNSUPPORTED_MEDIA_TYPE "unsupported_media_type" "Unsupported media type"
        "Send uncompressed JSON with `Content-Type: application/json`."
        "Content-Type: is missing; send application/json";
    /// The idempotency key was used with another body.
    IdempotencyKeyReused UNPROCESSABLE_ENTITY "idempotency_key_reused" "This Idempotency-Key was used with a different body"
        "Use a new key for another body."
        "Idempotency-Key: use a new key for another body, or repeat the body of the first request";
    /// Too many requests.
    RateLimited TOO_MANY_REQUESTS "rate_limited" "Too many requests"
        "Send the request again after `Retry-After` seconds.";
    /// A fault of the server.
    Internal INTERNAL_SERVER_ERROR "internal_error" "An unexpected error occurred."
        "Try again, each time after a longer pause. Give the correlation id to the operator of the service.";
    /// The search engine did not answer in time.
    SearchEngineUnavailable SERVICE_UNAVAILABLE "search_engine_unavailable" "An unexpected error occurred."
        "Try again after `Retry-After` seconds.";
    /// The SEO provider did not answer in time.
    ProviderUnavailable SERVICE_UNAVAILABLE "provider_unavailable" "An unexpected error occurred."
        "Try again after `Retry-After` seconds.";
    /// A part of the service is unavailable, e.g. the identity provider.
    Unavailable SERVICE_UNAVAILABLE "unavailable" "An unexpected error occurred."
        "Try again after `Retry-After` seconds.";
}

/// An error on its way to the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// The error code.
    pub code: Code,
    /// Advice for the client.
    pub hint: Option<String>,
    /// Value of `Retry-After`, in seconds.
    pub retry_after: Option<u64>,
    /// Request id, set by the envelope on 5xx answers.
    pub correlation_id: Option<String>,
}

impl ApiError {
    /// An error with a code and nothing else.
    #[must_use]
    pub fn new(code: Code) -> Self {
        Self { code, hint: None, retry_after: None, correlation_id: None }
    }

    /// `400 invalid_request` about the parameter or field `name`.
    #[must_use]
    pub fn invalid(name: &str, allowed: &str) -> Self {
        Self::new(Code::InvalidRequest).hint(format!("{name}: {allowed}"))
    }

    /// Sets the hint, cut at the maximum length that the document allows.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        let mut hint = hint.into();
        if let Some((end, _)) = hint.char_indices().nth(LONGEST_HINT) {
            hint.truncate(end);
        }
        Self { hint: Some(hint), ..self }
    }

    /// Sets `Retry-After`, in seconds.
    #[must_use]
    pub fn retry_after(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// The body as sent to the client.
    #[must_use]
    pub fn body(&self) -> ErrorBody {
        ErrorBody {
            error: self.code.text().to_owned(),
            code: Some(self.code.as_str().to_owned()),
            hint: self.hint.clone(),
            correlation_id: self.correlation_id.clone(),
        }
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.code.as_str())?;
        self.hint.iter().try_for_each(|hint| write!(f, " ({hint})"))
    }
}

impl std::error::Error for ApiError {}

impl From<Controlled> for ApiError {
    fn from(Controlled { field }: Controlled) -> Self {
        Self::invalid(&field, "must not hold control characters, such as NUL or a line break")
    }
}

impl ResponseError for ApiError {
    fn status(&self) -> StatusCode {
        self.code.status()
    }

    fn as_response(&self) -> Response {
        let body = self.body().to_json_string();
        let mut response = Response::builder().status(self.code.status()).content_type(JSON).body(body);
        if let Some(value) = self.retry_after.and_then(|s| s.to_string().parse().ok()) {
            response.headers_mut().insert("retry-after", value);
        }
        response
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        self.as_response()
    }
}

/// A pass over the document writes the error responses, from the table of operations.
impl ApiResponse for ApiError {
    fn meta() -> MetaResponses {
        MetaResponses { responses: Vec::new() }
    }

    fn register(registry: &mut Registry) {
        use poem_openapi::types::Type as _;
        ErrorBody::register(registry);
    }
}
