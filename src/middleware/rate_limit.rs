//! Counts requests per caller and tells each answer's reader what is left.

use std::sync::Arc;

use api::error::{ApiError, Code};
use poem::{
    Endpoint, Error, IntoResponse, Middleware, Request, Response, Result,
    http::{Method, StatusCode},
};
use serde_json::json;

use super::client_address;
use crate::store::rate_limit::{Rate, RateLimits, Standing};

/// Requests to the embedded issuer that one address may send in a minute, all at once if it likes: many people may share it, and
/// each needs a few to sign in and one an hour to stay signed in.
const ISSUER_REQUESTS: u32 = 300;

/// Who is counted, as request data. Authentication sets it; a request without it is counted by its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedAs {
    /// Names the caller among all callers, e.g. `user/ID` or `share/DIGEST/ADDRESS`.
    pub key: String,
    /// The caller's rate.
    pub rate: Rate,
}

/// The middleware. Where `limits` is none nothing is counted.
#[derive(Debug, Clone)]
pub struct RateLimit {
    /// The counters.
    pub limits: Option<Arc<RateLimits>>,
    /// The rate of callers that are known by address only.
    pub anonymous: Rate,
}

/// See [`RateLimit`].
pub struct RateLimitEndpoint<E> {
    inner: E,
    settings: RateLimit,
}

impl<E: Endpoint> Middleware<E> for RateLimit {
    type Output = RateLimitEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        RateLimitEndpoint { inner, settings: self.clone() }
    }
}

impl<E: Endpoint> Endpoint for RateLimitEndpoint<E> {
    type Output = Response;

    async fn call(&self, request: Request) -> Result<Response> {
        let Some((limits, caller)) = self.settings.limits.as_ref().zip(self.settings.caller(&request)) else {
            return self.inner.call(request).await.map(IntoResponse::into_response);
        };
        let standing = limits.count(&caller.key, caller.rate);
        let answer = match standing.retry_after {
            Some(seconds) => Err(too_many(request.uri().path(), seconds)),
            None => self.inner.call(request).await.map(IntoResponse::into_response),
        };
        match answer {
            Ok(mut response) => {
                tell(&mut response, &standing);
                Ok(response)
            }
            Err(mut error) => {
                // A refusal by another limit tells of that one.
                if error.data::<Standing>().is_none() {
                    error.set_data(standing);
                }
                Err(error)
            }
        }
    }
}

impl RateLimit {
    /// Who is counted; none for what is open to everyone and made once for all.
    fn caller(&self, request: &Request) -> Option<CountedAs> {
        if let Some(caller) = request.data::<CountedAs>() {
            return Some(caller.clone());
        }
        let (kind, rate) = match request.uri().path() {
            _ if *request.method() == Method::OPTIONS => return None,
            "/api/health" | "/oauth/jwks" => return None,
            path if path.starts_with("/oauth/") => ("issuer", Rate::new(ISSUER_REQUESTS, ISSUER_REQUESTS)),
            path if path.starts_with("/api") || path.starts_with("/auth/") => ("address", self.anonymous),
            _ => return None,
        };
        let key = format!("{kind}/{}", client_address::of(request));
        Some(CountedAs { key, rate })
    }
}

/// 429. Endpoints of the issuer that answer in JSON say it as their clients read it (RFC 6749 section 5.2), to scripts of any origin.
fn too_many(path: &str, seconds: u64) -> Error {
    if !path.starts_with("/oauth/") || path == "/oauth/authorize" {
        return ApiError::new(Code::RateLimited).retry_after(seconds).into();
    }
    let body =
        json!({ "error": "temporarily_unavailable", "error_description": "Too many requests; try again later." });
    let response = Response::builder()
        .status(StatusCode::TOO_MANY_REQUESTS)
        .content_type("application/json")
        .header("retry-after", seconds)
        .header("access-control-allow-origin", "*");
    Error::from_response(response.body(body.to_string()))
}

/// Writes the `X-RateLimit-*` headers.
pub fn tell(response: &mut Response, standing: &Standing) {
    let values = [
        ("x-ratelimit-limit", i64::from(standing.limit)),
        ("x-ratelimit-remaining", i64::from(standing.remaining)),
        ("x-ratelimit-reset", standing.reset),
    ];
    for (name, value) in values {
        response.headers_mut().insert(name, value.into());
    }
}

#[cfg(test)]
mod tests {
    use poem::{EndpointExt, endpoint::make_sync, test::TestClient};

    use super::*;
    use crate::{clock::Clock, middleware::envelope::Envelope, services::world::noon};

    fn answer(path: &str) -> Result<Response> {
        match path {
            "/api/missing" => Err(ApiError::new(Code::NotFound).into()),
            _ => Ok("fine".into_response()),
        }
    }

    fn client(limits: Option<Arc<RateLimits>>) -> TestClient<impl Endpoint> {
        let layer = RateLimit { limits, anonymous: Rate::new(60, 2) };
        TestClient::new(
            make_sync(|request: Request| answer(request.uri().path())).with(layer).with(Envelope::default()),
        )
    }

    #[tokio::test]
    async fn answers_and_refusals_tell_what_is_left() {
        let (clock, _) = Clock::manual(noon());
        let client = client(Some(Arc::new(RateLimits::new(clock))));
        let reset = noon().timestamp();
        for (path, status, remaining, full, retry) in [
            ("/api", 200, "1", reset + 1, None),
            ("/api/missing", 404, "0", reset + 2, None),
            ("/api", 429, "0", reset + 2, Some("1")),
        ] {
            let response = client.get(path).send().await.0;
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.header("x-ratelimit-limit"), Some("2"));
            assert_eq!(response.header("x-ratelimit-remaining"), Some(remaining));
            assert_eq!(response.header("x-ratelimit-reset"), Some(full.to_string().as_str()));
            assert_eq!(response.header("retry-after"), retry);
        }
        for open in ["/api/health", "/oauth/jwks", "/docs"] {
            let response = client.get(open).send().await.0;
            assert_eq!((response.status().as_u16(), response.header("x-ratelimit-limit")), (200, None), "{open}");
        }
    }

    #[tokio::test]
    async fn nothing_is_counted_when_switched_off() {
        let client = client(None);
        for _ in 0..5 {
            let response = client.get("/api").send().await.0;
            assert_eq!((response.status().as_u16(), response.header("x-ratelimit-limit")), (200, None));
        }
    }
}
