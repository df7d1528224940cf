//! The pace by a clock that these tests set themselves, and by the runtime's.

mod fairness;
mod line;
mod minute;
mod speed;

use std::time::Duration;

use super::{
    gates::Gates,
    turns::{Ticket, Turns},
    *,
};

/// The default pace starts at so many requests in a burst.
const FIRST_BURST: usize = 30;

/// A queue whose requests are known by a number, and the time that it is told.
struct Sim {
    turns: Turns<usize>,
    now: Instant,
    asked: usize,
}

impl Sim {
    fn new() -> Self {
        Self { turns: Turns::new(Pace::default()), now: Instant::now(), asked: 0 }
    }

    /// One whose requests in flight are not bounded.
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

    /// Puts `count` requests of a question into line.
    fn ask(&mut self, way: &Way, question: Question, count: usize) -> Vec<Ticket> {
        let ask = |_| {
            self.asked += 1;
            self.turns.ask(way, question, self.asked - 1, self.now)
        };
        (0..count).map(ask).collect()
    }

    /// The numbers of the requests that start now.
    fn start(&mut self) -> Vec<usize> {
        self.turns.start(self.now)
    }

    /// Waits until the next request has room, and starts it.
    fn start_next(&mut self) -> Vec<usize> {
        self.now = self.turns.next_opening(self.now).expect("time alone opens no gate");
        self.start()
    }

    /// Asks a new question of `count` requests, and says how many of them start at once.
    fn burst(&mut self, way: &Way, count: usize) -> usize {
        self.ask(way, Question::unique(), count);
        self.start().len()
    }

    /// Ends `count` requests that started at `started`: the search engine answered them.
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

/// A way of an account to a site.
fn way(account: u128, site: &str, lane: Lane) -> Way {
    Way { account: Uuid::from_u128(account), site: SiteUrl(format!("sc-domain:{site}.test")), lane }
}

fn own() -> Way {
    way(1, "a", Lane::Own)
}

const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}
