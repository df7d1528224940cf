//! The parts of an answer. Each is declared once: so it is counted before the first request, read with the others, and named as an
//! origin of the answer.

use std::{
    ops::Index,
    sync::{Arc, Weak},
};

use analytics::coverage::Whole;
use api::models::{Aggregation, Window};
use chrono::{DateTime, Utc};
use futures_util::future::join_all;
use search_engine::{Dimension, ENGINE_CEILING, Part, Plan, Reading};

use super::{daily::DaysRead, question::Settled, requests::Requests, search_data::SearchData, total};
use crate::error::Error;

/// The place of a part among the parts of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartId(usize);

/// The totals that shares of clicks are of.
#[derive(Debug, Clone, Copy)]
pub struct Wholes {
    /// The property's totals.
    property: PartId,
    /// The totals without the question's conditions on queries.
    slice: PartId,
}

/// The parts of the answer to a question, in the order in which they are read.
pub struct Parts<'q> {
    search: &'q SearchData,
    settled: &'q Settled,
    requests: Requests,
    /// `None` is a part without days.
    declared: Vec<Option<(Part, Plan)>>,
    readings: Readings,
}

impl<'q> Parts<'q> {
    /// Declares none yet.
    pub fn of(search: &'q SearchData, settled: &'q Settled) -> Self {
        let requests = Requests::of(settled);
        Self { search, settled, requests, declared: Vec::new(), readings: Readings::default() }
    }

    /// Declares a part.
    pub fn part(&mut self, part: Part, plan: &Plan) -> PartId {
        self.requests.part(part.clone(), plan);
        self.declare(Some((part, plan.clone())))
    }

    /// Declares at most `cap` rows by `dimensions`. Without days there are none.
    pub fn rows(
        &mut self,
        days: impl Into<Option<Window>>,
        dimensions: &[Dimension],
        cap: usize,
        plan: &Plan,
    ) -> PartId {
        match days.into() {
            Some(window) => self.part(self.settled.part(window, dimensions, cap), plan),
            None => self.declare(None),
        }
    }

    /// Declares all rows by `dimensions` that the search engine returns. Without days there are none.
    pub fn all_rows(&mut self, days: impl Into<Option<Window>>, dimensions: &[Dimension], plan: &Plan) -> PartId {
        self.rows(days, dimensions, ENGINE_CEILING, plan)
    }

    /// Declares the totals of some days.
    pub fn totals(&mut self, days: impl Into<Option<Window>>, by_page: bool, plan: &Plan) -> PartId {
        let Some(window) = days.into() else { return self.declare(None) };
        let part = self.settled.part(window, &[], 1);
        let part = if by_page { Part { aggregation: Some(Aggregation::ByPage), ..part } } else { part };
        self.part(part, plan)
    }

    /// Declares the divisors for shares of clicks. `slice` is the plan of the question without its conditions on queries.
    pub fn wholes(&mut self, days: Option<Window>, by_page: bool, slice: &Plan) -> Wholes {
        let property = self.totals(days, by_page, &self.settled.whole);
        Wholes { property, slice: self.totals(days, by_page, slice) }
    }

    /// Counts the rows of each day of a window, which are read by the week ([`super::daily`]).
    pub fn weeks(&mut self, window: Window, plan: &Plan) {
        self.requests.weeks(window, plan);
    }

    fn declare(&mut self, part: Option<(Part, Plan)>) -> PartId {
        self.declared.push(part);
        PartId(self.declared.len() - 1)
    }

    /// Fails if the parts take too many requests.
    ///
    /// # Errors
    /// [`Error::FilterTooComplex`].
    pub fn check(&self) -> Result<(), Error> {
        self.requests.check()
    }

    /// Reads in parallel what was declared and is not read yet.
    ///
    /// # Errors
    /// [`Error::FilterTooComplex`] if all parts together take too many requests, and the failures of the search engine.
    pub async fn read(&mut self) -> Result<&Readings, Error> {
        self.check()?;
        let (search, site) = (self.search, &self.settled.site);
        let read = async |part: &Option<(Part, Plan)>| match part {
            Some((part, plan)) => search.read(site, part, plan).await,
            None => Ok(Arc::new(Reading::empty(search.last_final(site).await?.read_at))),
        };
        // An answer awaits many readings at once. Boxing them keeps its future small. Where one fails, the others are awaited all the same: they
        // are cached, and the next try needs fewer.
        let unread = &self.declared[self.readings.parts.len()..];
        let read = join_all(unread.iter().map(|part| Box::pin(read(part)))).await;
        self.readings.parts.extend(read.into_iter().collect::<Result<Vec<_>, _>>()?);
        Ok(&self.readings)
    }

    /// Returns what was read.
    pub fn finish(self) -> Readings {
        self.readings
    }
}

/// The readings of an answer.
#[derive(Default)]
pub struct Readings {
    parts: Vec<Arc<Reading>>,
    days: Vec<DaysRead>,
}

impl Index<PartId> for Readings {
    type Output = Arc<Reading>;

    fn index(&self, PartId(place): PartId) -> &Arc<Reading> {
        &self.parts[place]
    }
}

impl Readings {
    /// Adds readings whose rows were folded.
    pub(super) fn add(&mut self, days: DaysRead) {
        self.days.push(days);
    }

    /// The sums that shares of clicks are of.
    pub fn whole(&self, Wholes { property, slice }: Wholes) -> Whole {
        let clicks = |id| total(&self[id]).clicks;
        Whole { property: clicks(property), slice: clicks(slice) }
    }

    /// The readings, always in the same order.
    pub fn origin(&self) -> Vec<Weak<Reading>> {
        let days = self.days.iter().flat_map(|days| days.readings.iter().cloned());
        self.parts.iter().map(Arc::downgrade).chain(days).collect()
    }

    /// The times of the readings.
    pub fn read_at(&self) -> impl Iterator<Item = DateTime<Utc>> {
        let days = self.days.iter().filter_map(|days| days.read_at);
        self.parts.iter().map(|reading| reading.read_at).chain(days)
    }
}
