//! One upstream request, and the wider ones whose answers hold its own.
//!
//! The search engine counts by day, so the days of a window neither overlap nor leave anything out, under any filters and aggregation.
//! Rows of another grouping do not add up: queries omit the anonymised ones, pages count each URL, search appearances overlap, and lists are
//! truncated.

use api::models::{SearchType, Window, parse_day};
use regex::Regex;

use super::{
    error::SearchEngineError,
    reading::{ENGINE_CEILING, Reading, Row, SHORT_LIST, added, row_limit},
    settings::Account,
    wire::{DataState, Dimension, Filter, FilterGroup, FilterOperator, QueryRequest, SiteUrl},
};

/// The most rows of one page of an answer. A request that may have more costs several.
const ROWS_OF_A_PAGE: u32 = 25_000;

/// More countries than the search engine names, and more devices.
const COUNTRIES: u32 = 250;
const DEVICES: u32 = 4;

/// One upstream request, page after page.
#[derive(Clone)]
pub struct Request {
    pub account: Account,
    pub site: SiteUrl,
    pub query: QueryRequest,
    /// Days that are asked about as well, and hold those of the query.
    pub among: Option<Window>,
}

impl Request {
    /// The cache key of the request. It begins with the account's scope.
    pub fn key(&self) -> Result<String, SearchEngineError> {
        let body = serde_json::to_string(&self.query).map_err(|e| SearchEngineError::InvalidRequest(e.to_string()))?;
        Ok(format!("{} {} {body}", self.account.scope(), self.site))
    }

    /// The requests whose answers may hold the answer to this one. They are looked for, and not made.
    pub fn wider(&self) -> impl Iterator<Item = Self> {
        [self.longer(), self.shorter(), self.unfiltered(), self.by_day(), self.among_days()].into_iter().flatten()
    }

    /// Returns the daily series whose sum equals the totals that this requests.
    ///
    /// Returns `None` if some days are not final, because they change between two requests.
    pub fn by_day(&self) -> Option<Self> {
        if !self.query.dimensions.is_empty() || self.query.data_state != DataState::Final {
            return None;
        }
        let dimensions = vec![Dimension::Date];
        let row_limit = row_limit(&dimensions).unwrap_or(self.query.row_limit);
        Some(Self { query: QueryRequest { dimensions, row_limit, ..self.query.clone() }, ..self.clone() })
    }

    /// Returns the same rows for each day of all days that are asked about, if the search engine answers that by one page.
    pub fn among_days(&self) -> Option<Self> {
        let among @ Window { start_date, end_date } = self.among?;
        let (Self { query, .. }, days) = (self, among.length());
        let (dimensions, rows) = match query.dimensions.as_slice() {
            [] | [Dimension::Date] => (vec![Dimension::Date], days),
            [Dimension::Country] => (vec![Dimension::Date, Dimension::Country], days * COUNTRIES),
            [Dimension::Device] => (vec![Dimension::Date, Dimension::Device], days * DEVICES),
            _ => return None,
        };
        let holds = start_date <= query.start_date && query.end_date <= end_date;
        let is_wider = holds && (start_date, end_date) != (query.start_date, query.end_date);
        if !is_wider || query.data_state != DataState::Final || rows > ROWS_OF_A_PAGE {
            return None;
        }
        let row_limit = row_limit(&dimensions).unwrap_or(ROWS_OF_A_PAGE as usize);
        let query = QueryRequest { start_date, end_date, dimensions, row_limit, ..query.clone() };
        Some(Self { query, among: None, ..self.clone() })
    }

    /// Returns the request for all rows that the search engine lists, if this is one for the first of them.
    fn longer(&self) -> Option<Self> {
        (self.is_list() && self.query.row_limit < ENGINE_CEILING).then(|| self.list(ENGINE_CEILING))
    }

    /// Returns the request for the first rows of a long list. Where there are no more, they are all.
    fn shorter(&self) -> Option<Self> {
        (self.is_list() && self.query.row_limit > SHORT_LIST).then(|| self.list(SHORT_LIST))
    }

    /// Returns the request for all queries, if this is one for those that do not match an expression.
    fn unfiltered(&self) -> Option<Self> {
        let Self { query, .. } = self;
        let (excluded, kept): (Vec<Filter>, Vec<Filter>) =
            query.dimension_filter_groups.iter().flat_map(|group| &group.filters).cloned().partition(is_exclusion);
        let is_all = query.dimensions == [Dimension::Query] && query.row_limit == ENGINE_CEILING;
        (is_all && !excluded.is_empty()).then(|| {
            let dimension_filter_groups = FilterGroup::all_of(&kept);
            Self { query: QueryRequest { dimension_filter_groups, ..query.clone() }, ..self.clone() }
        })
    }

    fn is_list(&self) -> bool {
        matches!(self.query.dimensions.as_slice(), [Dimension::Query | Dimension::Page])
    }

    fn list(&self, row_limit: usize) -> Self {
        Self { query: QueryRequest { row_limit, ..self.query.clone() }, ..self.clone() }
    }

    /// Returns whether recent days hold its answer: the totals or the days of a site without conditions, all of them final.
    pub fn is_of_recent_days(&self) -> bool {
        let QueryRequest { dimensions, search_type, dimension_filter_groups, aggregation_type, data_state, .. } =
            &self.query;
        matches!(dimensions.as_slice(), [] | [Dimension::Date])
            && *search_type == SearchType::Web
            && dimension_filter_groups.is_empty()
            && aggregation_type.is_none()
            && *data_state == DataState::Final
    }

    /// Returns the answer to this request as a part of the `answer` to a wider one. `None` if it could differ in the last bit.
    pub fn part_of(&self, wider: &QueryRequest, answer: &Reading) -> Option<Reading> {
        let Self { query, .. } = self;
        if self.is_list() {
            return self.part_of_list(wider, answer);
        }
        if answer.capped {
            return None;
        }
        let days = query.start_date..=query.end_date;
        let is_own = |key: &str| parse_day(key).is_ok_and(|day| days.contains(&day));
        let rows = answer.rows.iter().filter(|row| is_own(row.key())).cloned().collect();
        let mut own = Reading { rows, capped: false, read_at: answer.read_at, first_incomplete_date: None };
        match query.dimensions.as_slice() {
            [] => own.total(),
            [Dimension::Date] => Some(own),
            dimensions if own.adds_up() => {
                for row in &mut own.rows {
                    row.keys = row.keys.iter().skip(1).cloned().collect();
                }
                Some(added([(1.0, &own)].into_iter(), dimensions, query.row_limit, answer.read_at))
            }
            _ => None,
        }
    }

    /// Returns a list as a part of a longer one, of a shorter one that is whole, or of one that filters less.
    fn part_of_list(&self, other: &QueryRequest, answer: &Reading) -> Option<Reading> {
        let Self { query, .. } = self;
        let is_longer = other.row_limit > query.row_limit;
        if answer.capped && !is_longer {
            return None;
        }
        let excluded: Vec<Regex> = if other.dimension_filter_groups == query.dimension_filter_groups {
            Vec::new()
        } else {
            exclusions(query).collect::<Result<_, _>>().ok()?
        };
        let is_own = |row: &&Row| !excluded.iter().any(|expression| expression.is_match(row.key()));
        let rows: Vec<Row> = answer.rows.iter().filter(is_own).take(query.row_limit).cloned().collect();
        let capped = is_longer && rows.len() >= query.row_limit;
        Some(Reading { rows, capped, read_at: answer.read_at, first_incomplete_date: answer.first_incomplete_date })
    }
}

/// Returns whether a filter leaves out the queries that match an expression that means the same here. The search engine's `\w` and `\b`, and
/// their like, are ASCII.
fn is_exclusion(filter: &Filter) -> bool {
    let means_the_same = |expression: &str| {
        let escaped = expression.as_bytes().windows(2).filter(|pair| pair[0] == b'\\');
        !escaped.map(|pair| pair[1]).any(|letter| b"wWdDsSbB".contains(&letter))
    };
    filter.dimension == Dimension::Query
        && filter.operator == FilterOperator::ExcludingRegex
        && means_the_same(&filter.expression)
}

/// Compiles the expressions of the queries that a request leaves out.
fn exclusions(query: &QueryRequest) -> impl Iterator<Item = Result<Regex, regex::Error>> {
    let filters = query.dimension_filter_groups.iter().flat_map(|group| &group.filters);
    filters.filter(|filter| is_exclusion(filter)).map(|filter| Regex::new(&filter.expression))
}
