//! Pauses of holders whose requests a provider refused for their rate. Replicas that share Redis publish them to each other.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use common::clock::{Clock, Moment};
use replicas::Notices;
use serde::{Deserialize, Serialize};

use super::SeoError;

/// The pause of each holder.
type All = HashMap<String, Known>;

/// The end of a pause.
struct Known {
    /// The time as it was published, which identifies the pause.
    until: DateTime<Utc>,
    end: Moment,
}

/// A pause that replicas publish to each other.
#[derive(Serialize, Deserialize)]
struct Pause {
    holder: String,
    /// The time of the refusal. Absent from a replica of an earlier version.
    #[serde(default)]
    since: DateTime<Utc>,
    until: DateTime<Utc>,
}

/// The pauses of all holders. Clones share them.
#[derive(Clone)]
pub(super) struct Pauses {
    all: Arc<Mutex<All>>,
    clock: Clock,
    notices: Option<Notices>,
}

impl Pauses {
    /// Pauses that replicas publish to each other through `notices`.
    pub fn sharing(notices: Option<Notices>, clock: Clock) -> Self {
        let all: Arc<Mutex<All>> = Arc::default();
        if let Some(notices) = &notices {
            let (kept, clock) = (Arc::downgrade(&all), clock.clone());
            notices.subscribe(move |pause| {
                let Some(all) = kept.upgrade() else { return false };
                if let Ok(pause) = serde_json::from_slice(pause) {
                    let mut all = lock(&all);
                    begin(&mut all, pause, clock.moment());
                }
                true
            });
        }
        Self { all, clock, notices }
    }

    /// Leaves the provider alone for a holder for a time.
    pub fn begin(&self, holder: String, time: TimeDelta) {
        let mut all = lock(&self.all);
        let now = self.clock.moment();
        all.retain(|_, known| !known.end.is_over(now) || now.wall() < known.until);
        let pause = Pause { holder, since: now.wall(), until: now.wall() + time };
        let written = serde_json::to_vec(&pause);
        begin(&mut all, pause, now);
        drop(all);
        if let Some(notices) = &self.notices
            && let Ok(pause) = written
        {
            notices.publish(&pause);
        }
    }

    /// Fails while the provider is left alone.
    pub fn check(&self, holder: &str) -> Result<(), SeoError> {
        let all = lock(&self.all);
        match all.get(holder).and_then(|known| known.end.left(self.clock.moment())) {
            Some(left) => Err(SeoError::RateLimited { retry_after: left.as_secs().max(1) }),
            None => Ok(()),
        }
    }

    /// Drops the pauses of holders that begin with `start`.
    pub fn forget(&self, start: &str) {
        lock(&self.all).retain(|holder, _| !holder.starts_with(start));
    }
}

/// Begins a pause, unless it or a longer one is known. One of the future does not begin yet (docs/design/replicas.md).
fn begin(all: &mut All, pause: Pause, now: Moment) {
    let Pause { holder, since, until } = pause;
    let end = now.end_of(since, until - since);
    let is_news = |known: &Known| known.until != until && known.end.left(now) < end.left(now);
    if since <= now.wall() && all.get(&holder).is_none_or(is_news) {
        all.insert(holder, Known { until, end });
    }
}

fn lock(all: &Mutex<All>) -> MutexGuard<'_, All> {
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The seconds that a holder still waits.
    fn left(pauses: &Pauses) -> u64 {
        match pauses.check("holder") {
            Err(SeoError::RateLimited { retry_after }) => retry_after,
            _ => 0,
        }
    }

    #[test]
    fn a_clock_that_is_set_neither_lengthens_a_pause_nor_voids_it() {
        // Seconds: those that pass before a jump, the jump, those that pass after it, and what is left of a pause of a minute.
        for (before, jump, after, expected) in [
            (0, 0, 59, 1),
            (0, 0, 60, 0),
            (0, -2, 0, 60),
            (30, -2, 0, 30),
            (30, -7_200, 29, 1),
            (30, -7_200, 30, 0),
            (30, 20, 0, 10),
            (30, 7_200, 0, 0),
        ] {
            let (clock, hand) = Clock::manual(DateTime::UNIX_EPOCH + TimeDelta::days(20_000));
            let pauses = Pauses::sharing(None, clock.clone());
            let (since, minute) = (clock.now(), TimeDelta::minutes(1));
            pauses.begin("holder".to_owned(), minute);
            hand.advance(TimeDelta::seconds(before));
            hand.set(TimeDelta::seconds(jump));
            hand.advance(TimeDelta::seconds(after));
            let case = format!("{before} {jump} {after}");
            assert_eq!(left(&pauses), expected, "{case}");
            // Its own pause comes back.
            let own = Pause { holder: "holder".to_owned(), since, until: since + minute };
            begin(&mut lock(&pauses.all), own, clock.moment());
            assert_eq!(left(&pauses), expected, "{case}");
        }
    }

    #[test]
    fn a_pause_of_another_replica_ends_with_it() {
        let (clock, hand) = Clock::manual(DateTime::UNIX_EPOCH + TimeDelta::days(20_000));
        let pauses = Pauses::sharing(None, clock.clone());
        let receive = |since: DateTime<Utc>, until: i64| {
            let until = clock.now() + TimeDelta::seconds(until);
            begin(&mut lock(&pauses.all), Pause { holder: "holder".to_owned(), since, until }, clock.moment());
        };
        receive(clock.now() - TimeDelta::seconds(20), 40);
        assert_eq!(left(&pauses), 40);
        receive(clock.now(), 10);
        assert_eq!(left(&pauses), 40, "a longer one is known");
        receive(DateTime::UNIX_EPOCH, 50);
        assert_eq!(left(&pauses), 50, "a replica of an earlier version does not say since when");
        hand.advance(TimeDelta::seconds(50));
        assert_eq!(left(&pauses), 0);
        receive(clock.now() + TimeDelta::seconds(1), 61);
        assert_eq!(left(&pauses), 0, "it has not begun yet");
    }
}
