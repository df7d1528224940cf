//! The order in which queued requests start. The question that will finish first goes first, which favours small questions. Slower lanes
//! yield to faster ones. Waiting raises a question's priority, so that none starves. A person who has started half of an account's recent
//! requests yields to others there.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use tokio::time::Instant;
use uuid::Uuid;

use super::{
    Lane, Pace, Question,
    gates::{Gates, RECENT, Way},
};

/// A large question yields only to questions that arrive at most this much later.
const LONGEST_COURTESY: Duration = Duration::from_secs(5);

/// The id of a queued request.
pub type Ticket = u64;

/// Questions that wait for the same gates. Questions without waiting requests are removed.
type Line<W> = Vec<Waiting<W>>;

/// The queued requests of a question, oldest first.
struct Waiting<W> {
    question: Question,
    requests: VecDeque<Request<W>>,
}

/// A request that has been queued since `since`.
struct Request<W> {
    ticket: Ticket,
    since: Instant,
    wake: W,
}

impl<W> Waiting<W> {
    fn size(&self) -> u32 {
        u32::try_from(self.requests.len()).unwrap_or(u32::MAX)
    }

    /// The estimated end: it assumes that only its own requests start, at full speed, from the time its oldest was queued.
    fn through(&self, way: &Way, interval: Duration) -> Option<Instant> {
        let courtesy = interval.saturating_mul(self.size()).min(LONGEST_COURTESY) + way.lane.courtesy();
        self.requests.front().map(|oldest| oldest.since + courtesy)
    }
}

/// Queued requests and their gates. `W` notifies the owner of a request that it has started.
pub struct Turns<W> {
    gates: Gates,
    /// Time per request at full speed.
    interval: Duration,
    lines: HashMap<Way, Line<W>>,
    next: Ticket,
}

impl<W> Turns<W> {
    /// Creates an empty queue.
    pub fn new(pace: Pace) -> Self {
        let interval = Duration::from_secs(1) / pace.refill_per_second.max(1);
        Self { gates: Gates::new(pace), interval, lines: HashMap::new(), next: 0 }
    }

    /// Queues a request. It starts at the next [`Self::start`] at which it fits.
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

    /// Returns the time at which a request of `question` would start if it were queued now and no other came after it, and the time at which
    /// the quotas of all requests together would let it.
    pub fn turn(&mut self, way: &Way, question: Question, now: Instant) -> (Instant, Instant) {
        let interval = self.interval;
        let of_question = |waiting: &&Waiting<W>| waiting.question == question;
        let own = self.lines.get(way).and_then(|line| line.iter().find(of_question));
        let own = own.and_then(|own| own.through(way, interval)).or(Some(now + interval + way.lane.courtesy()));
        let waiting = self.lines.iter().flat_map(|(other, line)| line.iter().map(move |waiting| (other, waiting)));
        let ahead = waiting.filter(|(other, waiting)| waiting.through(other, interval) <= own);
        let mut ahead: Vec<(&Way, u32)> = ahead.map(|(other, waiting)| (other, waiting.size())).collect();
        leave_out_yielding(&mut ahead, way);
        self.gates.turn(way, &ahead, now)
    }

    /// Returns the earliest time at which an account lets a request in `lane` pass after those of it that wait in this lane or a faster one.
    pub fn account_opens_at(&mut self, account: Uuid, lane: Lane, now: Instant) -> Instant {
        let ahead = self.lines.iter().filter(|(way, _)| way.account == account && way.lane <= lane);
        let before = ahead.flat_map(|(_, line)| line).map(Waiting::size).sum();
        self.gates.account_opens_at(account, lane, before, now)
    }

    /// Removes a request from the queue. Returns `false` if it has already started.
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

    /// Starts every request that fits, and returns the handles to wake.
    pub fn start(&mut self, now: Instant) -> Vec<W> {
        let mut started = Vec::new();
        while let Some((way, question)) = self.first(now) {
            self.gates.enter(&way, now);
            started.extend(self.take(&way, question, 0));
        }
        started
    }

    /// Returns the earliest time at which a queued request fits, or `None` if the queue is empty or a request in flight must
    /// end first.
    pub fn next_opening(&mut self, now: Instant) -> Option<Instant> {
        self.lines.keys().filter_map(|way| self.gates.opens_at(way, now)).min()
    }

    /// The gates of all requests.
    pub fn gates(&mut self) -> &mut Gates {
        &mut self.gates
    }

    /// Returns the line and index of the question that will finish first among questions with open gates whose persons need not yield.
    fn first(&mut self, now: Instant) -> Option<(Way, usize)> {
        let (gates, interval) = (&mut self.gates, self.interval);
        let open: Vec<_> = self.lines.iter().filter(|(way, _)| gates.opens_at(way, now) == Some(now)).collect();
        // Only one person has more than half, so the others that wait do not yield, too.
        let yields = |way: &Way| gates.has_half(way) && open.iter().any(|(other, _)| may_be_before(other, way));
        let ready = open.iter().filter(|(way, _)| !yields(way));
        let questions = ready.flat_map(|(way, line)| (0..).zip(*line).map(move |(at, waiting)| (*way, at, waiting)));
        let oldest = |waiting: &Waiting<W>| waiting.requests.front().map(|request| request.ticket);
        let (way, at, _) =
            questions.min_by_key(|(way, _, waiting)| (waiting.through(way, interval), oldest(waiting)))?;
        Some((way.clone(), at))
    }

    /// Removes a request, and its question and line if they are empty.
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

/// Returns whether a request on `way` yields to one on `other` if its person has started half of the account's requests.
fn may_be_before(other: &Way, way: &Way) -> bool {
    other.account == way.account && other.person != way.person && other.lane <= way.lane
}

/// Leaves out of those `ahead` of a request on `way` what one person has beyond half of its account.
fn leave_out_yielding(ahead: &mut [(&Way, u32)], way: &Way) {
    let mut of_persons = HashMap::<Uuid, u32>::new();
    for (other, number) in ahead.iter().filter(|(other, _)| may_be_before(way, other)) {
        if let Some(person) = other.person {
            *of_persons.entry(person).or_default() += number;
        }
    }
    let Some((most, number)) = of_persons.into_iter().max_by_key(|(_, number)| *number) else { return };
    let in_account = ahead.iter().filter(|(other, _)| other.account == way.account);
    let others = in_account.map(|(_, number)| number).sum::<u32>() - number;
    let mut left = others + u32::try_from(RECENT).unwrap_or_default().div_ceil(2);
    let yielding = ahead.iter_mut().filter(|(other, _)| may_be_before(way, other) && other.person == Some(most));
    for (_, number) in yielding {
        *number = left.min(*number);
        left -= *number;
    }
}
