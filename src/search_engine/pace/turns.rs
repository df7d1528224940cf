//! The order in which requests start where there is no room for all: first those of the question that is through soonest, which is the
//! small one. A question that waits moves up with time, so that none is passed over for ever.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    Pace, Question,
    gates::{Gates, Way},
};

/// A large question lets those pass that come no later than this after it.
const LONGEST_COURTESY: Duration = Duration::from_secs(5);

/// The name of a request that waits.
pub type Ticket = u64;

/// Questions that wait for the same gates; one that waits for nothing is not here.
type Line<W> = Vec<Waiting<W>>;

/// A question's requests that wait, the oldest first.
struct Waiting<W> {
    question: Question,
    requests: VecDeque<Request<W>>,
}

/// A request that waits since `since`.
struct Request<W> {
    ticket: Ticket,
    since: Instant,
    wake: W,
}

/// Requests that wait, and the gates that they wait for. `W` is what tells whoever made a request that it has started.
pub struct Turns<W> {
    gates: Gates,
    /// Time in which one request starts at full speed.
    interval: Duration,
    lines: HashMap<Way, Line<W>>,
    next: Ticket,
}

impl<W> Turns<W> {
    /// Nobody waits.
    pub fn new(pace: Pace) -> Self {
        let interval = Duration::from_secs(1) / pace.refill_per_second.max(1);
        Self { gates: Gates::new(pace), interval, lines: HashMap::new(), next: 0 }
    }

    /// Puts a request into line. It starts with the next [`Self::start`] that it has room in.
    pub fn ask(&mut self, way: &Way, question: Question, wake: W, now: Instant) -> Ticket {
        let ticket = self.next;
        self.next += 1;
        let request = Request { ticket, since: now, wake };
        let line = self.lines.entry(way.clone()).or_default();
        match line.iter_mut().find(|waiting| waiting.question == question) {
            Some(waiting) => waiting.requests.push_back(request),
            None => line.push(Waiting { question, requests: VecDeque::from([request]) }),
        }
        ticket
    }

    /// Takes a request out of line. Says whether it was there: otherwise it has started.
    pub fn give_up(&mut self, way: &Way, ticket: Ticket) -> bool {
        let Some(line) = self.lines.get_mut(way) else { return false };
        let waits = |waiting: &Waiting<W>| waiting.requests.iter().position(|request| request.ticket == ticket);
        let Some((question, request)) = (0..).zip(line.iter()).find_map(|(at, waiting)| Some((at, waits(waiting)?)))
        else {
            return false;
        };
        self.take(way, question, request);
        true
    }

    /// Starts every request that has room, and answers whom to wake.
    pub fn start(&mut self, now: Instant) -> Vec<W> {
        let mut started = Vec::new();
        while let Some((way, question)) = self.first(now) {
            self.gates.enter(&way, now);
            started.extend(self.take(&way, question, 0));
        }
        started
    }

    /// When the next request that waits has room; none where nobody waits, or one that is under way must end first.
    pub fn next_opening(&mut self, now: Instant) -> Option<Instant> {
        self.lines.keys().filter_map(|way| self.gates.opens_at(way, now)).min()
    }

    /// The gates.
    pub fn gates(&mut self) -> &mut Gates {
        &mut self.gates
    }

    /// The line and the place in it of the question that is through soonest, of those whose gates are open. Were only its own requests
    /// to start from the moment on when its oldest was made, at full speed, that would be the end of them.
    fn first(&mut self, now: Instant) -> Option<(Way, usize)> {
        let (gates, interval) = (&mut self.gates, self.interval);
        let open = self.lines.iter().filter(|(way, _)| gates.opens_at(way, now) == Some(now));
        let questions = open.flat_map(|(way, line)| (0..).zip(line).map(move |(at, waiting)| (way, at, waiting)));
        let through = |waiting: &Waiting<W>| {
            let oldest = waiting.requests.front()?;
            let size = u32::try_from(waiting.requests.len()).unwrap_or(u32::MAX);
            Some((oldest.since + interval.saturating_mul(size).min(LONGEST_COURTESY), oldest.ticket))
        };
        let (way, at, _) = questions.min_by_key(|(_, _, waiting)| through(waiting))?;
        Some((way.clone(), at))
    }

    /// Removes a request, with its question and its line where they have no more.
    fn take(&mut self, way: &Way, question: usize, request: usize) -> Option<W> {
        let line = self.lines.get_mut(way)?;
        let waiting = line.get_mut(question)?;
        let taken = waiting.requests.remove(request);
        if waiting.requests.is_empty() {
            line.remove(question);
        }
        if line.is_empty() {
            self.lines.remove(way);
        }
        taken.map(|request| request.wake)
    }
}
