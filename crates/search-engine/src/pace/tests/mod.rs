//! Tests of the pace with a simulated clock and with the runtime's clock.

mod fairness;
mod line;
mod minute;
mod persons;
mod replicas;
mod speed;

use std::time::Duration;

use super::{
    gates::Gates,
    turns::{Ticket, Turns},
    *,
};

/// The initial burst of the default pace.
const FIRST_BURST: usize = 30;

/// A queue with numbered requests and a simulated time.
struct Sim {
    turns: Turns<usize>,
    now: Instant,
    asked: usize,
}

impl Sim {
    fn new() -> Self {
        Self { turns: Turns::new(Pace::default()), now: Instant::now(), asked: 0 }
    }

    /// A queue without a limit on requests in flight.
    fn unbounded() -> Self {
        let pace = Pace { max_in_flight: u32::MAX, ..Pace::default() };
        Self { turns: Turns::new(pace), ..Self::new() }
    }

    fn gates(&mut self) -> &mut Gates {
        self.turns.gates()
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
    }

    /// Queues `count` requests of a question.
    fn ask(&mut self, way: &Way, question: Question, count: usize) -> Vec<Ticket> {
        let ask = |_| {
            self.asked += 1;
            self.turns.ask(way, question, self.asked - 1, self.now)
        };
        (0..count).map(ask).collect()
    }

    /// Starts the requests that fit now, and returns their numbers.
    fn start(&mut self) -> Vec<usize> {
        self.turns.start(self.now)
    }

    /// Advances to the time at which the next request fits, and starts it.
    fn start_next(&mut self) -> Vec<usize> {
        self.now = self.turns.next_opening(self.now).expect("time alone opens no gate");
        self.start()
    }

    /// Queues a new question of `count` requests, and returns how many of them start at once.
    fn burst(&mut self, way: &Way, count: usize) -> usize {
        self.ask(way, Question::unique(), count);
        self.start().len()
    }

    /// Ends `count` requests that started at `started`, with success.
    fn answer(&mut self, way: &Way, started: Instant, count: usize) {
        for _ in 0..count {
            let now = self.now;
            self.gates().accepted(way, started, now);
            self.gates().leave(way, now);
        }
    }

    fn burst_of(&mut self, way: &Way) -> f64 {
        let now = self.now;
        self.gates().speed(way, now).burst
    }
}

/// The way of an account to a site.
fn way(account: u128, site: &str, lane: Lane) -> Way {
    Way { account: Uuid::from_u128(account), site: SiteUrl(format!("sc-domain:{site}.test")), lane, person: None }
}

fn own() -> Way {
    way(1, "a", Lane::Own)
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}
