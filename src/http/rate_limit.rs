//! Counts requests per caller, reports the remaining rate in each response, and limits the requests in flight per caller.

use std::{
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use api::error::{ApiError, Code};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use poem::{
    Body, Endpoint, Error, IntoResponse, Request, Response, Result,
    http::{Method, StatusCode},
};
use serde_json::json;

use super::client_address;
use crate::store::{
    in_flight::{InFlight, Place},
    rate_limit::{Rate, RateLimits, Standing},
};

/// The number of requests that one address may send to the embedded issuer in a minute, in one burst or not. Many people may share
/// an address. Each needs a few requests to sign in and one an hour to stay signed in.
const ISSUER_REQUESTS: u32 = 300;

/// The header that tells of a limit first.
const LIMIT: &str = "x-ratelimit-limit";

/// The value of `Retry-After`, in seconds, for a caller with too many requests in flight.
const SOON: u64 = 1;

/// The caller that a request counts for, as request data. Authentication sets it. A request without it counts for its address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedAs {
    /// The unique key of the caller, e.g. `user/ID` or `share/DIGEST/ADDRESS`.
    pub key: String,
    /// The caller's rate.
    pub rate: Rate,
    /// The key under which requests in flight are limited together, e.g. `user/ID` or `share/DIGEST`.
    pub under_way: String,
}

/// The settings of the layer. Nothing is counted if `limits` is `None`.
#[derive(Debug, Clone)]
pub struct RateLimit {
    /// The counters.
    pub limits: Option<Arc<RateLimits>>,
    /// The requests in flight.
    pub in_flight: InFlight,
    /// The rate of callers that are identified only by their address.
    pub anonymous: Rate,
}

/// The rate-limit layer. It adds the caller's [`Standing`] to the request.
///
/// # Errors
/// 429 beyond the caller's rate, and the errors of the inner layers.
pub async fn limit<E: Endpoint>(settings: Arc<RateLimit>, next: Arc<E>, mut request: Request) -> Result<Response> {
    let Some(caller) = settings.caller(&request) else {
        return next.call(request).await.map(IntoResponse::into_response);
    };
    let standing = settings.limits.as_ref().map(|limits| limits.count(&caller.key, caller.rate));
    let answer = if let Some(seconds) = standing.and_then(|standing| standing.retry_after) {
        Err(too_many(request.uri().path(), seconds))
    } else if let Some(place) = settings.in_flight.enter(&caller.under_way) {
        if let Some(standing) = standing {
            request.set_data(standing);
        }
        let answer = next.call(request).await;
        answer.map(|answer| under_way_until_read(answer.into_response(), place))
    } else {
        Err(too_many(request.uri().path(), SOON))
    };
    let Some(standing) = standing else { return answer };
    match answer {
        Ok(mut response) => {
            tell(&mut response, &standing);
            Ok(response)
        }
        Err(mut error) => {
            // A refusal by another limit reports that limit.
            if error.data::<Standing>().is_none() {
                error.set_data(standing);
            }
            Err(error)
        }
    }
}

/// The layer that tells the state of the address's limit on answers that no limit has counted: those to `OPTIONS`, and refusals before
/// the caller is known.
///
/// # Errors
/// The errors of the inner layers.
pub async fn tell_uncounted<E: Endpoint>(settings: Arc<RateLimit>, next: Arc<E>, request: Request) -> Result<Response> {
    let (by_address, address) = (settings.by_address(&request), client_address::of(&request));
    let mut response = next.call(request).await?.into_response();
    if let (Some(limits), Some((kind, rate))) = (&settings.limits, by_address)
        && !response.headers().contains_key(LIMIT)
    {
        tell(&mut response, &limits.look(&format!("{kind}/{address}"), rate));
    }
    Ok(response)
}

impl RateLimit {
    /// Returns the caller to count, or `None` for public responses that cost nothing.
    fn caller(&self, request: &Request) -> Option<CountedAs> {
        if let Some(caller) = request.data::<CountedAs>() {
            return Some(caller.clone());
        }
        let (kind, rate) = self.by_address(request).filter(|_| *request.method() != Method::OPTIONS)?;
        let key = format!("{kind}/{}", client_address::of(request));
        Some(CountedAs { under_way: key.clone(), key, rate })
    }

    /// Returns the kind and the rate of the limit that applies to anonymous callers of the path.
    fn by_address(&self, request: &Request) -> Option<(&'static str, Rate)> {
        Some(match request.uri().path() {
            "/api/health" | "/oauth/jwks" => return None,
            path if path.starts_with("/oauth/") || path.starts_with("/account/password") => {
                ("issuer", Rate::new(ISSUER_REQUESTS, ISSUER_REQUESTS))
            }
            path if ["/api", "/auth/", "/account/search/"].iter().any(|start| path.starts_with(start)) => {
                ("address", self.anonymous)
            }
            _ => return None,
        })
    }
}

/// Returns 429. JSON endpoints of the issuer answer in the form of RFC 6749, section 5.2, readable by scripts of any origin.
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

/// Keeps the request's place until its response has been sent or dropped.
fn under_way_until_read(mut response: Response, place: Place) -> Response {
    let inner: BoxBody<Bytes, std::io::Error> = response.take_body().into();
    response.set_body(Body::from(BoxBody::new(Sent { inner, place: Some(place) })));
    response
}

/// A body that releases its place when its end has been read.
struct Sent {
    inner: BoxBody<Bytes, std::io::Error>,
    place: Option<Place>,
}

impl http_body::Body for Sent {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(context);
        if matches!(frame, Poll::Ready(None)) {
            self.place = None;
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// Writes the `X-RateLimit-*` headers.
pub fn tell(response: &mut Response, standing: &Standing) {
    let values = [
        (LIMIT, i64::from(standing.limit)),
        ("x-ratelimit-remaining", i64::from(standing.remaining)),
        ("x-ratelimit-reset", standing.reset),
    ];
    for (name, value) in values {
        response.headers_mut().insert(name, value.into());
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body::Body as _;
    use poem::{EndpointExt, endpoint::make_sync, test::TestClient};

    use super::*;
    use crate::{
        clock::Clock,
        http::errors::{Errors, errors},
        testing::noon,
    };

    fn answer(path: &str) -> Result<Response> {
        match path {
            "/api/missing" => Err(ApiError::new(Code::NotFound).into()),
            "/api/export" => {
                let rows = stream::iter([Ok::<_, std::io::Error>("row\n"), Ok("row\n")]);
                Ok(Response::builder().body(Body::from_bytes_stream(rows)))
            }
            _ => Ok("fine".into_response()),
        }
    }

    fn client(limits: Option<Arc<RateLimits>>, max_in_flight: u32) -> TestClient<impl Endpoint> {
        let in_flight = InFlight::new(max_in_flight);
        let settings = Arc::new(RateLimit { limits, in_flight, anonymous: Rate::new(60, 2) });
        let app = make_sync(|request: Request| answer(request.uri().path()));
        let app = app.around(move |next, request| limit(settings.clone(), next, request));
        let settings = Arc::new(Errors { other_paths: Arc::default(), subscribe_url: String::new() });
        TestClient::new(app.around(move |next, request| errors(settings.clone(), next, request)))
    }

    #[tokio::test]
    async fn answers_and_refusals_tell_what_is_left() {
        let (clock, _) = Clock::manual(noon());
        let client = client(Some(Arc::new(RateLimits::new(clock))), 1);
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
        let client = client(None, 0);
        for _ in 0..5 {
            let response = client.get("/api").send().await.0;
            assert_eq!((response.status().as_u16(), response.header("x-ratelimit-limit")), (200, None));
        }
    }

    #[tokio::test]
    async fn a_request_is_under_way_until_its_answer_has_been_read_or_given_up() {
        let client = client(None, 1);
        let status = async || client.get("/api").send().await.0.status().as_u16();
        let unread = client.get("/api/export").send().await.0;
        assert_eq!(status().await, 429);
        drop(unread);
        assert_eq!(status().await, 200);
        let mut body = BoxBody::from(client.get("/api/export").send().await.0.into_body());
        for _ in 0..2 {
            assert!(http_body_util::BodyExt::frame(&mut body).await.is_some());
            assert_eq!(status().await, 429, "a row is not the end");
        }
        assert!(http_body_util::BodyExt::frame(&mut body).await.is_none());
        assert_eq!(status().await, 200, "it has been read, though its body is still there");
    }

    #[tokio::test]
    async fn the_length_of_an_answer_is_still_known() {
        let client = client(None, 1);
        let body = BoxBody::from(client.get("/api").send().await.0.into_body());
        assert_eq!(body.size_hint().exact(), Some(4));
    }
}
