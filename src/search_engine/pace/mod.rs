//! The pace at which the search engine is asked.
//!
//! It counts requests by site and by account, and refuses those beyond its quota. So a request needs room with both (`gates.rs`), whose
//! speeds follow what the search engine says (`bucket.rs`). Where there is none, it waits for its turn (`turns.rs`). Those three are given
//! the time; this file takes it from the runtime, which also wakes those who wait.

mod bucket;
mod gates;
#[cfg(test)]
mod tests;
mod turns;

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicU64, Ordering},
};

use tokio::{
    runtime::Handle,
    sync::oneshot,
    time::{Instant, sleep_until},
};
use uuid::Uuid;

use self::{
    gates::Way,
    turns::{Ticket, Turns},
};
use super::wire::SiteUrl;

/// The settings of the pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Requests in flight at once, for each site.
    pub max_in_flight: u32,
    /// Requests that may start in one burst at most, for each site and each account.
    pub bucket: u32,
    /// Requests a second that may start beyond the burst at most, for each site and each account.
    pub refill_per_second: u32,
}

impl Default for Pace {
    /// The search engine allows 1,200 requests a minute; this is at most 60 + 60 × 18 = 1,140.
    fn default() -> Self {
        Self { max_in_flight: 16, bucket: 60, refill_per_second: 18 }
    }
}

/// On whose behalf the search engine is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// The owner's, the team's and the service's own: the whole pace.
    Own,
    /// That of readers of share links, who may be anyone: a part of the pace, so that the rest is always left to the owner.
    Shared,
}

/// A question that somebody asks of the service, however many upstream requests it takes. Questions that wait share the pace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Question(u64);

impl Question {
    /// One unlike all others of this process.
    #[must_use]
    pub fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// The asker of a request, and the question that it is part of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asker {
    /// On whose behalf.
    pub lane: Lane,
    /// The question.
    pub question: Question,
}

impl Asker {
    /// Somebody with a new question.
    #[must_use]
    pub fn new(lane: Lane) -> Self {
        Self { lane, question: Question::unique() }
    }
}

struct State {
    turns: Turns<oneshot::Sender<()>>,
    /// When the queue is looked at again.
    alarm: Option<Instant>,
}

/// The pace of all sites and accounts.
#[derive(Clone)]
pub struct Pacer(Arc<Mutex<State>>);

/// A request in line, and in flight once it has started, until it is dropped.
pub struct Permit {
    pacer: Pacer,
    way: Way,
    ticket: Ticket,
    started: Option<Instant>,
}

impl Pacer {
    /// Nothing has been asked yet.
    #[must_use]
    pub fn new(pace: Pace) -> Self {
        Self(Arc::new(Mutex::new(State { turns: Turns::new(pace), alarm: None })))
    }

    /// Waits until a request about `site` may start; it is in flight as long as the permit lives. Whoever stops waiting leaves the line.
    pub async fn start(&self, account: Uuid, site: &SiteUrl, asker: Asker) -> Permit {
        let way = Way { account, site: site.clone(), lane: asker.lane };
        let (wake, woken) = oneshot::channel();
        let ticket = self.with(|state, now| state.turns.ask(&way, asker.question, wake, now));
        let mut permit = Permit { pacer: self.clone(), way, ticket, started: None };
        // The other end is not dropped before it has spoken: the queue keeps it until the request starts.
        let _ = woken.await;
        permit.started = Some(Instant::now());
        permit
    }

    /// Changes the state, starts what has room then, and sees to it that what has none yet starts in time.
    fn with<T>(&self, change: impl FnOnce(&mut State, Instant) -> T) -> T {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        let changed = change(&mut state, now);
        for wake in state.turns.start(now) {
            // A permit that nobody listens for any more gives its place back.
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
        // Without a runtime nobody waits any more.
        let Ok(runtime) = Handle::try_current() else { return };
        state.alarm = Some(at);
        let pacer = Arc::downgrade(&self.0);
        runtime.spawn(async move {
            sleep_until(at).await;
            if let Some(pacer) = pacer.upgrade() {
                Self(pacer).with(|state, _| state.alarm = state.alarm.filter(|alarm| *alarm != at));
            }
        });
    }
}

#[cfg(test)]
impl Pacer {
    /// The burst that `asker` has at present.
    pub fn burst(&self, account: Uuid, site: &SiteUrl, asker: Asker) -> f64 {
        let way = Way { account, site: site.clone(), lane: asker.lane };
        self.with(|state, now| state.turns.gates().speed(&way, now).burst)
    }
}

impl Permit {
    /// The search engine answered: the pace grows.
    pub fn accepted(&self) {
        if let Some(started) = self.started {
            self.pacer.with(|state, now| state.turns.gates().accepted(&self.way, started, now));
        }
    }

    /// The search engine refused the request for its quota: the pace halves.
    pub fn refused(&self) {
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
