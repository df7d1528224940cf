//! The gates before the search engine. It counts by site, by account and in total, so a request passes all gates at once or none.
//! No request holds capacity at one gate while it waits for another.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use tokio::time::Instant;
use uuid::Uuid;

use super::{
    super::wire::SiteUrl,
    Lane, Pace,
    bucket::{Bucket, Speed},
};

/// All readers of share links together get this fraction (1/n) of the requests in flight. Even this share answers a
/// dashboard in four rounds.
pub const SHARED_IN_FLIGHT: u32 = 4;

/// They get this fraction (1/n) of the rate and of the burst. It is larger than their share of the requests in flight,
/// because it matters only when responses are fast.
pub const SHARED_SPEED: u32 = 2;

const MINUTE: Duration = Duration::from_mins(1);
const DAY: Duration = Duration::from_hours(24);

/// The number of an account's last requests that a person's share is taken of. It is odd, so only one person has more than half.
pub const RECENT: usize = 15;

/// Time between two sweeps, which drop unused gates.
const SWEEP: Duration = Duration::from_mins(1);

/// The gates that a request passes. Requests with the same way pass the same gates.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Way {
    /// The account of the request.
    pub account: Uuid,
    /// The site of the request.
    pub site: SiteUrl,
    /// The lane of the request.
    pub lane: Lane,
    /// The person of the request.
    pub person: Option<Uuid>,
}

#[derive(Debug, PartialEq, Eq, Hash)]
enum Key {
    Site(SiteUrl),
    Account(Uuid),
}

/// A bucket and the number of its requests in flight.
#[derive(Debug)]
struct Counter {
    bucket: Bucket,
    in_flight: u32,
    max_in_flight: u32,
}

impl Counter {
    fn new(pace: Pace, now: Instant) -> Self {
        let at_least_one = |n: u32| f64::from(n.max(1));
        let most = Speed { burst: at_least_one(pace.bucket), per_second: at_least_one(pace.refill_per_second) };
        Self { bucket: Bucket::new(most, now), in_flight: 0, max_in_flight: pace.max_in_flight.max(1) }
    }

    /// Returns the earliest time at which a request may pass, or `None` if one in flight must end first.
    fn opens_at(&self, now: Instant) -> Option<Instant> {
        (self.in_flight < self.max_in_flight).then(|| self.bucket.opens_at(now))
    }

    fn is_idle(&self, now: Instant) -> bool {
        self.in_flight == 0 && self.bucket.is_idle(now)
    }
}

/// The gate of a site or an account. Requests for readers of share links are counted twice: among all requests, and among
/// their own.
#[derive(Debug)]
struct Gate {
    all: Counter,
    shared: Counter,
    /// The persons of an account's last requests.
    persons: VecDeque<Option<Uuid>>,
}

impl Gate {
    fn new(pace: Pace, now: Instant) -> Self {
        let part = Pace {
            quota: pace.quota,
            max_in_flight: pace.max_in_flight / SHARED_IN_FLIGHT,
            bucket: pace.bucket / SHARED_SPEED,
            refill_per_second: pace.refill_per_second / SHARED_SPEED,
        };
        Self { all: Counter::new(pace, now), shared: Counter::new(part, now), persons: VecDeque::new() }
    }

    fn used_up(pace: Pace, at: Instant) -> Self {
        let mut gate = Self::new(pace, at);
        gate.use_up(at);
        gate
    }

    fn note_person(&mut self, person: Option<Uuid>) {
        self.persons.truncate(RECENT - 1);
        self.persons.push_front(person);
    }

    fn use_up(&mut self, at: Instant) {
        self.all.bucket.use_up(at);
        self.shared.bucket.use_up(at);
    }
}

/// The gates of all sites and accounts that were used recently, and of the service's own quota.
#[derive(Debug)]
pub struct Gates {
    pace: Pace,
    /// The quotas of a minute and of a day, once there was a request.
    quotas: Option<[Bucket; 2]>,
    known: HashMap<Key, Gate>,
    swept_at: Option<Instant>,
    /// When the bursts of all sites and accounts were used up elsewhere.
    used_up_at: Option<Instant>,
}

impl Gates {
    /// Creates an empty set of gates.
    pub fn new(pace: Pace) -> Self {
        Self { pace, quotas: None, known: HashMap::new(), swept_at: None, used_up_at: None }
    }

    /// Records that the bursts of all sites and accounts were used up elsewhere at `at`.
    pub fn use_up(&mut self, at: Instant) {
        self.used_up_at = Some(at);
        self.known.values_mut().for_each(|gate| gate.use_up(at));
    }

    /// Returns the earliest time, from `now` on, at which a request may pass, or `None` if one in flight must end first.
    pub fn opens_at(&mut self, way: &Way, now: Instant) -> Option<Instant> {
        let mut opens_at = Some(now);
        self.each(way, now, |counter| opens_at = opens_at.zip(counter.opens_at(now)).map(|(a, b)| a.max(b)));
        let quotas = self.quotas_open_at(now);
        opens_at.map(|opens_at| opens_at.max(quotas))
    }

    /// Returns the earliest time, from `now` on, at which the quotas of all requests together let one pass.
    pub fn quotas_open_at(&mut self, now: Instant) -> Instant {
        self.quotas(now).iter().map(|quota| quota.opens_at(now)).fold(now, Instant::max)
    }

    /// Returns the earliest time at which a request may pass after those on the ways `ahead`, with their numbers, and the earliest at which the
    /// quotas of all requests together let it pass. Requests in flight may hold it up for longer.
    pub fn turn(&mut self, way: &Way, ahead: &[(&Way, u32)], now: Instant) -> (Instant, Instant) {
        let is_shared = way.lane == Lane::Shared;
        // Readers of share links have a bucket of their own, which other requests do not fill.
        let counted = || ahead.iter().filter(|(other, _)| !is_shared || other.lane == Lane::Shared);
        let at_site = counted().filter(|(other, _)| other.site == way.site).map(|(_, number)| number).sum();
        let in_account = counted().filter(|(other, _)| other.account == way.account).map(|(_, number)| number).sum();
        let mut turn = now;
        for (key, before) in [(Key::Site(way.site.clone()), at_site), (Key::Account(way.account), in_account)] {
            if let Some(gate) = self.known.get(&key) {
                let own = if is_shared { &gate.shared } else { &gate.all };
                turn = turn.max(own.bucket.opens_after(before, now));
            }
        }
        let all = ahead.iter().map(|(_, number)| number).sum();
        let quotas = self.quotas(now).iter().map(|quota| quota.opens_after(all, now)).fold(now, Instant::max);
        (turn.max(quotas), quotas)
    }

    /// Returns the earliest time, from `now` on, at which an account lets a request in `lane` pass after `before` others.
    pub fn account_opens_at(&self, account: Uuid, lane: Lane, before: u32, now: Instant) -> Instant {
        let Some(gate) = self.known.get(&Key::Account(account)) else { return now };
        let bucket = if lane == Lane::Shared { &gate.shared.bucket } else { &gate.all.bucket };
        bucket.opens_at(now).max(bucket.opens_after(before, now))
    }

    /// Returns the share of the burst that is used up, of the account and the site with the largest share, and of the quotas.
    pub fn used(&mut self, now: Instant) -> [(&'static str, f64); 4] {
        let (mut account, mut site) = (0.0_f64, 0.0_f64);
        for (key, gate) in &self.known {
            let most = if matches!(key, Key::Account(_)) { &mut account } else { &mut site };
            *most = most.max(gate.all.bucket.used(now));
        }
        let [minute, day] = self.quotas(now).each_ref().map(|quota| quota.used(now));
        [("account", account), ("site", site), ("minute", minute), ("day", day)]
    }

    /// Records that a request passes.
    pub fn enter(&mut self, way: &Way, now: Instant) {
        self.each(way, now, |counter| {
            counter.bucket.pour(now);
            counter.in_flight += 1;
        });
        self.quotas(now).iter_mut().for_each(|quota| quota.pour(now));
        if let Some(gate) = self.known.get_mut(&Key::Account(way.account)) {
            gate.note_person(way.person);
        }
        if self.swept_at.is_none_or(|swept_at| now >= swept_at + SWEEP) {
            self.swept_at = Some(now);
            self.known.retain(|_, gate| !(gate.all.is_idle(now) && gate.shared.is_idle(now)));
        }
    }

    /// Returns whether the person has more than half of the account's last requests.
    pub fn has_half(&self, way: &Way) -> bool {
        let gate = self.known.get(&Key::Account(way.account)).filter(|_| way.person.is_some());
        gate.is_some_and(|gate| gate.persons.iter().filter(|person| **person == way.person).count() > RECENT / 2)
    }

    /// Records that a request ended.
    pub fn leave(&mut self, way: &Way, now: Instant) {
        self.each(way, now, |counter| counter.in_flight = counter.in_flight.saturating_sub(1));
    }

    /// Records the success of a request that started at `started`.
    pub fn accepted(&mut self, way: &Way, started: Instant, now: Instant) {
        self.each(way, now, |counter| counter.bucket.accepted(started, now));
    }

    /// Records the quota refusal of a request that started at `started`. The search engine rarely says whether the site's or
    /// the account's quota is used up, so both slow down. Returns whether that halved a speed.
    pub fn refused(&mut self, way: &Way, started: Instant, now: Instant) -> bool {
        let mut halved = false;
        self.each(way, now, |counter| halved |= counter.bucket.refused(started, now));
        halved
    }

    /// The lowest of the speeds along the way.
    pub fn speed(&mut self, way: &Way, now: Instant) -> Speed {
        let mut slowest = Speed { burst: f64::INFINITY, per_second: f64::INFINITY };
        self.each(way, now, |counter| {
            let speed = counter.bucket.speed();
            slowest =
                Speed { burst: slowest.burst.min(speed.burst), per_second: slowest.per_second.min(speed.per_second) };
        });
        slowest
    }

    /// The number of gates.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    fn quotas(&mut self, now: Instant) -> &mut [Bucket; 2] {
        let quota = self.pace.quota;
        self.quotas.get_or_insert_with(|| {
            [(quota.per_minute, MINUTE), (quota.per_day, DAY)].map(|(most, period)| Bucket::of_quota(most, period, now))
        })
    }

    /// Visits the counters of a way. Requests in flight are limited by site only.
    fn each(&mut self, way: &Way, now: Instant, mut visit: impl FnMut(&mut Counter)) {
        let of_account = Pace { max_in_flight: u32::MAX, ..self.pace };
        for (key, pace) in [(Key::Site(way.site.clone()), self.pace), (Key::Account(way.account), of_account)] {
            let new = || self.used_up_at.map_or_else(|| Gate::new(pace, now), |at| Gate::used_up(pace, at));
            let gate = self.known.entry(key).or_insert_with(new);
            visit(&mut gate.all);
            if way.lane == Lane::Shared {
                visit(&mut gate.shared);
            }
        }
    }
}
