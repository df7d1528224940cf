//! One breaker: whether a host, or a site at it, is asked at all. It opens after failures in a row, and lets one request through from time to
//! time to see whether the failures have ended. Time is an argument.

use std::time::Duration;

use chrono::TimeDelta;
use common::clock::Moment;

use super::super::wire::SiteUrl;

/// A breaker opens after so many failures in a row, if they took [`ROW`] or longer.
const FAILURES: usize = 5;
const ROW: TimeDelta = TimeDelta::seconds(1);

/// It opens after so many at once. Fewer of the requests that are in flight together may fail although others do not.
const AT_ONCE: usize = 12;

/// The time for which it stays open. It doubles with each probe that fails.
pub const FIRST_PAUSE: TimeDelta = TimeDelta::seconds(10);
const LONGEST_PAUSE: TimeDelta = TimeDelta::seconds(30);

/// The state of a breaker.
#[derive(Debug)]
pub struct Breaker {
    state: State,
    row: Row,
    /// It opens only if the row has failures of so many sites.
    sites: usize,
    pause: TimeDelta,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Closed,
    /// Open, until a probe may be sent.
    Open(Moment),
    /// Open, while a probe is under way.
    Probing,
}

/// The failures since the last answer.
#[derive(Debug, Default)]
struct Row {
    failures: usize,
    begun: Option<Moment>,
    /// The sites that failed, as far as they are counted. Each request without a site counts as another one.
    sites: Vec<Option<SiteUrl>>,
}

/// The admission of a request by breakers. The strictest of several counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Admission {
    /// It may be sent.
    Sent,
    /// It may be sent. Others wait for its outcome.
    Probe,
    /// It waits for the outcome of the probe.
    Waits,
    /// It is not sent. The next probe may be sent after this time.
    Refused(Duration),
}

impl Breaker {
    /// A closed breaker, which opens only if the failures in a row are those of so many sites.
    pub fn of(sites: usize) -> Self {
        Self { state: State::Closed, row: Row::default(), sites, pause: FIRST_PAUSE }
    }

    /// Returns what a request may do. It changes nothing before [`Self::begin_probe`].
    pub fn admission(&self, now: Moment) -> Admission {
        match self.state {
            State::Closed => Admission::Sent,
            State::Open(until) => until.left(now).map_or(Admission::Probe, Admission::Refused),
            State::Probing => Admission::Waits,
        }
    }

    /// Notes that a probe is sent.
    pub fn begin_probe(&mut self) {
        self.state = State::Probing;
    }

    /// Notes that the probe was given up, so the next request is one.
    pub fn end_probe(&mut self, now: Moment) {
        if self.state == State::Probing {
            self.state = State::Open(now);
        }
    }

    /// Notes an answer. Returns true if that closed the breaker.
    pub fn answered(&mut self) -> bool {
        let was_open = self.state != State::Closed;
        *self = Self::of(self.sites);
        was_open
    }

    /// Notes a failure. Returns the pause if the breaker is open from now on.
    pub fn failed(&mut self, is_probe: bool, site: Option<&SiteUrl>, now: Moment) -> Option<TimeDelta> {
        match self.state {
            State::Closed => {
                self.row.add(site, self.sites, now);
                if !self.row.is_long(self.sites, now) {
                    return None;
                }
            }
            State::Probing if is_probe => self.pause = (self.pause * 2).min(LONGEST_PAUSE),
            // It began before the breaker opened.
            State::Open(_) | State::Probing => return None,
        }
        self.row = Row::default();
        self.state = State::Open(now + self.pause);
        Some(self.pause)
    }
}

impl Row {
    fn add(&mut self, site: Option<&SiteUrl>, most: usize, now: Moment) {
        self.failures += 1;
        self.begun.get_or_insert(now);
        let is_another = site.is_none() || !self.sites.iter().any(|known| known.as_ref() == site);
        if is_another && self.sites.len() < most {
            self.sites.push(site.cloned());
        }
    }

    fn is_long(&self, sites: usize, now: Moment) -> bool {
        let lasts = self.begun.is_some_and(|begun| now.since(begun) >= ROW);
        self.sites.len() >= sites && (self.failures >= AT_ONCE || self.failures >= FAILURES && lasts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn start() -> Moment {
        Moment::starting_at("2026-11-21T12:00:00Z".parse().unwrap())
    }

    fn site(name: char) -> Option<SiteUrl> {
        (name != '-').then(|| SiteUrl(format!("sc-domain:{name}.test")))
    }

    /// Notes what a text says, a letter for each outcome: a failure of that site, of none (`-`), an answer (`+`), or a pause of a second (` `).
    fn noted(sites: usize, outcomes: &str) -> Breaker {
        let (mut breaker, mut now) = (Breaker::of(sites), start());
        for outcome in outcomes.chars() {
            match outcome {
                '+' => drop(breaker.answered()),
                ' ' => now = now + TimeDelta::seconds(1),
                name => drop(breaker.failed(false, site(name).as_ref(), now)),
            }
        }
        breaker
    }

    #[test]
    fn failures_in_a_row_open_it_and_those_of_few_sites_do_not_open_the_one_of_a_host() {
        let rows = [
            (1, "aaaa a", true),
            (1, "aaaaa", false),
            (1, "aaaaaaaaaaa", false),
            (1, "aaaaaaaaaaaa", true),
            (1, "aaa aaa", true),
            (1, "a   ", false),
            (1, "aaaa+ aaaa", false),
            (1, "a a+a a+a a+a a+a a+", false),
            (1, "aaaaaaaaaaaa+", false),
            (3, "aaaaaaaaaaaaaaa aaaaaaaaaaa", false),
            (3, "aaaaaaaaaaaaaaa bbbbbbbbbbb", false),
            (3, "aaaaaaaaaaaaaaabc", true),
            (3, "abc a", false),
            (3, "abcd a", true),
            (3, "aaaa -b", true),
            (3, "---- -", true),
            (3, "--aaaaaaaaaa", true),
            (3, "ab+c+ab+c+ab+ c+ab+c", false),
        ];
        for (sites, outcomes, opens) in rows {
            let is_open = noted(sites, outcomes).state != State::Closed;
            assert_eq!(is_open, opens, "{sites} sites: {outcomes}");
        }
    }

    #[test]
    fn one_probe_at_a_time_closes_it_or_doubles_the_pause_up_to_half_a_minute() {
        let mut breaker = noted(1, "aaaaaaaaaaaa");
        let mut now = start();
        for (seconds, next) in [(10, 20), (20, 30), (30, 30), (30, 30)] {
            assert_eq!(breaker.admission(now), Admission::Refused(Duration::from_secs(seconds)));
            now = now + TimeDelta::from_std(Duration::from_secs(seconds)).unwrap();
            assert_eq!(breaker.admission(now), Admission::Probe);
            breaker.begin_probe();
            assert_eq!(breaker.admission(now), Admission::Waits);
            assert_eq!(breaker.failed(false, None, now), None, "a request from before it opened");
            assert_eq!(breaker.failed(true, None, now), Some(TimeDelta::seconds(next)));
        }
        now = now + LONGEST_PAUSE;
        breaker.begin_probe();
        assert!(breaker.answered());
        let anew = (breaker.admission(now), breaker.row.failures, breaker.pause);
        assert_eq!(anew, (Admission::Sent, 0, FIRST_PAUSE));
    }

    #[test]
    fn a_probe_that_is_given_up_is_followed_by_another() {
        let mut breaker = noted(1, "aaaaaaaaaaaa");
        breaker.begin_probe();
        breaker.end_probe(start());
        assert_eq!(breaker.admission(start()), Admission::Probe);
    }
}
