//! Counts requests per caller and tells each answer's reader what is left.

use std::sync::Arc;

use api::error::{ApiError, Code};
use poem::{Endpoint, IntoResponse, Middleware, Request, Response, Result};

use super::client_address;
use crate::store::rate_limit::{Rate, RateLimits, Standing};

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
        let health = request.uri().path() == "/api/health";
        let Some(limits) = self.settings.limits.as_ref().filter(|_| !health) else {
            return self.inner.call(request).await.map(IntoResponse::into_response);
        };
        let standing = match request.data::<CountedAs>() {
            Some(caller) => limits.count(&caller.key, caller.rate),
            None => limits.count(&format!("address/{}", client_address::of(&request)), self.settings.anonymous),
        };
        let answer = match standing.retry_after {
            Some(seconds) => Err(ApiError::new(Code::RateLimited).retry_after(seconds).into()),
            None => self.inner.call(request).await.map(IntoResponse::into_response),
        };
        answer
            .map(|mut response| {
                tell(&mut response, &standing);
                response
            })
            .map_err(|mut error: poem::Error| {
                // A refusal by another limit tells of that one.
                if error.data::<Standing>().is_none() {
                    error.set_data(standing);
                }
                error
            })
    }
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

    fn client(limits: Option<Arc<RateLimits>>) -> TestClient<impl Endpoint> {
        let app = make_sync(|request: Request| match request.uri().path() {
            "/missing" => Err(poem::Error::from(ApiError::new(Code::NotFound))),
            _ => Ok("fine"),
        });
        let anonymous = Rate::new(60, 2);
        TestClient::new(app.with(RateLimit { limits, anonymous }).with(Envelope::default()))
    }

    #[tokio::test]
    async fn answers_and_refusals_tell_what_is_left() {
        let (clock, _) = Clock::manual(noon());
        let client = client(Some(Arc::new(RateLimits::new(clock))));
        let reset = noon().timestamp();
        for (path, status, remaining, full, retry) in [
            ("/", 200, "1", reset + 1, None),
            ("/missing", 404, "0", reset + 2, None),
            ("/", 429, "0", reset + 2, Some("1")),
        ] {
            let response = client.get(path).send().await.0;
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.header("x-ratelimit-limit"), Some("2"));
            assert_eq!(response.header("x-ratelimit-remaining"), Some(remaining));
            assert_eq!(response.header("x-ratelimit-reset"), Some(full.to_string().as_str()));
            assert_eq!(response.header("retry-after"), retry);
        }
    }

    #[tokio::test]
    async fn nothing_is_counted_when_switched_off() {
        let client = client(None);
        for _ in 0..5 {
            let response = client.get("/").send().await.0;
            assert_eq!((response.status().as_u16(), response.header("x-ratelimit-limit")), (200, None));
        }
    }
}
