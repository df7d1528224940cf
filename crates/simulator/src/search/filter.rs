//! Conditions: the queries, pages, countries, devices and search appearances that a request selects.

use regex::{Regex, RegexBuilder};

use super::request::{FilterDimension, Operator, RawFilter, Request};
use crate::world::Site;
use crate::world::axes::{APPEARANCES, COUNTRIES, DEVICES, SLOTS, country_of, device_of};
use crate::world::stream::Stream;

/// A compiled condition.
struct Matcher {
    test: Test,
    negated: bool,
}

enum Test {
    Equal(String),
    Pattern(Regex),
}

impl Matcher {
    /// Returns `None` if the pattern does not compile. The search engine then returns no rows instead of an error.
    fn new(filter: &RawFilter) -> Option<Self> {
        let free_text = matches!(filter.dimension, FilterDimension::Query | FilterDimension::Page);
        let test = match filter.operator {
            Operator::Equals | Operator::NotEquals if free_text => Test::Equal(filter.expression.clone()),
            Operator::Equals | Operator::NotEquals => {
                Test::Pattern(pattern(&format!("^(?:{})$", regex::escape(&filter.expression)), true)?)
            }
            Operator::Contains | Operator::NotContains => {
                Test::Pattern(pattern(&regex::escape(&filter.expression), true)?)
            }
            Operator::IncludingRegex | Operator::ExcludingRegex => {
                Test::Pattern(pattern(&filter.expression, !free_text)?)
            }
        };
        let negated = matches!(filter.operator, Operator::NotEquals | Operator::NotContains | Operator::ExcludingRegex);
        Some(Self { test, negated })
    }

    fn accepts(&self, value: &str) -> bool {
        let found = match &self.test {
            Test::Equal(wanted) => wanted == value,
            Test::Pattern(pattern) => pattern.is_match(value),
        };
        found != self.negated
    }
}

fn pattern(expression: &str, ignore_case: bool) -> Option<Regex> {
    RegexBuilder::new(expression).case_insensitive(ignore_case).build().ok()
}

/// All conditions of a request. Pages and slots are evaluated in advance, queries on first use.
pub(super) struct Wanted {
    queries: Vec<Matcher>,
    verdicts: Vec<Option<bool>>,
    /// Selected pages, by page index.
    pub pages: Vec<bool>,
    /// Selected slots, by slot.
    pub slots: Vec<bool>,
    /// True if a condition or grouping on the query excludes anonymised queries.
    hide: bool,
}

impl Wanted {
    /// Returns `None` if a pattern does not compile.
    pub fn new(request: &Request, site: &Site, stream: &Stream, groups_query: bool) -> Option<Self> {
        let matchers = |dimension| -> Option<Vec<Matcher>> {
            request.filters.iter().filter(|filter| filter.dimension == dimension).map(Matcher::new).collect()
        };
        let queries = matchers(FilterDimension::Query)?;
        let pages = matchers(FilterDimension::Page)?;
        let countries = matchers(FilterDimension::Country)?;
        let devices = matchers(FilterDimension::Device)?;
        let flags = appearance_bits(request);
        let page_wanted = |page: &crate::world::site::Page| page.flags & flags == flags && all(&pages, &page.url);
        let known = flags_known(request);
        let slot_wanted =
            |slot: u8| all(&countries, COUNTRIES[country_of(slot)]) && all(&devices, DEVICES[device_of(slot)]);
        let hide = groups_query || !queries.is_empty();
        Some(Self {
            verdicts: vec![None; stream.entries.len()],
            pages: site.pages().iter().map(|page| known && page_wanted(page)).collect(),
            slots: (0u8..).take(SLOTS).map(slot_wanted).collect(),
            queries,
            hide,
        })
    }

    /// Returns whether the entry's query is selected.
    pub fn query(&mut self, stream: &Stream, entry: u32) -> bool {
        if !self.hide {
            return true;
        }
        let index = entry as usize;
        let queries = &self.queries;
        *self.verdicts[index].get_or_insert_with(|| {
            let entry = &stream.entries[index];
            !entry.anonymised && all(queries, &entry.text)
        })
    }
}

fn all(matchers: &[Matcher], value: &str) -> bool {
    matchers.iter().all(|matcher| matcher.accepts(value))
}

/// The requested appearances. The search engine treats `notEquals` and `notContains` as `equals`, a known flaw.
fn appearance_filters(request: &Request) -> impl Iterator<Item = Option<usize>> {
    let filters = request.filters.iter().filter(|filter| filter.dimension == FilterDimension::SearchAppearance);
    filters.map(|filter| APPEARANCES.iter().position(|name| *name == filter.expression))
}

fn appearance_bits(request: &Request) -> u8 {
    appearance_filters(request).flatten().fold(0, |flags, bit| flags | 1 << bit)
}

fn flags_known(request: &Request) -> bool {
    appearance_filters(request).all(|bit| bit.is_some())
}
