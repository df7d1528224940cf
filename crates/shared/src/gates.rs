//! The gates before the search engine, shared by all replicas. A request passes those of its account, of the service and of its site.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::{
    link::Link,
    names::Names,
    replicas::Replicas,
    scripts::{ADAPT, ENTER, LEAVE, micros, millis},
};

/// A request may be let through so long before it starts. Its caller waits as long, and does not have to ask again.
const AHEAD: Duration = Duration::from_millis(250);

/// The time for which a request counts as in flight if nobody says that it has ended.
const IN_FLIGHT: Duration = Duration::from_secs(30);

/// The pause before it is said again that a request has ended, while Redis is away.
const LEAVE_AGAIN: Duration = Duration::from_millis(250);

/// The greatest speed of a bucket: requests at once, and requests a second beyond those.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Most {
    /// Requests at once.
    pub burst: f64,
    /// Requests a second.
    pub per_second: f64,
}

/// One of the gates of a request.
#[derive(Debug, Clone, PartialEq)]
pub struct Gate {
    /// The account, site or client that it belongs to.
    pub of: String,
    /// Its buckets, each with a name and its greatest speed.
    pub buckets: Vec<(&'static str, Most)>,
    /// The share of the greatest speed that a bucket begins with. One means that the speed never changes.
    pub begins_with: f64,
    /// The most requests in flight of each of its sets.
    pub in_flight: Vec<(&'static str, u32)>,
}

/// The gates of all replicas.
#[derive(Clone)]
pub struct Gates {
    link: Arc<Link>,
    names: Names,
    replicas: Arc<Replicas>,
    requests: Arc<AtomicU64>,
}

/// The answer to a request that wants to pass.
pub enum Entry {
    /// It passes, and starts after this time.
    Passed(Passed, Duration),
    /// It may ask again after this time.
    Wait(Duration),
    /// One in flight must end first.
    Full,
}

/// A request that has passed. Dropping it notes that it has ended.
pub struct Passed {
    gates: Gates,
    request: String,
    through: Vec<Gate>,
    /// When it starts, in microseconds of Redis' clock.
    starts_at: i64,
}

impl Gates {
    pub(super) fn new(link: Arc<Link>, names: Names, replicas: Arc<Replicas>) -> Self {
        Self { link, names, replicas, requests: Arc::default() }
    }

    /// The number of replicas that share the gates. At least one.
    #[must_use]
    pub fn replicas(&self) -> u32 {
        self.replicas.count()
    }

    /// Lets a request through all `gates`, or none. `None` if Redis is away. A call that was not answered may have been made, so the
    /// request then leaves that gate as well.
    pub async fn enter(&self, gates: Vec<Gate>) -> Option<Entry> {
        let request = format!("{}:{}", self.replicas.me, self.requests.fetch_add(1, Ordering::Relaxed));
        let mut passed = Passed { gates: self.clone(), request, through: Vec::new(), starts_at: 0 };
        let mut longest = Duration::ZERO;
        for gate in gates {
            let Some((verdict, micros, now)) = self.enter_one(&passed.request, &gate).await else {
                passed.through.push(gate);
                passed.give_back();
                return None;
            };
            let wait = Duration::from_micros(micros);
            let refusal = match verdict {
                1 => None,
                0 => Some(Entry::Wait(wait)),
                _ => Some(Entry::Full),
            };
            if let Some(refusal) = refusal {
                passed.give_back();
                return Some(refusal);
            }
            passed.through.push(gate);
            longest = longest.max(wait);
            passed.starts_at = now + i64::try_from(longest.as_micros()).unwrap_or_default();
        }
        Some(Entry::Passed(passed, longest))
    }

    async fn enter_one(&self, request: &str, gate: &Gate) -> Option<(i8, u64, i64)> {
        let mut script = ENTER.prepare_invoke();
        script.key(self.mark(request, gate));
        for name in self.keys(gate) {
            script.key(name);
        }
        script.arg(micros(AHEAD)).arg(request).arg(micros(IN_FLIGHT)).arg(gate.buckets.len());
        for (_, most) in &gate.buckets {
            script.arg(most.burst).arg(most.per_second).arg(gate.begins_with);
        }
        for (_, most) in &gate.in_flight {
            script.arg(*most);
        }
        self.link.script(&script).await
    }

    /// The key that remembers that a request has passed a gate, or left it.
    fn mark(&self, request: &str, gate: &Gate) -> String {
        self.names.gate(&gate.of, &format!("request {request}"))
    }

    fn keys(&self, gate: &Gate) -> Vec<String> {
        let buckets = gate.buckets.iter().map(|(name, _)| *name);
        let sets = gate.in_flight.iter().map(|(name, _)| *name);
        buckets.chain(sets).map(|name| self.names.gate(&gate.of, name)).collect()
    }

    /// Notes that a request has ended, or with `gives_back` that it never started. Returns false if Redis is away.
    async fn leave(&self, request: &str, gate: &Gate, gives_back: bool) -> bool {
        if !gives_back && gate.in_flight.is_empty() {
            return true;
        }
        let keys = self.keys(gate);
        let buckets = if gives_back { gate.buckets.len() } else { 0 };
        let mut script = LEAVE.prepare_invoke();
        script.key(self.mark(request, gate));
        for name in &keys[gate.buckets.len() - buckets..] {
            script.key(name);
        }
        self.link.script::<()>(script.arg(request).arg(buckets).arg(millis(IN_FLIGHT))).await.is_some()
    }

    async fn adapt(&self, gate: &Gate, started_at: i64, success: bool) -> bool {
        if gate.begins_with >= 1.0 {
            return false;
        }
        let mut script = ADAPT.prepare_invoke();
        for (name, _) in &gate.buckets {
            script.key(self.names.gate(&gate.of, name));
        }
        script.arg(u8::from(success)).arg(started_at);
        for (_, most) in &gate.buckets {
            script.arg(most.burst).arg(most.per_second);
        }
        self.link.script(&script).await.unwrap_or_default()
    }
}

impl Passed {
    /// Lets the speed of the gates grow after a success, or halves it after a refusal. Returns whether a speed was halved.
    pub async fn note(&self, success: bool) -> bool {
        let mut halved = false;
        for gate in &self.through {
            halved |= self.gates.adapt(gate, self.starts_at, success).await;
        }
        halved
    }

    fn give_back(mut self) {
        self.end(true);
    }

    fn end(&mut self, gives_back: bool) {
        let (gates, request, through) = (self.gates.clone(), self.request.clone(), std::mem::take(&mut self.through));
        if through.is_empty() {
            return;
        }
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move {
                let expires_at = Instant::now() + IN_FLIGHT;
                for gate in through {
                    while !gates.leave(&request, &gate, gives_back).await && Instant::now() < expires_at {
                        sleep(LEAVE_AGAIN).await;
                    }
                }
            });
        }
    }
}

impl Drop for Passed {
    fn drop(&mut self) {
        self.end(false);
    }
}
