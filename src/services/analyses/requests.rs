//! The upstream requests that an answer takes, counted before the first of them.
//!
//! Conditions multiply requests: one part of an answer takes as many as its plan has terms, and the queries of each day take that for every
//! week. So a single question could spend what the search engine allows the property's owner in a day. A question without conditions is
//! never refused: its window bounds it, and its readings serve everybody who asks.

use std::collections::HashSet;

use api::models::Window;
use search_engine::{Dimension, ENGINE_CEILING, Filter, Part, Plan};

use super::{daily, question::Settled};
use crate::error::Error;

/// The most upstream requests of an answer to a question with conditions.
pub const MOST_REQUESTS: usize = 60;

/// The requests of a question.
#[derive(Default)]
pub(super) struct Requests {
    has_conditions: bool,
    /// True if a window to compare with was asked for.
    compares: bool,
    /// The windows that are read by the week.
    windows: usize,
    /// The requests for single parts. Equal ones are made once.
    single: HashSet<(Part, Vec<Filter>)>,
    /// Parts whose plan has one term, and parts whose plan has several.
    plain_parts: usize,
    parts: usize,
    /// The weeks of all windows that are read by day, and the terms of their plan.
    weeks: usize,
    terms_of_weeks: usize,
    /// The most terms of any plan.
    terms: usize,
}

impl Requests {
    /// Counts none yet.
    pub fn of(asked: &Settled) -> Self {
        let slice = &asked.question.slice;
        let has_filters = slice.filters.as_ref().is_some_and(|filters| !filters.0.is_empty());
        Self {
            has_conditions: has_filters || slice.classification.is_some() || asked.predicate.kept > 0,
            compares: asked.compare.is_some(),
            ..Self::default()
        }
    }

    /// Counts a part of the question.
    pub fn part(&mut self, part: Part, plan: &Plan) {
        // As the reader asks: days and totals are read whole, and so are all rows of several terms, which are added up.
        let cap = match part.dimensions.as_slice() {
            [] | [Dimension::Date | Dimension::Hour] => 0,
            _ if plan.terms.len() > 1 => ENGINE_CEILING,
            _ => part.cap,
        };
        // Rows are the same, whichever days they are read among.
        let part = Part { cap, among: None, ..part };
        self.single.extend(plan.terms.iter().map(|term| (part.clone(), term.filters.clone())));
        self.note(1, plan);
    }

    /// Counts the rows of each day of a window, which are read by the week.
    pub fn weeks(&mut self, window: Window, plan: &Plan) {
        let weeks = daily::weeks(window).len();
        self.weeks += weeks;
        self.windows += 1;
        self.terms_of_weeks = plan.terms.len();
        self.note(weeks, plan);
    }

    fn note(&mut self, parts: usize, plan: &Plan) {
        let counted = if plan.terms.len() > 1 { &mut self.parts } else { &mut self.plain_parts };
        *counted += parts;
        self.terms = self.terms.max(plan.terms.len());
    }

    /// Fails if there are too many.
    ///
    /// # Errors
    /// [`Error::FilterTooComplex`], which names the longest window and the largest plan that fit.
    pub fn check(&self) -> Result<(), Error> {
        let needed = self.needed();
        if !self.has_conditions || needed <= MOST_REQUESTS {
            return Ok(());
        }
        Err(Error::FilterTooComplex(format!(
            "filters: the conditions take {} upstream requests for each part of the answer and {needed} for all of it, and at most \
             {MOST_REQUESTS} are made; {}",
            self.terms,
            self.ways_out(needed).join(", or ")
        )))
    }

    fn needed(&self) -> usize {
        self.single.iter().filter(|request| !self.is_sum_of_days(request)).count() + self.weeks * self.terms_of_weeks
    }

    /// Returns whether the totals are the sum of a daily series that is read anyway.
    fn is_sum_of_days(&self, (part, filters): &(Part, Vec<Filter>)) -> bool {
        part.dimensions.is_empty()
            && self.single.contains(&(Part { dimensions: vec![Dimension::Date], ..part.clone() }, filters.clone()))
    }

    fn ways_out(&self, needed: usize) -> Vec<String> {
        let mut ways = Vec::new();
        if self.weeks > 0 {
            let others = needed - self.weeks * self.terms_of_weeks;
            let weeks = MOST_REQUESTS.saturating_sub(others) / self.terms_of_weeks.max(1) / self.windows;
            let each = if self.windows > 1 { " in each window" } else { "" };
            if weeks > 0 {
                ways.push(format!("ask for {} days at most{each}", weeks * 7));
            }
        }
        let terms = MOST_REQUESTS.saturating_sub(self.plain_parts) / self.parts.max(1);
        if self.parts > 0 && terms > 0 {
            ways.push(format!(
                "use conditions that take {terms} for each part at most: fewer joined by or, or alternatives on one dimension in one \
                 or_list or matches_regex"
            ));
        }
        if self.compares {
            ways.push("leave the comparison out".to_owned());
        }
        if ways.is_empty() {
            ways.push("ask for fewer parts of it".to_owned());
        }
        ways
    }
}

#[cfg(test)]
mod tests {
    use api::models::SearchType;
    use search_engine::{DataState, FilterOperator, Term};

    use super::*;

    fn plan(terms: usize) -> Plan {
        let filter = |n| Filter {
            dimension: Dimension::Query,
            operator: FilterOperator::Contains,
            expression: format!("text {n}"),
        };
        Plan { terms: (0..terms).map(|n| Term { weight: 1.0, filters: vec![filter(n)] }).collect() }
    }

    /// A window of so many weeks.
    fn weeks(number: i64) -> Window {
        let start_date: chrono::NaiveDate = "2025-08-01".parse().unwrap();
        Window { start_date, end_date: start_date + chrono::TimeDelta::days(number * 7 - 1) }
    }

    fn part(dimensions: &[Dimension], cap: usize) -> Part {
        let Window { start_date, end_date } = weeks(4);
        Part {
            dimensions: dimensions.to_vec(),
            start: start_date,
            end: end_date,
            search_type: SearchType::Web,
            aggregation: None,
            data_state: DataState::Final,
            cap,
            among: None,
        }
    }

    fn with_conditions() -> Requests {
        Requests { has_conditions: true, ..Requests::default() }
    }

    /// The query count of windows of so many weeks.
    fn counted(windows: &[i64], terms: usize, requests: Requests) -> Result<(), String> {
        let mut requests = Requests { compares: windows.len() > 1, ..requests };
        for number in windows {
            requests.weeks(weeks(*number), &plan(terms));
        }
        requests.check().map_err(|error| error.to_string())
    }

    #[test]
    fn conditions_may_take_sixty_requests() {
        assert_eq!(counted(&[60], 1, with_conditions()), Ok(()));
        assert_eq!(counted(&[6, 6], 5, with_conditions()), Ok(()));
        for (windows, terms, said) in [
            (
                &[61][..],
                1,
                "take 1 upstream requests for each part of the answer and 61 for all of it, and at most 60 are made; ask for 420 days at most",
            ),
            (
                &[27, 27],
                5,
                "take 5 upstream requests for each part of the answer and 270 for all of it, and at most 60 are made; ask for 42 days at \
              most in each window, or use conditions that take 1 for each part at most",
            ),
        ] {
            let hint = counted(windows, terms, with_conditions()).unwrap_err();
            assert!(hint.contains(said), "{hint}");
        }
        assert!(counted(&[27, 27], 5, with_conditions()).unwrap_err().ends_with(", or leave the comparison out"));
    }

    #[test]
    fn sixteen_months_with_a_comparison_and_without_conditions_are_read() {
        assert_eq!(counted(&[70, 70], 1, Requests::default()), Ok(()));
        assert!(counted(&[70, 70], 1, with_conditions()).is_err());
    }

    #[test]
    fn what_is_read_once_counts_once() {
        let mut requests = with_conditions();
        for _ in 0..3 {
            requests.part(part(&[Dimension::Query], 5_000), &plan(20));
            requests.part(part(&[Dimension::Query], 50_000), &plan(20));
            requests.part(part(&[], 1), &plan(20));
            requests.part(part(&[Dimension::Date], 1_000), &plan(20));
        }
        assert_eq!(requests.needed(), 40, "the days add up to the totals");
        requests.part(part(&[Dimension::Page], 5_000), &Plan::everything());
        requests.part(part(&[Dimension::Page], 50_000), &Plan::everything());
        assert_eq!(requests.needed(), 42, "one request is made for as many rows as are wanted");
        requests.part(part(&[], 1), &Plan::everything());
        requests.part(part(&[Dimension::Page], 1), &plan(17));
        assert!(requests.check().is_ok());
        requests.part(part(&[Dimension::Country], 1), &plan(1));
        let hint = requests.check().unwrap_err().to_string();
        assert!(hint.contains("take 20 upstream requests") && hint.contains("and 61 for all of it"), "{hint}");
    }
}
