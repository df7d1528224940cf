//! Decides whether Redis is asked at all. It opens when Redis fails or is slow, and lets one call through from time to time to see
//! whether it is back.

use std::{collections::VecDeque, time::Duration};

use tokio::time::Instant;

/// So many failures within [`FAILING`] open the breaker.
const FAILURES: usize = 5;
const FAILING: Duration = Duration::from_secs(1);

/// The breaker also opens when half of so many calls took longer than [`SLOW`].
const CALLS: usize = 50;
const SLOW: Duration = Duration::from_millis(50);

/// The time for which it stays open. It doubles with each probe that fails.
const FIRST: Duration = Duration::from_secs(1);
const LONGEST: Duration = Duration::from_secs(15);

/// The state of a breaker. Time is an argument.
#[derive(Debug)]
pub struct Breaker {
    state: State,
    failed_at: VecDeque<Instant>,
    /// The last calls. True means slow.
    slow: VecDeque<bool>,
    /// The time for which it opens next.
    pause: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    /// Open, until a probe may be made.
    Open {
        until: Instant,
    },
    /// Open, while one call is under way to see whether Redis is back. A probe that is never heard of again ends at this time.
    Probing {
        until: Instant,
    },
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Redis answered after this time.
    Answered(Duration),
    /// Redis did not answer, or refused what it usually does.
    Failed,
}

impl Default for Breaker {
    fn default() -> Self {
        Self { state: State::Closed, failed_at: VecDeque::new(), slow: VecDeque::new(), pause: FIRST }
    }
}

impl Breaker {
    /// Returns whether a call may be made. While the breaker is open that is true for one call at a time, the probe.
    pub fn admits(&mut self, now: Instant) -> bool {
        match self.state {
            State::Closed => true,
            State::Open { until } | State::Probing { until } if now < until => false,
            State::Open { .. } | State::Probing { .. } => {
                self.state = State::Probing { until: now + self.pause };
                true
            }
        }
    }

    /// Notes the outcome of a call. Returns true if that opened or closed the breaker.
    pub fn note(&mut self, outcome: Outcome, now: Instant) -> bool {
        match (self.state, outcome) {
            (State::Closed, Outcome::Answered(took)) => {
                self.slow.push_back(took > SLOW);
                if self.slow.len() < CALLS {
                    return false;
                }
                let slow = self.slow.iter().filter(|slow| **slow).count();
                self.slow.pop_front();
                slow * 2 >= CALLS && self.open(now)
            }
            (State::Closed, Outcome::Failed) => {
                self.failed_at.push_back(now);
                self.failed_at.retain(|failed_at| now - *failed_at < FAILING);
                self.failed_at.len() >= FAILURES && self.open(now)
            }
            (State::Probing { .. }, Outcome::Answered(took)) if took <= SLOW => {
                *self = Self::default();
                true
            }
            (State::Probing { .. }, _) => {
                self.pause = (self.pause * 2).min(LONGEST);
                self.state = State::Open { until: now + self.pause };
                false
            }
            // A call that began before it opened tells nothing new.
            (State::Open { .. }, _) => false,
        }
    }

    /// Returns whether calls go through.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    fn open(&mut self, now: Instant) -> bool {
        self.failed_at.clear();
        self.slow.clear();
        self.pause = FIRST;
        self.state = State::Open { until: now + FIRST };
        true
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FAST: Outcome = Outcome::Answered(Duration::from_millis(1));

    fn opened(now: Instant) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..FAILURES {
            assert!(breaker.admits(now));
            breaker.note(Outcome::Failed, now);
        }
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it_and_scattered_ones_do_not() {
        let now = Instant::now();
        assert!(!opened(now).admits(now));
        let mut breaker = Breaker::default();
        for number in 0..100 {
            breaker.note(Outcome::Failed, now + FAILING / 4 * number);
        }
        assert!(breaker.is_closed());
    }

    #[test]
    fn half_of_the_calls_being_slow_opens_it() {
        let (now, slow) = (Instant::now(), Outcome::Answered(SLOW * 2));
        let mut breaker = Breaker::default();
        for number in 0..CALLS - 1 {
            assert!(!breaker.note(if number % 2 == 0 { slow } else { FAST }, now));
        }
        assert!(breaker.note(slow, now) && !breaker.admits(now));
    }

    #[test]
    fn one_probe_at_a_time_closes_it_or_doubles_the_pause() {
        let now = Instant::now();
        let mut breaker = opened(now);
        let mut at = now + FIRST;
        for pause in [2, 4, 8, 15, 15] {
            assert!(breaker.admits(at) && !breaker.admits(at));
            breaker.note(Outcome::Failed, at);
            let pause = Duration::from_secs(pause);
            assert!(!breaker.admits(at + pause - Duration::from_millis(1)));
            at += pause;
        }
        assert!(breaker.admits(at));
        assert!(breaker.note(FAST, at) && breaker.is_closed());
        assert!(!breaker.note(Outcome::Failed, at), "it begins anew");
    }

    #[test]
    fn a_probe_that_is_never_heard_of_again_is_followed_by_another() {
        let now = Instant::now();
        let mut breaker = opened(now);
        assert!(breaker.admits(now + FIRST) && breaker.admits(now + FIRST * 2));
    }

    proptest! {
        /// At most one call in each pause goes to a Redis that never answers, so a caller rarely waits for it.
        #[test]
        fn a_dead_redis_is_asked_rarely(steps in prop::collection::vec(0_u64..400, 1..400)) {
            let begun = Instant::now();
            let (mut now, mut breaker, mut asked) = (begun, Breaker::default(), 0);
            for step in steps {
                now += Duration::from_millis(step);
                if breaker.admits(now) {
                    asked += 1;
                    breaker.note(Outcome::Failed, now);
                }
            }
            let seconds = usize::try_from((now - begun).as_secs()).unwrap();
            // Before it opens, fewer than five failures fall into each second.
            prop_assert!(asked <= FAILURES * (1 + seconds.min(120)), "{asked} in {seconds} s");
        }
    }
}
