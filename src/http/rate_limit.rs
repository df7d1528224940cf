//! Counts requests per caller, reports the remaining rate in each response, and limits the requests in flight per caller.

use std::sync::Arc;

use api::error::{ApiError, Code};
use common::{
    addresses::ClientAddress,
    byte_budget::ByteBudget,
    places::Places,
    rate_limit::{LimitState, Rate},
};
use http_body::Body as _;
use http_body_util::combinators::BoxBody;
use pages::{client_address::client_address, fixed::Fixed, paths::TOOLS};
use poem::{
    Endpoint, Error, IntoResponse, Request, Response, Result,
    http::{Method, StatusCode},
};
use serde_json::json;

use super::until_sent::until_sent;
use crate::caller_limits::CallerLimits;

/// The number of requests for signing in and consent of one address in a minute, in one burst or not. An office of a hundred people signs in
/// at nine o'clock with four or five each. Guesses are limited apart.
const SIGN_IN_REQUESTS: u32 = 600;

/// The beginnings of paths of signing in and of consent.
const SIGN_IN: [&str; 5] = ["/oauth/", "/device", "/auth/", "/account/password", "/account/search/"];

/// The number of requests for pages and documents of one address. An office may open the documentation at once, some ten files a person.
pub const OPEN_REQUESTS: u32 = 1_200;

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

/// The limits of callers who are known by their address alone.
struct ByAddress {
    /// The kind of requests that are counted together.
    kind: &'static str,
    /// The rate, unless the requests are not counted.
    rate: Option<Rate>,
    /// True if answers tell the remaining requests. Answers that shared caches keep for others do not.
    is_told: bool,
}

/// A caller whose request is limited.
struct Limited {
    key: String,
    rate: Option<Rate>,
    under_way: String,
    is_told: bool,
}

/// The settings of the layer. Nothing is counted if `limits` is `None`.
#[derive(Debug, Clone)]
pub struct RateLimit {
    /// The counters.
    pub limits: Option<CallerLimits>,
    /// The requests in flight.
    pub in_flight: Places<String>,
    /// The bytes of answers that wait to be read.
    pub unread: ByteBudget<String>,
    /// The rate of callers that are identified only by their address.
    pub anonymous: Rate,
}

/// The rate-limit layer. It adds the caller's [`LimitState`] to the request.
///
/// # Errors
/// 429 beyond the caller's rate, and the errors of the inner layers.
pub async fn limit<E: Endpoint>(settings: Arc<RateLimit>, next: Arc<E>, mut request: Request) -> Result<Response> {
    let Some(caller) = settings.caller(&request) else {
        return next.call(request).await.map(IntoResponse::into_response);
    };
    let limits = settings.limits.as_ref().zip(caller.rate);
    let standing = match limits {
        Some((limits, rate)) => Some(limits.count(&caller.key, rate).await),
        None => None,
    };
    let answer = if let Some(seconds) = standing.and_then(|standing| standing.retry_after) {
        Err(too_many(request.uri().path(), &caller.rate.map_or_else(String::new, |rate| rate.to_string()), seconds))
    } else if let Some(place) = settings.in_flight.take(caller.under_way.clone()) {
        if let Some(standing) = standing {
            request.set_data(standing);
        }
        let holders = holders_of_unread(caller.under_way, &client_address(&request));
        let answer = next.call(request).await;
        let answer = answer.map(|answer| until_sent(answer.into_response(), place));
        answer.and_then(|answer| settings.within_budget(answer, holders))
    } else {
        let spread = limits.map(|(limits, rate)| limits.own().spread(&caller.under_way, rate, SOON));
        let hint = "Too many requests of this caller are under way. Wait for some of their answers.";
        Err(too_many(request.uri().path(), hint, spread.unwrap_or(SOON)))
    };
    let is_told = |standing: &LimitState| caller.is_told || standing.retry_after.is_some();
    let Some(standing) = standing.filter(is_told) else { return answer };
    match answer {
        Ok(mut response) => {
            tell(&mut response, &standing);
            Ok(response)
        }
        Err(mut error) => {
            // A refusal by another limit reports that limit.
            if error.data::<LimitState>().is_none() {
                error.set_data(standing);
            }
            Err(error)
        }
    }
}

/// The layer that tells the state of the address's limit on answers that no limit has counted: answers to `OPTIONS`, and refusals before
/// the caller is known.
///
/// # Errors
/// The errors of the inner layers.
pub async fn tell_uncounted<E: Endpoint>(settings: Arc<RateLimit>, next: Arc<E>, request: Request) -> Result<Response> {
    let (by_address, address) = (settings.by_address(&request), client_address(&request));
    let mut response = next.call(request).await?.into_response();
    if let (Some(limits), Some(ByAddress { kind, rate: Some(rate), is_told: true })) = (&settings.limits, by_address)
        && !response.headers().contains_key(LIMIT)
    {
        tell(&mut response, &limits.look(&format!("{kind}/{address}"), rate));
    }
    Ok(response)
}

/// The budget for answers that wait to be read, in bytes, and the share of one person, share link or network. All share links have one
/// share together, and so have all callers without credentials: however slowly they read, persons have the rest.
const UNREAD: u64 = 128 << 20;
const UNREAD_OF_ONE: u64 = UNREAD / 4;

/// Answers of at most this size do not count: a connection buffers as much, and the requests in flight are limited.
const SMALL: u64 = 64 << 10;

/// The value of `Retry-After`, in seconds, where answers that wait to be read have used up the memory for them.
const UNTIL_READ: u64 = 2;

/// The budget for answers that wait to be read.
#[must_use]
pub fn unread() -> ByteBudget<String> {
    ByteBudget::new(UNREAD, UNREAD_OF_ONE)
}

/// The holders of the unread answers of a caller, in whose shares an answer must have room.
fn holders_of_unread(caller: String, address: &ClientAddress) -> Vec<String> {
    let kind = caller.split_once('/').map_or("", |(kind, _)| kind);
    let (network, together) = match kind {
        "user" => ("persons", None),
        "share" => ("links", Some("links")),
        _ => ("strangers", Some("strangers")),
    };
    let own = [caller, format!("{network}/{}", address.network())];
    own.into_iter().chain(together.map(str::to_owned)).collect()
}

impl RateLimit {
    /// Takes the size of an answer from the budgets of its `holders` until it has been sent. A streamed answer is in memory by pieces, and
    /// a fixed document once for all readers. Both count as small.
    ///
    /// # Errors
    /// 503 if the holders have not read answers before this one.
    fn within_budget(&self, mut answer: Response, holders: Vec<String>) -> Result<Response> {
        let body = BoxBody::from(answer.take_body());
        let size = body.size_hint().exact().unwrap_or_default();
        answer.set_body(body);
        if size <= SMALL || answer.data::<Fixed>().is_some() {
            return Ok(answer);
        }
        match self.unread.take(holders, size) {
            Some(taken) => Ok(until_sent(answer, taken)),
            None => Err(ApiError::new(Code::Unavailable).retry_after(UNTIL_READ).into()),
        }
    }

    /// Returns the caller to limit, or `None` for answers without a body, and for requests that are limited after authentication.
    fn caller(&self, request: &Request) -> Option<Limited> {
        if let Some(CountedAs { key, rate, under_way }) = request.data::<CountedAs>().cloned() {
            return Some(Limited { key, rate: Some(rate), under_way, is_told: true });
        }
        let limit = self.by_address(request).filter(|_| *request.method() != Method::OPTIONS)?;
        let address = client_address(request);
        Some(Limited {
            key: format!("{}/{address}", limit.kind),
            rate: limit.rate,
            under_way: format!("{}/{}", limit.kind, address.network()),
            is_told: limit.is_told,
        })
    }

    /// Returns the limit that applies to anonymous callers of the path.
    fn by_address(&self, request: &Request) -> Option<ByAddress> {
        let per_minute = |requests| Some(Rate::new(requests, requests));
        let (kind, rate, is_told) = match request.uri().path() {
            "/api/health" | "/oauth/jwks" => ("uncounted", None, false),
            path if SIGN_IN.iter().any(|start| path.starts_with(start)) => {
                ("sign-in", per_minute(SIGN_IN_REQUESTS), true)
            }
            path if path.starts_with("/api") => ("address", Some(self.anonymous), true),
            TOOLS if *request.method() == Method::POST => return None,
            _ => ("open", per_minute(OPEN_REQUESTS), false),
        };
        Some(ByAddress { kind, rate, is_told })
    }
}

/// Returns 429. JSON endpoints of the issuer answer in the form of RFC 6749, section 5.2, readable by scripts of any origin.
fn too_many(path: &str, hint: &str, seconds: u64) -> Error {
    if !path.starts_with("/oauth/") || path == "/oauth/authorize" {
        let hint = format!("{hint} Try again after the seconds in Retry-After.");
        return ApiError::new(Code::RateLimited).hint(hint).retry_after(seconds).into();
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
pub fn tell(response: &mut Response, standing: &LimitState) {
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
    use common::clock::Clock;
    use futures_util::stream;
    use poem::{Body, EndpointExt, endpoint::make_sync, test::TestClient};
    use test_data::noon;

    use super::*;
    use crate::http::errors::{Errors, errors};

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

    fn client(limits: Option<CallerLimits>, max_in_flight: usize) -> TestClient<impl Endpoint> {
        let in_flight = Places::new(max_in_flight);
        let settings = Arc::new(RateLimit { limits, in_flight, unread: unread(), anonymous: Rate::new(60, 2) });
        let app = make_sync(|request: Request| answer(request.uri().path()));
        let app = app.around(move |next, request| limit(settings.clone(), next, request));
        let settings = Arc::new(Errors { other_paths: Arc::default(), subscribe_url: String::new() });
        TestClient::new(app.around(move |next, request| errors(settings.clone(), next, request)))
    }

    #[tokio::test]
    async fn answers_and_refusals_tell_what_is_left() {
        let (clock, _) = Clock::manual(noon());
        let client = client(Some(CallerLimits::new(clock, None)), 1);
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

    /// Pages and documents are counted by address. Only a refusal tells so, because shared caches keep the others.
    #[tokio::test]
    async fn every_path_is_counted_except_probes_and_keys() {
        let (clock, _) = Clock::manual(noon());
        let client = client(Some(CallerLimits::new(clock, None)), 0);
        let status = async |path: &str| client.get(path).send().await.0;
        for number in 0..OPEN_REQUESTS {
            let path = ["/docs", "/openapi.json", "/", "/nothing", "/share/x", "/mcp"][number as usize % 6];
            assert_eq!(status(path).await.status().as_u16(), 200, "{path} {number}");
        }
        let refused = status("/changelog").await;
        assert_eq!((refused.status().as_u16(), refused.header("x-ratelimit-remaining")), (429, Some("0")));
        for _ in 0..=OPEN_REQUESTS {
            assert_eq!(status("/api/health").await.status().as_u16(), 200);
        }
        assert_eq!(status("/api").await.status().as_u16(), 200, "another limit");
    }

    #[tokio::test]
    async fn every_path_has_places_in_flight() {
        let client = client(None, 1);
        for (path, other) in
            [("/docs", "/changelog"), ("/api/health", "/oauth/jwks"), ("/oauth/token", "/oauth/register")]
        {
            let unread = client.get(path).send().await.0;
            assert_eq!(client.get(other).send().await.0.status().as_u16(), 429, "{other}");
            drop(unread);
            assert_eq!(client.get(other).send().await.0.status().as_u16(), 200, "{other}");
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

    #[test]
    fn strangers_and_links_leave_most_of_the_budget_to_persons() {
        let budget = unread();
        let at = |last: u8| ClientAddress::new([198, 51, 100, last].into());
        let mut held = Vec::new();
        let mut fill = |kind: &str| {
            for last in 0..100 {
                held.extend(budget.take(holders_of_unread(format!("{kind}/{last}"), &at(last)), 4 << 20));
            }
            held.len()
        };
        assert_eq!((fill("open"), fill("share")), (8, 16), "a quarter each");
        // A person at an address of theirs.
        let one = budget.take(holders_of_unread("user/1".to_owned(), &at(0)), UNREAD_OF_ONE);
        assert!(one.is_some());
    }

    #[test]
    fn a_fixed_document_takes_nothing_of_the_budget() {
        let settings =
            RateLimit { limits: None, in_flight: Places::new(1), unread: unread(), anonymous: Rate::new(60, 2) };
        let mut held = Vec::new();
        for (is_fixed, most) in [(true, 100), (false, 8)] {
            for number in 0..100 {
                let mut answer = Response::builder().body(vec![0; 4 << 20]);
                if is_fixed {
                    answer.set_data(Fixed);
                }
                let holders = holders_of_unread("open/1".to_owned(), &ClientAddress::new([198, 51, 100, 1].into()));
                let answer = settings.within_budget(answer, holders);
                assert_eq!(answer.is_ok(), number < most, "fixed: {is_fixed}, answer {number}");
                held.extend(answer.ok());
            }
        }
    }

    #[tokio::test]
    async fn the_length_of_an_answer_is_still_known() {
        let client = client(None, 1);
        let body = BoxBody::from(client.get("/api").send().await.0.into_body());
        assert_eq!(body.size_hint().exact(), Some(4));
    }
}
