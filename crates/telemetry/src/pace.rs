//! Metrics of the wait for the pace towards the search engine.

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::Registry,
};
use tokio::time::Instant;

use super::traces::Span;

/// The upper bounds of the buckets of waits, in seconds. People wait for 25 at most.
const BUCKETS: [f64; 11] = [0.01, 0.1, 0.5, 1.0, 2.5, 5.0, 10.0, 15.0, 20.0, 25.0, 60.0];

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Named {
    lane: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Refusal {
    reason: &'static str,
}

/// Counts and times requests that wait for a turn, by lane.
#[derive(Debug, Clone)]
pub struct PaceMeter {
    seconds: Family<Named, Histogram, fn() -> Histogram>,
    waiting: Family<Named, Gauge>,
    refusals: Family<Refusal, Counter>,
}

/// A request that waits for a turn. Dropping it ends the wait, with a turn or without.
#[derive(Debug)]
pub struct Waiting {
    meter: PaceMeter,
    lane: &'static str,
    start: Instant,
    _span: Span,
}

fn histogram() -> Histogram {
    Histogram::new(BUCKETS)
}

impl PaceMeter {
    /// Creates the metrics of these lanes.
    #[must_use]
    pub fn new(lanes: impl IntoIterator<Item = &'static str>) -> Self {
        let seconds = Family::new_with_constructor(histogram as fn() -> Histogram);
        let waiting = Family::default();
        for lane in lanes {
            drop(seconds.get_or_create(&Named { lane }));
            drop(Family::<Named, Gauge>::get_or_create(&waiting, &Named { lane }));
        }
        let refusals = Family::default();
        for reason in ["late", "quota"] {
            drop(Family::<Refusal, Counter>::get_or_create(&refusals, &Refusal { reason }));
        }
        Self { seconds, waiting, refusals }
    }

    /// Adds the metrics to `registry`.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("pace_wait_seconds", "Time that a request waited for its turn", self.seconds.clone());
        registry.register("pace_waiting", "Requests that wait for their turn", self.waiting.clone());
        registry.register("pace_refusals", "Requests without a turn before their deadline", self.refusals.clone());
    }

    /// Counts a request that gets no turn before its deadline.
    pub fn refuse(&self, reason: &'static str) {
        self.refusals.get_or_create(&Refusal { reason }).inc();
    }

    /// Returns whether a request of a lane waits.
    #[must_use]
    pub fn is_waited_for(&self, lane: &'static str) -> bool {
        self.waiting.get_or_create(&Named { lane }).get() > 0
    }

    /// Counts a request that begins to wait.
    #[must_use]
    pub fn begin(&self, lane: &'static str) -> Waiting {
        self.waiting.get_or_create(&Named { lane }).inc();
        let span = Span::part("wait for the pace");
        span.set("sightline.lane", lane);
        Waiting { meter: self.clone(), lane, start: Instant::now(), _span: span }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let named = Named { lane: self.lane };
        self.meter.waiting.get_or_create(&named).dec();
        self.meter.seconds.get_or_create(&named).observe(self.start.elapsed().as_secs_f64());
    }
}
