//! The gates before the search engine, shared by all replicas. A request passes those of its account, of the service and of its site.
//!
//! Each gate has a line. A request waits in the line of the gate that refused it, and in no other, so it holds up nobody at its other gates.
//! Its next try begins at that gate.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::{
    heartbeat::Replicas,
    link::Link,
    names::Names,
    scripts::{ADAPT, ENTER, LEAVE, micros, millis},
};

/// A request may be let through so long before it starts. Its caller waits as long, and does not have to ask again.
const AHEAD: Duration = Duration::from_millis(250);

/// The time for which a request counts as in flight if nobody says that it has ended.
const IN_FLIGHT: Duration = Duration::from_secs(30);

/// The lease of a place in a line.
const LEASE: Duration = Duration::from_secs(3);

/// The longest pause before the next try, much shorter than the lease.
const LONGEST: Duration = Duration::from_secs(1);

/// The pause before the next try for each request that comes before, where one in flight must end first.
const FULL: Duration = Duration::from_millis(40);

/// The longest of those pauses.
const LONGEST_FULL: Duration = Duration::from_millis(120);

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
    /// The person whose requests yield to others' beyond half of the speed of the first bucket.
    pub person: Option<String>,
}

/// The gates of all replicas.
#[derive(Clone)]
pub struct Gates {
    link: Arc<Link>,
    names: Names,
    replicas: Arc<Replicas>,
    requests: Arc<AtomicU64>,
    /// The time for which a request keeps its place in a line without a try.
    pub(crate) lease: Duration,
}

/// The answer to a request that wants to pass.
pub enum Entry {
    /// It passes, and starts after this time.
    Passed(Passed, Duration),
    /// Its turn comes after the first time. It tries again after the second.
    Wait(Duration, Duration),
    /// One in flight must end first. It tries again after this time.
    Full(Duration),
}

/// A request before its gates. Dropping it leaves the line that it is in.
pub struct Waiting {
    gates: Gates,
    /// Its name in lines.
    name: String,
    /// Its gates, in the order in which it tries them.
    order: Vec<Gate>,
    /// The line that it may be in.
    line: Option<String>,
}

/// A request that has passed. Dropping it notes that it has ended, or gives back what it took before it has passed all gates.
pub struct Passed {
    gates: Gates,
    request: String,
    through: Vec<Gate>,
    /// It has passed all gates.
    is_through: bool,
    /// When it starts, in microseconds of Redis' clock.
    starts_at: i64,
}

impl Gates {
    pub(super) fn new(link: Arc<Link>, names: Names, replicas: Arc<Replicas>) -> Self {
        Self { link, names, replicas, requests: Arc::default(), lease: LEASE }
    }

    /// The number of replicas that share the gates. At least one.
    #[must_use]
    pub fn replicas(&self) -> u32 {
        self.replicas.count()
    }

    /// A request that passes all `gates` or none, and tries them in this order first.
    #[must_use]
    pub fn line_up(&self, gates: Vec<Gate>) -> Waiting {
        Waiting { gates: self.clone(), name: self.id(), order: gates, line: None }
    }

    /// An id that no other request of any replica has.
    fn id(&self) -> String {
        format!("{}:{}", self.replicas.me, self.requests.fetch_add(1, Ordering::Relaxed))
    }

    async fn leave_line(&self, name: &str, gate: &str) {
        for of_line in ["line", "leases"] {
            // A place whose call is lost ends with its lease.
            let _ = self.link.command::<i64>(redis::cmd("ZREM").arg(self.names.gate(gate, of_line)).arg(name)).await;
        }
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

impl Waiting {
    /// Tries to pass all gates. `late` is how much later than now its place in a line is, in microseconds. `None` if Redis is away. A call
    /// that was not answered may have been made, so the request then leaves that gate as well.
    pub async fn enter(&mut self, late: i64) -> Option<Entry> {
        let (gates, request) = (self.gates.clone(), self.gates.id());
        let mut passed = Passed { gates, request, through: Vec::new(), is_through: false, starts_at: 0 };
        let mut longest = Duration::ZERO;
        for at in 0..self.order.len() {
            let gate = self.order[at].clone();
            self.line = Some(gate.of.clone());
            passed.through.push(gate.clone());
            let (verdict, answer, now) = self.enter_one(&passed.request, &gate, late).await?;
            self.order[at].person = None;
            if verdict != 1 {
                passed.through.pop();
                self.order[..=at].rotate_right(1);
                return Some(refusal(verdict, answer));
            }
            self.line = None;
            longest = longest.max(Duration::from_micros(answer));
            passed.starts_at = now + i64::try_from(longest.as_micros()).unwrap_or_default();
        }
        passed.is_through = true;
        Some(Entry::Passed(passed, longest))
    }

    /// The gate that it tries first: the one that refused it last.
    #[must_use]
    pub fn first(&self) -> Option<&str> {
        self.order.first().map(|gate| &*gate.of)
    }

    async fn enter_one(&self, request: &str, gate: &Gate, late: i64) -> Option<(i8, u64, i64)> {
        let Gates { link, names, .. } = &self.gates;
        let mut script = ENTER.prepare_invoke();
        script.key(self.gates.mark(request, gate));
        for of_line in ["line", "leases", "persons"] {
            script.key(names.gate(&gate.of, of_line));
        }
        for name in self.gates.keys(gate) {
            script.key(name);
        }
        script.arg(micros(AHEAD)).arg(request).arg(micros(IN_FLIGHT)).arg(gate.buckets.len());
        let person = gate.person.as_ref().map(|person| names.person(person));
        script.arg(&self.name).arg(late).arg(micros(self.gates.lease)).arg(person.unwrap_or_default());
        for (_, most) in &gate.buckets {
            script.arg(most.burst).arg(most.per_second).arg(gate.begins_with);
        }
        for (_, most) in &gate.in_flight {
            script.arg(*most);
        }
        link.script(&script).await
    }
}

fn refusal(verdict: i8, answer: u64) -> Entry {
    if verdict == 0 {
        let turn = Duration::from_micros(answer);
        // A try passes from then on, and what comes before may be late.
        return Entry::Wait(turn, turn.saturating_sub(AHEAD / 2).min(LONGEST));
    }
    let before = u32::try_from(answer).unwrap_or(u32::MAX);
    Entry::Full(FULL.saturating_mul(before.saturating_add(1)).min(LONGEST_FULL))
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let Some(line) = self.line.take() else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let (gates, name) = (self.gates.clone(), std::mem::take(&mut self.name));
            runtime.spawn(async move { gates.leave_line(&name, &line).await });
        }
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
        self.end(!self.is_through);
    }
}
