//! The versions of the API, and the breaking changes between them.
//!
//! The code inside speaks the newest version only. A [`Change`] brings what a client of an older version sends into the newest
//! shape, and brings the answer back into the shape that the client knows.

mod transform;

use std::fmt;

use chrono::{Days, NaiveDate};
use serde_json::Value;

use crate::{
    VERSION,
    operation::{self, Access, EtagKind},
};

/// The least number of days for which a version is served after the next one has come out.
pub const NOTICE_DAYS: u64 = 90;

/// The versions that are served, oldest first. The last one is [`VERSION`].
pub const RELEASES: &[Release] = &[Release { date: VERSION, sunset: None, changes: &[] }];

/// Edits the JSON of a body.
pub type Edit = fn(&mut Value);

/// Edits the names and values of a query.
pub type QueryEdit = fn(&mut Vec<(String, String)>);

/// A version of the API.
#[derive(Debug, Clone, Copy)]
pub struct Release {
    /// The day on which it came out, as in `X-API-Version`.
    pub date: &'static str,
    /// The day from which it may be refused, at least 90 days after the next version came out. `None` for the newest version.
    pub sunset: Option<&'static str>,
    /// The changes that broke clients of the version before.
    pub changes: &'static [Change],
}

/// A breaking change of some operations. A transform that is `None` leaves its part as it is.
#[derive(Debug, Clone, Copy)]
pub struct Change {
    /// The ids of the operations that it concerns.
    pub operations: &'static [&'static str],
    /// The sentence of the changelog: what changed, and what a client does about it.
    pub text: &'static str,
    /// Brings the query of the version before into this version's shape.
    pub query: Option<QueryEdit>,
    /// Brings the body of a request of the version before into this version's shape.
    pub request: Option<Edit>,
    /// Brings the body of a success into the shape of the version before.
    pub response: Option<Edit>,
    /// Brings the body of a 4xx into the terms of the version before, such as the field that its hint names. It sees every 4xx of
    /// the operations.
    pub refusal: Option<Edit>,
}

/// A version that is served, with its dates.
#[derive(Debug, Clone, Copy)]
pub struct Version {
    /// The day on which it came out, as in `X-API-Version`.
    pub date: &'static str,
    /// The dates of its end. `None` for the newest version.
    pub end: Option<End>,
    /// The changes that broke clients of the version before.
    pub changes: &'static [Change],
}

/// The end of a version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// The version that replaced it.
    pub successor: &'static str,
    /// The day on which its successor came out.
    pub deprecation: NaiveDate,
    /// The day from which it may be refused.
    pub sunset: NaiveDate,
}

/// The versions that are served, oldest first.
#[derive(Debug)]
pub struct Versions {
    all: Vec<Version>,
    newest: &'static str,
}

/// A mistake in the releases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidReleases(String);

impl Change {
    /// A change without transforms.
    #[must_use]
    pub const fn of(operations: &'static [&'static str], text: &'static str) -> Self {
        Self { operations, text, query: None, request: None, response: None, refusal: None }
    }
}

impl fmt::Display for InvalidReleases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for InvalidReleases {}

impl Versions {
    /// Checks `releases`, which are in order, oldest first.
    ///
    /// # Errors
    /// A date is none, dates are out of order, a sunset is missing or too early, or a change names an unknown operation, transforms
    /// nothing, or transforms an answer that is streamed.
    pub fn new(releases: &[Release]) -> Result<Self, InvalidReleases> {
        let newest = releases.last().ok_or_else(|| InvalidReleases("there must be a version".to_owned()))?;
        let mut all = Vec::with_capacity(releases.len());
        for (index, release) in releases.iter().enumerate() {
            let end = end(release, releases.get(index + 1))?;
            release.changes.iter().try_for_each(|change| check(release.date, change))?;
            all.push(Version { date: release.date, end, changes: release.changes });
        }
        if let Some(first) = releases.first().filter(|first| !first.changes.is_empty()) {
            return Err(invalid(first.date, "the first version has no version before it to change"));
        }
        Ok(Self { all, newest: newest.date })
    }

    /// The versions, oldest first.
    #[must_use]
    pub fn all(&self) -> &[Version] {
        &self.all
    }

    /// The date of the newest version.
    #[must_use]
    pub fn newest(&self) -> &'static str {
        self.newest
    }

    /// Returns the index of the version of this date.
    #[must_use]
    pub fn find(&self, date: &str) -> Option<usize> {
        self.all.iter().position(|version| version.date == date)
    }

    /// Returns the hint of the refusal of an unknown version.
    #[must_use]
    pub fn hint(&self) -> String {
        let dates: Vec<&str> = self.all.iter().map(|version| version.date).collect();
        match dates.as_slice() {
            [only] => format!("X-API-Version: the only supported version is {only}"),
            known => format!("X-API-Version: must be one of {}; without it, the newest answers", known.join(", ")),
        }
    }
}

fn invalid(date: &str, problem: &str) -> InvalidReleases {
    InvalidReleases(format!("version {date}: {problem}"))
}

fn day(date: &str) -> Result<NaiveDate, InvalidReleases> {
    let parsed = date.parse::<NaiveDate>().ok().filter(|day| day.to_string() == date);
    parsed.ok_or_else(|| invalid(date, "must be a date such as 2026-09-14"))
}

/// Returns the end of `release`, which `next` replaces.
fn end(release: &Release, next: Option<&Release>) -> Result<Option<End>, InvalidReleases> {
    let (own, problem) = (day(release.date)?, |problem: &str| Err(invalid(release.date, problem)));
    let (next, sunset) = match (next, release.sunset) {
        (None, None) => return Ok(None),
        (None, Some(_)) => return problem("the newest version has no sunset"),
        (Some(_), None) => return problem("a version that is replaced needs a sunset"),
        (Some(next), Some(sunset)) => (next, day(sunset)?),
    };
    let deprecation = day(next.date)?;
    if deprecation <= own {
        return problem("must be older than the version after it");
    }
    match deprecation.checked_add_days(Days::new(NOTICE_DAYS)) {
        Some(earliest) if sunset >= earliest => Ok(Some(End { successor: next.date, deprecation, sunset })),
        Some(earliest) => {
            problem(&format!("its sunset must be {earliest} or later, {NOTICE_DAYS} days after its deprecation"))
        }
        None => problem("its successor is too far in the future"),
    }
}

fn check(date: &str, change: &Change) -> Result<(), InvalidReleases> {
    let nothing =
        change.query.is_none() && change.request.is_none() && change.response.is_none() && change.refusal.is_none();
    if nothing || change.operations.is_empty() {
        return Err(invalid(date, &format!("`{}` transforms nothing", change.text)));
    }
    for id in change.operations {
        let Some(operation) = operation::all().iter().find(|operation| operation.id == *id) else {
            return Err(invalid(date, &format!("no operation is called {id}")));
        };
        let is_read = operation.idempotency.is_none();
        // Public reads are whole although they have no tag.
        let is_streamed = is_read && operation.etag == EtagKind::None && operation.access != Access::Public;
        if is_streamed && change.response.is_some() {
            return Err(invalid(date, &format!("the answer of {id} is streamed, so it cannot be transformed")));
        }
        if is_read && change.request.is_some() {
            return Err(invalid(date, &format!("{id} reads and has no body to transform")));
        }
    }
    Ok(())
}
