//! Metrics of requests to this service.

use std::time::Duration;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use tokio::time::Instant;

/// The name of requests that are not an operation of the API: pages, sign-in, unknown paths.
pub const OTHER: &str = "other";

/// The upper bounds of the buckets of latencies, in seconds. People suffer between one second and the time limit of a request.
pub(super) const BUCKETS: [f64; 17] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 18.0, 25.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Answered {
    operation: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Named {
    operation: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Shown {
    page: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Page {
    page: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Write {
    outcome: &'static str,
}

/// Counts and times requests. Labels of operations are names that live as long as the program, so that one of them allocates nothing.
#[derive(Debug, Clone)]
pub struct RequestMeter {
    answers: Family<Answered, Counter>,
    seconds: Family<Named, Histogram, fn() -> Histogram>,
    under_way: Gauge,
    writes: Family<Write, Counter>,
    pages: Family<Shown, Counter>,
    page_seconds: Family<Page, Histogram, fn() -> Histogram>,
}

/// A request that is not answered yet. A request whose client disconnects is dropped without being counted.
#[derive(Debug)]
pub struct UnderWay<'m> {
    meter: &'m RequestMeter,
    operation: &'static str,
    start: Instant,
}

impl RequestMeter {
    /// Creates the metrics, with a histogram for each of `operations`.
    #[must_use]
    pub fn new(operations: impl Iterator<Item = &'static str>) -> Self {
        let seconds = Family::new_with_constructor(histogram as fn() -> Histogram);
        for operation in operations.chain([OTHER]) {
            drop(seconds.get_or_create(&Named { operation }));
        }
        let page_seconds = Family::new_with_constructor(histogram as fn() -> Histogram);
        let (answers, under_way, writes, pages) = Default::default();
        Self { answers, seconds, under_way, writes, pages, page_seconds }
    }

    /// Adds the metrics to `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("http_requests", "Requests answered, by operation and status", self.answers.clone());
        registry.register(
            "http_request_duration_seconds",
            "Time from a request to the start of its answer, by operation",
            self.seconds.clone(),
        );
        registry.register("http_requests_in_flight", "Requests not answered yet", self.under_way.clone());
        registry.register(
            "idempotent_writes",
            "Answers to writes with an idempotency key: of the operation, or replayed",
            self.writes.clone(),
        );
        registry.register("page_requests", "Answers beside the API, by pattern of the path", self.pages.clone());
        registry.register(
            "page_request_duration_seconds",
            "Time from a request beside the API to the start of its answer, by pattern of the path",
            self.page_seconds.clone(),
        );
    }

    /// Counts the answer of a path that is no operation. `page` is its pattern.
    pub fn note_page(&self, page: &str, status: u16, took: Duration) {
        self.pages.get_or_create(&Shown { page: page.to_owned(), status }).inc();
        self.page_seconds.get_or_create(&Page { page: page.to_owned() }).observe(took.as_secs_f64());
    }

    /// Begins a request of `operation`, or of [`OTHER`].
    #[must_use]
    pub fn begin(&self, operation: &'static str) -> UnderWay<'_> {
        self.under_way.inc();
        UnderWay { meter: self, operation, start: Instant::now() }
    }
}

pub(super) fn histogram() -> Histogram {
    Histogram::new(BUCKETS)
}

impl UnderWay<'_> {
    /// Counts the answer. `replayed` is set for writes with an idempotency key.
    pub fn answered(self, status: u16, replayed: Option<bool>) {
        let (meter, operation) = (self.meter, self.operation);
        meter.answers.get_or_create(&Answered { operation, status }).inc();
        let took: Duration = self.start.elapsed();
        meter.seconds.get_or_create(&Named { operation }).observe(took.as_secs_f64());
        if let Some(replayed) = replayed {
            let outcome = if replayed { "replayed" } else { "first" };
            meter.writes.get_or_create(&Write { outcome }).inc();
        }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.meter.under_way.dec();
    }
}
