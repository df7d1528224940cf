//! Limits the rate of requests to the search engine.
//!
//! The search engine counts requests by site and by account, and refuses requests beyond its quota. A request therefore needs
//! capacity at both (`gates.rs`), at a speed that adapts to the responses (`bucket.rs`). Without capacity it queues
//! (`turns.rs`). Those three receive the time as an argument. This file takes it from the runtime and wakes waiting
//! requests. Replicas that share their gates pass those, too (`together.rs`). `choice.rs` chooses among accounts.

mod bucket;
mod choice;
mod gates;
#[cfg(test)]
mod tests;
mod together;
mod turns;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use telemetry::pace::PaceMeter;
use tokio::{
    runtime::Handle,
    sync::oneshot,
    time::{Instant, sleep_until},
};
use uuid::Uuid;

use self::{
    gates::Way,
    together::{PassedTogether, Together},
    turns::{Ticket, Turns},
};
use super::wire::SiteUrl;

/// The settings of the pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The maximum number of requests in flight, for each site.
    pub max_in_flight: u32,
    /// The maximum burst, for each site and each account.
    pub bucket: u32,
    /// The maximum rate beyond the burst in requests per second, for each site and each account.
    pub refill_per_second: u32,
    /// The limits of all requests together.
    pub quota: Quota,
}

/// The limits of all requests together. The search engine counts them for the service's client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    /// The most requests in any minute.
    pub per_minute: u32,
    /// The most requests in any 24 hours.
    pub per_day: u32,
}

impl Default for Quota {
    /// The search engine allows 40,000 requests a minute and 30,000,000 a day. A tenth is left to other users of the client.
    fn default() -> Self {
        Self { per_minute: 36_000, per_day: 27_000_000 }
    }
}

impl Default for Pace {
    /// The search engine allows 1,200 requests a minute. This allows at most 60 + 60 × 18 = 1,140.
    fn default() -> Self {
        Self { max_in_flight: 16, bucket: 60, refill_per_second: 18, quota: Quota::default() }
    }
}

impl Pace {
    /// The part of one of so many replicas.
    #[must_use]
    pub fn divided_by(self, replicas: u32) -> Self {
        let part = |number: u32| (number / replicas.max(1)).max(1);
        Self {
            max_in_flight: part(self.max_in_flight),
            bucket: part(self.bucket),
            refill_per_second: part(self.refill_per_second),
            quota: Quota { per_minute: part(self.quota.per_minute), per_day: part(self.quota.per_day) },
        }
    }
}

/// The group of callers that a request belongs to, most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Lane {
    /// The owner and the team, who wait: the full pace.
    Own,
    /// Anonymous readers of share links: a share of the pace, so that the rest is always left to the owner.
    Shared,
    /// Headlines of lists, which are shown without those that are missing.
    Headlines,
    /// Days that are kept and read again, for which nobody waits.
    Refresh,
    /// Pages that are read ahead, while nobody waits: a third of the pace at most.
    Ahead,
}

impl Lane {
    /// All lanes, most urgent first.
    pub const ALL: [Self; 5] = [Self::Own, Self::Shared, Self::Headlines, Self::Refresh, Self::Ahead];

    /// Returns whether callers do not wait for every request.
    #[must_use]
    pub fn is_background(self) -> bool {
        matches!(self, Self::Headlines | Self::Refresh | Self::Ahead)
    }

    /// Its name among the metrics.
    fn name(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Shared => "shared",
            Self::Headlines => "headlines",
            Self::Refresh => "refresh",
            Self::Ahead => "ahead",
        }
    }

    /// A request yields to requests of faster lanes that arrive at most this much later.
    fn courtesy(self) -> Duration {
        match self {
            Self::Own | Self::Shared => Duration::ZERO,
            Self::Headlines => Duration::from_secs(30),
            Self::Refresh | Self::Ahead => Duration::from_mins(2),
        }
    }
}

/// A caller's question, which may need several upstream requests. Waiting questions share the pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Question(u64);

impl Question {
    /// An id that is unique in this process.
    #[must_use]
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The lane, the question and the person of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    /// The lane.
    pub lane: Lane,
    /// The question.
    pub question: Question,
    /// The person who waits, if it is not the reader of a share link.
    pub person: Option<Uuid>,
}

impl Asker {
    /// A new question in `lane`, of nobody in particular.
    #[must_use]
    pub fn new(lane: Lane) -> Self {
        Self { lane, question: Question::unique(), person: None }
    }

    /// A new question of a person.
    #[must_use]
    pub fn person(person: Uuid) -> Self {
        Self { person: Some(person), ..Self::new(Lane::Own) }
    }

    fn way(self, account: Uuid, site: &SiteUrl) -> Way {
        Way { account, site: site.clone(), lane: self.lane, person: self.person }
    }
}

struct State {
    turns: Turns<oneshot::Sender<()>>,
    /// The next time at which the queue is checked.
    alarm: Option<Instant>,
    /// The accounts that other replicas keep busy, and until when.
    busy: HashMap<Uuid, Instant>,
}

/// The pace of all sites and accounts.
#[derive(Clone)]
pub struct Pacer {
    state: Arc<Mutex<State>>,
    together: Option<Together>,
    meter: PaceMeter,
}

/// A request that is not queued, because its turn comes after its deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLate {
    /// The time until its turn.
    pub retry_after: Duration,
    /// True if the quota of all requests together is the reason.
    pub of_quota: bool,
}

/// A request that is queued, and in flight once it has started, until it is dropped.
pub struct Permit {
    pacer: Pacer,
    way: Way,
    ticket: Ticket,
    started: Option<Instant>,
    /// Its passage through the pace of all replicas.
    together: Option<Arc<PassedTogether>>,
}

impl Pacer {
    /// Creates a pacer without requests. Replicas that share gates keep the pace together.
    #[must_use]
    pub fn new(pace: Pace, shared: Option<replicas::Gates>) -> Self {
        let state = Arc::new(Mutex::new(State { turns: Turns::new(pace), alarm: None, busy: HashMap::new() }));
        let meter = PaceMeter::new(Lane::ALL.map(Lane::name));
        Self { state, together: shared.map(|shared| Together::new(shared, pace)), meter }
    }

    /// Waits until a request about `site` may start. It counts as in flight as long as the permit lives. Dropping the future
    /// leaves the queue.
    ///
    /// # Errors
    /// People would wait until after `deadline`.
    pub async fn start(
        &self,
        account: Uuid,
        site: &SiteUrl,
        asker: Asker,
        deadline: Instant,
    ) -> Result<Permit, TooLate> {
        let _waiting = self.meter.begin(asker.lane.name());
        let (way, since) = (asker.way(account, site), Instant::now());
        let (wake, woken) = oneshot::channel();
        let ticket = self.with(|state, now| {
            let (turn, of_quotas) = state.turns.turn(&way, asker.question, now);
            if turn > deadline && !way.lane.is_background() {
                return Err(TooLate { retry_after: turn - now, of_quota: of_quotas > deadline });
            }
            Ok(state.turns.ask(&way, asker.question, wake, now))
        })?;
        let mut permit = Permit { pacer: self.clone(), way, ticket, started: None, together: None };
        // Cannot fail: the queue keeps the sender until the request starts.
        let _ = woken.await;
        if let Some(together) = &self.together {
            let asked_at = Instant::now();
            let passed = together.pass(&permit.way, since, deadline).await;
            self.note_busy(account, asked_at);
            permit.together = Some(Arc::new(passed?));
        }
        permit.started = Some(Instant::now());
        Ok(permit)
    }

    /// The metrics of the wait.
    pub fn meter(&self) -> &PaceMeter {
        &self.meter
    }

    /// Returns whether people wait for a turn.
    pub fn people_wait(&self) -> bool {
        Lane::ALL.into_iter().filter(|lane| !lane.is_background()).any(|lane| self.meter.is_waited_for(lane.name()))
    }

    /// Returns the used shares of the account and the site with the largest share, and of the quotas.
    pub fn used(&self) -> [(&'static str, f64); 4] {
        self.with(|state, now| state.turns.gates().used(now))
    }

    /// Returns how long the quotas of all requests together let none pass.
    pub fn quota_wait(&self) -> Duration {
        self.with(|state, now| state.turns.gates().quotas_open_at(now) - now)
    }

    /// Changes the state, starts every request that fits, and schedules a wake-up for the others.
    fn with<T>(&self, change: impl FnOnce(&mut State, Instant) -> T) -> T {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let changed = change(&mut state, now);
        for wake in state.turns.start(now) {
            // A permit whose receiver is gone returns its capacity.
            let _ = wake.send(());
        }
        if let Some(at) = state.turns.next_opening(now) {
            self.set_alarm(&mut state, at);
        }
        changed
    }

    fn set_alarm(&self, state: &mut State, at: Instant) {
        if state.alarm.is_some_and(|alarm| alarm <= at) {
            return;
        }
        // Without a runtime nobody is waiting.
        let Ok(runtime) = Handle::try_current() else { return };
        state.alarm = Some(at);
        let (state, together, meter) = (Arc::downgrade(&self.state), self.together.clone(), self.meter.clone());
        runtime.spawn(async move {
            sleep_until(at).await;
            if let Some(state) = state.upgrade() {
                Self { state, together, meter }.with(|state, _| state.alarm = state.alarm.filter(|alarm| *alarm != at));
            }
        });
    }
}

#[cfg(test)]
impl Pacer {
    /// The current burst of `asker`.
    pub fn burst(&self, account: Uuid, site: &SiteUrl, asker: Asker) -> f64 {
        let way = asker.way(account, site);
        self.with(|state, now| state.turns.gates().speed(&way, now).burst)
    }
}

impl Permit {
    /// Records a success: the pace grows.
    pub fn accepted(&self) {
        if let Some(together) = &self.together {
            PassedTogether::note(together, true);
        }
        if let Some(started) = self.started {
            self.pacer.with(|state, now| state.turns.gates().accepted(&self.way, started, now));
        }
    }

    /// Records a quota refusal: the pace halves.
    pub fn refused(&self) {
        if let Some(together) = &self.together {
            PassedTogether::note(together, false);
        }
        let Some(started) = self.started else { return };
        let slower = self.pacer.with(|state, now| {
            let gates = state.turns.gates();
            gates.refused(&self.way, started, now).then(|| gates.speed(&self.way, now))
        });
        if let Some(speed) = slower {
            tracing::warn!(site = %self.way.site, account = %self.way.account, ?speed, "asking more slowly");
        }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.pacer.with(|state, now| {
            if self.started.is_some() || !state.turns.give_up(&self.way, self.ticket) {
                state.turns.gates().leave(&self.way, now);
            }
        });
    }
}
