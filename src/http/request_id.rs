//! Gives each request an id. It is in the response, in the log lines and, on 5xx, in the body.
//!
//! Each request is a line of the log, except requests that nothing else bounds: one line a minute tells their number. Health that is well has
//! none: balancers ask for it every two seconds.

use std::{sync::Arc, time::Instant};

use common::{
    clock::Clock,
    random::Random,
    rate_limit::{Rate, RateLimits},
};
use pages::{
    client_address::client_address,
    fixed::Fixed,
    paths::{Methods, TOOLS, is_at, is_below},
};
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderName, Method, StatusCode},
};
use telemetry::{
    requests::RequestMeter,
    sums::{Sums, Unlogged},
    traces::Traces,
};
use tracing::Instrument;

use super::operation;
use crate::error::RequestId;

/// The number of lines a minute about the requests of one network. Signing keys, health, preflights, expired tokens and methods that a
/// path lacks are answered however often they come.
const LINES: u32 = 6_000;

/// The operation that balancers and supervisors ask.
const HEALTH: &str = "getHealth";

/// The header of the id, in requests and responses.
pub const HEADER: HeaderName = HeaderName::from_static("x-correlation-id");

/// The settings of the layer.
pub struct Identify {
    clock: Clock,
    random: Random,
    lines: RateLimits,
    sums: Arc<Sums>,
    /// Counts and times pages. `None` if metrics are not served.
    meter: Option<Arc<RequestMeter>>,
    traces: Traces,
    /// The patterns of paths outside the API, and the same as a line has them.
    pages: Vec<(&'static str, String)>,
}

impl Identify {
    /// Ids are made with `clock` and `random`, and `clock` spaces the lines. `pages` are the paths outside the API.
    #[must_use]
    pub fn new(clock: Clock, random: Random, pages: &Methods) -> Self {
        let pages = pages.iter().map(|(pattern, _)| (*pattern, shown(pattern))).collect();
        Self {
            lines: RateLimits::new(clock.clone()),
            clock,
            random,
            sums: Arc::default(),
            meter: None,
            traces: Traces::default(),
            pages,
        }
    }

    /// Also counts and times pages.
    #[must_use]
    pub fn with_meter(self, meter: Option<Arc<RequestMeter>>) -> Self {
        Self { meter, ..self }
    }

    /// Also begins a span for each request.
    #[must_use]
    pub fn with_traces(self, traces: Traces) -> Self {
        Self { traces, ..self }
    }

    /// Returns the pattern of the path, because the path itself may contain a share link's token.
    fn loggable_path(&self, request: &Request) -> &str {
        let path = request.uri().path();
        match operation::of(request) {
            Some(operation) => operation.path,
            None if is_below("/api", path) => "/api/…",
            None if path == TOOLS => TOOLS,
            None => {
                let known = self.pages.iter().find(|(pattern, _)| is_at(pattern, path));
                known.map_or("(no such page)", |(_, shown)| shown.as_str())
            }
        }
    }

    /// Returns why an answer to `network` has no line of its own, or `None` if it has one.
    fn unlogged(&self, response: &Response, network: &str) -> Option<Unlogged> {
        if response.data::<Fixed>().is_some() {
            Some(Unlogged::Fixed)
        } else if response.status() == StatusCode::TOO_MANY_REQUESTS {
            Some(Unlogged::Refused)
        } else if response.status().is_server_error() {
            None
        } else {
            let standing = self.lines.count(network, Rate::new(LINES, LINES));
            standing.retry_after.map(|_| Unlogged::Frequent)
        }
    }
}

/// A pattern of the router as lines have it, such as `/p/{id}`.
fn shown(pattern: &str) -> String {
    let segments = pattern.split('/').map(|segment| match segment.strip_prefix([':', '*']) {
        Some(name) => format!("{{{name}}}"),
        None => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}

/// Returns the id of a request.
#[must_use]
pub fn of(request: &Request) -> Option<&RequestId> {
    request.data()
}

/// The layer. If the client sends no id, it makes one.
///
/// # Errors
/// None. Every error of the inner layers becomes a response.
pub async fn request_id<E: Endpoint>(settings: Arc<Identify>, next: Arc<E>, mut request: Request) -> Result<Response> {
    let begun = Instant::now();
    let id = given(&request).unwrap_or_else(|| settings.random.id(settings.clock.now()).to_string().into());
    let network = client_address(&request).network();
    let (method, path) = (loggable_method(&request), settings.loggable_path(&request).to_owned());
    let operation = operation::of(&request).map(|operation| operation.id);
    let span = tracing::info_span!("request", correlation_id = %id, %method, path, user = tracing::field::Empty);
    let trace = settings.traces.request(method, &path, &id, request.headers());
    request.set_data(RequestId(id));
    let answer = async {
        let response = next.call(request).await.map_or_else(poem::Error::into_response, IntoResponse::into_response);
        let status = response.status().as_u16();
        let took = begun.elapsed();
        if let Some(meter) = settings.meter.as_ref().filter(|_| operation.is_none()) {
            meter.note_page(&path, status, took);
        }
        if operation == Some(HEALTH) && response.status().is_success() {
            return response;
        }
        if let Some(reason) = settings.unlogged(&response, &network) {
            settings.sums.count(reason);
        } else {
            let milliseconds = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            tracing::info!(status, milliseconds, "{method} {path} {status} {milliseconds} ms");
        }
        response
    };
    let response = trace.around(answer.instrument(span)).await;
    trace.status(response.status().as_u16());
    trace.fail_if(response.status().is_server_error());
    Ok(response)
}

/// Returns the client's own id for the request, if it is short and plain enough for a log.
fn given(request: &Request) -> Option<Arc<str>> {
    let text = request.headers().get(HEADER)?.to_str().ok()?;
    let plain = text.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c));
    ((1..=128).contains(&text.len()) && plain).then(|| text.into())
}

/// Returns the method, if the standard defines it. Anybody can make up others, of any length.
fn loggable_method(request: &Request) -> &'static str {
    match *request.method() {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "(another method)",
    }
}

#[cfg(test)]
mod tests {
    use test_data::noon;

    use super::*;

    #[test]
    fn lines_have_the_pattern_of_a_path() {
        let (clock, _) = Clock::manual(noon());
        let pages: Methods = [("/", "GET"), ("/p/:id", "GET"), ("/share/:token", "GET"), ("/docs/*path", "GET")].into();
        let settings = Identify::new(clock, Random::seeded(1), &pages);
        for (path, line) in [
            ("/", "/"),
            ("/p/7f", "/p/{id}"),
            ("/share/secret", "/share/{token}"),
            ("/docs/a/b", "/docs/{path}"),
            ("/api/nothing", "/api/…"),
            ("/apinothing", "(no such page)"),
            ("/share/secret/x", "(no such page)"),
            ("/mcp", "/mcp"),
        ] {
            let request = Request::builder().uri(path.parse().unwrap()).finish();
            assert_eq!(settings.loggable_path(&request), line, "{path}");
        }
    }

    #[test]
    fn lines_are_bounded_and_faults_always_have_one() {
        let (clock, _) = Clock::manual(noon());
        let settings = Identify::new(clock, Random::seeded(1), &Methods::default());
        let answer = |status: u16| Response::builder().status(StatusCode::from_u16(status).unwrap()).finish();
        let mut document = answer(200);
        document.set_data(Fixed);
        assert_eq!(settings.unlogged(&document, "a"), Some(Unlogged::Fixed));
        assert_eq!(settings.unlogged(&answer(429), "a"), Some(Unlogged::Refused));
        for number in 0..LINES {
            assert_eq!(settings.unlogged(&answer([200, 401][number as usize % 2]), "a"), None, "{number}");
        }
        assert_eq!(settings.unlogged(&answer(401), "a"), Some(Unlogged::Frequent));
        assert_eq!(settings.unlogged(&answer(503), "a"), None);
        assert_eq!(settings.unlogged(&answer(401), "b"), None, "others have lines of their own");
    }
}
