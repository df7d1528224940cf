//! The pace of all replicas together. A request passes here after its turn in this process.
//!
//! With Redis, the gates of all replicas decide. Without it, each replica has its part of the pace.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use shared::{Entry, Gate, Gates as SharedGates, Most, Passed};
use tokio::time::{Instant, sleep, sleep_until};

use super::{
    Lane, Pace, TooLate,
    bucket::START,
    gates::{Gates, SHARED_IN_FLIGHT, SHARED_SPEED, Way},
};

/// The pause before a request asks again where one in flight must end first.
const FULL: Duration = Duration::from_millis(40);

/// The longest pause before a request asks again.
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

    /// Waits until a request may start.
    ///
    /// # Errors
    /// People would wait until after `deadline`.
    pub async fn pass(&self, way: &Way, deadline: Instant) -> Result<PassedTogether, TooLate> {
        loop {
            let entry = self.shared.enter(self.gates(way)).await;
            if entry.is_some() {
                self.part().together_at = Some(Instant::now());
            }
            match entry {
                Some(Entry::Passed(passed, wait)) => {
                    sleep(wait).await;
                    return Ok(PassedTogether::Shared(passed));
                }
                Some(Entry::Wait(wait)) if !way.lane.is_background() && Instant::now() + wait > deadline => {
                    // An account and a site let the next request pass within seconds.
                    return Err(TooLate { retry_after: wait, of_quota: true });
                }
                Some(Entry::Wait(wait)) => sleep(wait.min(LONGEST)).await,
                Some(Entry::Full) => sleep(FULL).await,
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

    /// The gates on a way: those of the account and of the service, and last the site's, whose places in flight are held longest.
    fn gates(&self, way: &Way) -> Vec<Gate> {
        let at_least_one = |number: u32| f64::from(number.max(1));
        let most = |by: u32| Most {
            burst: at_least_one(self.pace.bucket / by),
            per_second: at_least_one(self.pace.refill_per_second / by),
        };
        let is_shared = way.lane == Lane::Shared;
        let mut buckets = vec![("all", most(1))];
        let mut in_flight = vec![("flight", self.pace.max_in_flight.max(1))];
        if is_shared {
            buckets.push(("shared", most(SHARED_SPEED)));
            in_flight.push(("shared-flight", (self.pace.max_in_flight / SHARED_IN_FLIGHT).max(1)));
        }
        let quota = |most: u32, seconds: f64| {
            let burst = (f64::from(most) / 6.0).max(1.0);
            Most { burst, per_second: (f64::from(most) - burst).max(1.0) / seconds }
        };
        let quotas = vec![
            ("minute", quota(self.pace.quota.per_minute, 60.0)),
            ("day", quota(self.pace.quota.per_day, 86_400.0)),
        ];
        vec![
            Gate {
                of: format!("account {}", way.account),
                buckets: buckets.clone(),
                begins_with: START,
                in_flight: Vec::new(),
            },
            Gate { of: "service".to_owned(), buckets: quotas, begins_with: 1.0, in_flight: Vec::new() },
            Gate { of: format!("site {}", way.site), buckets, begins_with: START, in_flight },
        ]
    }
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
    use crate::{pace::Quota, wire::SiteUrl};

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
        let way = Way { account: Uuid::nil(), site: SiteUrl("sc-domain:a.example".to_owned()), lane: Lane::Own };
        assert_eq!(Gates::new(third).opens_at(&way, Instant::now()).map(|at| at <= Instant::now()), Some(true));
    }
}
