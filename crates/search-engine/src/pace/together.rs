//! The pace of all replicas together. A request passes here after its turn in this process.
//!
//! With Redis, the gates of all replicas decide. Without it, each replica has its part of the pace.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use replicas::{Entry, Gate, Gates as SharedGates, Most, Passed};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    Lane, Pace, Quota, TooLate,
    bucket::START,
    gates::{Gates, SHARED_IN_FLIGHT, SHARED_SPEED, Way},
};

/// The gate of all requests together.
const SERVICE: &str = "service";

/// The pause before a request asks this replica's part again where one in flight must end first.
const FULL: Duration = Duration::from_millis(40);

/// The longest pause before a request asks this replica's part again.
const LONGEST: Duration = Duration::from_secs(1);

/// The pace of all replicas.
#[derive(Clone)]
pub struct Together {
    shared: SharedGates,
    pace: Pace,
    /// This replica's part of the pace, for the time without Redis.
    part: Arc<Mutex<Part>>,
}

/// A part of the pace.
struct Part {
    gates: Gates,
    of: u32,
    /// The last time at which the gates of all replicas decided, if they have decided since the part did.
    together_at: Option<Instant>,
}

/// A request that has passed.
pub enum PassedTogether {
    /// The gates of all replicas.
    Shared(Passed),
    /// The part of this one.
    Part { together: Together, way: Way },
}

impl Together {
    /// The pace of all replicas that share `shared`.
    pub fn new(shared: SharedGates, pace: Pace) -> Self {
        let part = Part { gates: Gates::new(pace), of: 1, together_at: None };
        Self { shared, pace, part: Arc::new(Mutex::new(part)) }
    }

    /// Waits until a request that was made at `since` may start.
    ///
    /// # Errors
    /// People would wait until after `deadline`.
    pub async fn pass(&self, way: &Way, since: Instant, deadline: Instant) -> Result<PassedTogether, TooLate> {
        let mut waiting = self.shared.line_up(self.gates(way));
        loop {
            // A request that came earlier at any replica is before this one. The background yields.
            let (yields, waited) = (micros(way.lane.courtesy()), micros(since.elapsed()));
            let entry = waiting.enter(yields - waited).await;
            if entry.is_some() {
                self.part().together_at = Some(Instant::now());
            }
            match entry {
                Some(Entry::Passed(passed, wait)) => {
                    sleep(wait).await;
                    return Ok(PassedTogether::Shared(passed));
                }
                Some(Entry::Wait(turn, again)) => {
                    // The speed of an account and of a site may grow.
                    let is_too_late = waiting.first() == Some(SERVICE) && Instant::now() + turn > deadline;
                    if is_too_late && !way.lane.is_background() {
                        return Err(TooLate { retry_after: turn, of_quota: true });
                    }
                    sleep(again).await;
                }
                Some(Entry::Full(again)) => sleep(again).await,
                None => match self.pass_alone(way) {
                    None => return Ok(PassedTogether::Part { together: self.clone(), way: way.clone() }),
                    Some(at) => sleep_until(at).await,
                },
            }
        }
    }

    /// Passes this replica's part, or returns when to ask again. The part has no burst of its own: the replicas may have used up the
    /// common one just before Redis was lost.
    fn pass_alone(&self, way: &Way) -> Option<Instant> {
        let (now, replicas) = (Instant::now(), self.shared.replicas());
        let mut part = self.part();
        if part.of != replicas {
            part.gates = Gates::new(self.pace.divided_by(replicas));
            part.of = replicas;
            part.gates.use_up(now);
        }
        if let Some(at) = part.together_at.take() {
            part.gates.use_up(at);
        }
        match part.gates.opens_at(way, now) {
            Some(at) if at <= now => {
                part.gates.enter(way, now);
                None
            }
            Some(at) => Some(at.min(now + LONGEST)),
            None => Some(now + FULL),
        }
    }

    fn part(&self) -> MutexGuard<'_, Part> {
        self.part.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The gates on a way: those of the account and of the service, and last the site's, whose places in flight are held longest. Readers of
    /// share links pass gates of their own before, so that they wait in no line of others for what only they must wait for.
    fn gates(&self, way: &Way) -> Vec<Gate> {
        let most = |by: u32| Most {
            burst: at_least_one(self.pace.bucket / by),
            per_second: at_least_one(self.pace.refill_per_second / by),
        };
        let gate = |of: String, by: u32, in_flight: Option<u32>| Gate {
            of,
            buckets: vec![("all", most(by))],
            begins_with: START,
            in_flight: in_flight.map(|most| ("flight", most.max(1))).into_iter().collect(),
            person: None,
        };
        let (account, site) = (format!("account {}", way.account), format!("site {}", way.site));
        let of_readers = |of: &str, in_flight| gate(format!("{of} of readers"), SHARED_SPEED, in_flight);
        let is_shared = way.lane == Lane::Shared;
        let max = self.pace.max_in_flight;
        let mut gates = Vec::new();
        if is_shared {
            gates.push(of_readers(&account, None));
        }
        gates.push(Gate { person: way.person.map(|person| person.to_string()), ..gate(account, 1, None) });
        gates.push(self.service());
        if is_shared {
            gates.push(of_readers(&site, Some(max / SHARED_IN_FLIGHT)));
        }
        gates.push(gate(site, 1, Some(max)));
        gates
    }

    fn service(&self) -> Gate {
        let quota = |most: u32, seconds: f64| {
            let burst = (f64::from(most) / 6.0).max(1.0);
            Most { burst, per_second: (f64::from(most) - burst).max(1.0) / seconds }
        };
        let Quota { per_minute, per_day } = self.pace.quota;
        let buckets = vec![("minute", quota(per_minute, 60.0)), ("day", quota(per_day, 86_400.0))];
        Gate { of: SERVICE.to_owned(), buckets, begins_with: 1.0, in_flight: Vec::new(), person: None }
    }
}

fn at_least_one(number: u32) -> f64 {
    f64::from(number.max(1))
}

fn micros(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}

impl PassedTogether {
    /// Notes a success, or a refusal for the quota. Returns at once.
    pub fn note(passed: &Arc<Self>, success: bool) {
        let Self::Shared(_) = &**passed else { return };
        let passed = passed.clone();
        tokio::spawn(async move {
            if let Self::Shared(passed) = &*passed {
                passed.note(success).await;
            }
        });
    }
}

impl Drop for PassedTogether {
    fn drop(&mut self) {
        if let Self::Part { together, way } = self {
            together.part().gates.leave(way, Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::wire::SiteUrl;

    #[test]
    fn a_part_of_the_pace_is_never_nothing() {
        let pace = Pace {
            max_in_flight: 16,
            bucket: 60,
            refill_per_second: 18,
            quota: Quota { per_minute: 36_000, per_day: 2 },
        };
        let third = pace.divided_by(3);
        assert_eq!((third.max_in_flight, third.bucket, third.refill_per_second), (5, 20, 6));
        assert_eq!(third.quota, Quota { per_minute: 12_000, per_day: 1 });
        assert_eq!(pace.divided_by(100).refill_per_second, 1);
        let site = SiteUrl("sc-domain:a.example".to_owned());
        let way = Way { account: Uuid::nil(), site, lane: Lane::Own, person: None };
        assert_eq!(Gates::new(third).opens_at(&way, Instant::now()).map(|at| at <= Instant::now()), Some(true));
    }
}
