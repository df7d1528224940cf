//! The bodies of the search engine's answers. A body with status 200 may come from a proxy, or hold an error. So a body is an answer only if it
//! has what the search engine always sends, and nothing that it never sends (docs/design/search-engine.md).

use std::{collections::HashSet, sync::Once};

use api::models::parse_day;
use chrono::{Months, NaiveDate, TimeDelta};
use common::json::{self, NoError};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::wire::{Dimension, HISTORY_MONTHS, QueryRequest, day_of_hour};

/// The largest count in one row: beyond it a double does not hold every whole number.
const LARGEST_COUNT: f64 = 9_007_199_254_740_992.0;

/// The error for a body that is not an answer. The text goes to the log only.
#[derive(Debug, thiserror::Error)]
#[error("not an answer of the search engine: {0}")]
pub struct NotAnAnswer(String);

/// Reads a body, on another thread.
pub trait Read<T>: Fn(&[u8]) -> Result<T, NotAnAnswer> + Clone + Send + Sync + 'static {}

impl<T, F: Fn(&[u8]) -> Result<T, NotAnAnswer> + Clone + Send + Sync + 'static> Read<T> for F {}

impl From<serde_json::Error> for NotAnAnswer {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

/// Done when it was logged that a row has more clicks than impressions.
static MORE_CLICKS: Once = Once::new();

fn unlike(reason: &str) -> NotAnAnswer {
    NotAnAnswer(reason.to_owned())
}

/// Response of `searchAnalytics.query`. `rows` is absent when empty.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct QueryResponse {
    #[serde(default, rename = "error")]
    _error: NoError,
    /// The rows, best first.
    #[serde(default, deserialize_with = "json::list")]
    pub rows: Vec<QueryRow>,
    /// The aggregation that was used.
    pub response_aggregation_type: Option<String>,
    /// The incomplete days.
    #[serde(default, deserialize_with = "json::field")]
    pub metadata: Metadata,
}

/// One row.
#[derive(Debug, Clone, Deserialize)]
pub struct QueryRow {
    /// The values of the dimensions, in the order of the request. Absent if there are none.
    #[serde(default)]
    pub keys: Vec<Box<str>>,
    /// A count, sent as a double.
    pub clicks: f64,
    /// A count, sent as a double.
    pub impressions: f64,
    /// Average position; absent in discover and googleNews.
    pub position: Option<f64>,
}

/// The incomplete part of the range. Sources disagree about the spelling, so both are accepted.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Metadata {
    /// The first day with incomplete data.
    #[serde(alias = "firstIncompleteDate", default)]
    pub first_incomplete_date: Option<NaiveDate>,
}

/// One site of an account.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteEntry {
    /// The site's name.
    pub site_url: String,
    /// `siteOwner`, `siteFullUser`, `siteRestrictedUser` or `siteUnverifiedUser`.
    pub permission_level: String,
}

/// The list of sites, whose members come once.
#[derive(Deserialize)]
struct SiteList {
    #[serde(default, rename = "error")]
    _error: NoError,
    #[serde(default, rename = "siteEntry", deserialize_with = "present")]
    entries: Option<Vec<SiteEntry>>,
    #[serde(flatten)]
    others: Map<String, Value>,
}

/// Reads a list, and refuses null.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<SiteEntry>>, D::Error> {
    let entries = Vec::<json::Object<SiteEntry>>::deserialize(deserializer)?;
    Ok(Some(entries.into_iter().map(|entry| entry.0).collect()))
}

/// Reads the answer to `asked`.
///
/// # Errors
/// The body is something else.
pub fn rows(body: &[u8], asked: &QueryRequest) -> Result<QueryResponse, NotAnAnswer> {
    let answer: QueryResponse = json::object(body)?;
    match (&answer.response_aggregation_type, asked.aggregation_type) {
        (None, _) if answer.rows.is_empty() => return Err(unlike("it has neither rows nor responseAggregationType")),
        (Some(used), Some(wanted)) if !is_spelling_of(used, wanted.name()) => {
            return Err(unlike("its rows are aggregated in another way than asked"));
        }
        _ => {}
    }
    if answer.rows.len() > asked.row_limit {
        return Err(unlike("it has more rows than asked for"));
    }
    if !answer.metadata.is_plausible(asked) {
        return Err(unlike("its first incomplete day is far from those asked for"));
    }
    let mut seen = HashSet::with_capacity(answer.rows.len());
    for row in &answer.rows {
        if !row.is_of(asked) {
            return Err(unlike("a row has other keys than asked for, or no counts"));
        }
        if !seen.insert(&row.keys) {
            return Err(unlike("two rows have the same keys"));
        }
        if row.clicks > row.impressions {
            // It is shown as it is.
            MORE_CLICKS.call_once(|| tracing::warn!("the search engine counts more clicks than impressions"));
        }
    }
    Ok(answer)
}

/// Leaves rows out of a page that `earlier` pages have. The search engine sorts anew for each page, so a row may come on two.
pub fn leave_out_repeated(earlier: &[QueryRow], page: &mut Vec<QueryRow>) {
    if !earlier.is_empty() {
        let seen: HashSet<_> = earlier.iter().map(|row| &row.keys).collect();
        page.retain(|row| !seen.contains(&row.keys));
    }
}

/// Reads the list of sites. An account without sites has an empty object.
///
/// # Errors
/// The body is something else.
pub fn sites(body: &[u8]) -> Result<Vec<SiteEntry>, NotAnAnswer> {
    let SiteList { entries, others, .. } = json::object(body)?;
    let entries = match entries {
        Some(entries) => entries,
        None if others.is_empty() => Vec::new(),
        None => return Err(unlike("it lacks siteEntry and is not empty")),
    };
    if entries.iter().any(|entry| entry.site_url.is_empty()) {
        return Err(unlike("a site has no name"));
    }
    Ok(entries)
}

impl Metadata {
    /// Returns whether the first incomplete day lies within the search engine's history before the days asked for, among them, or next to
    /// the last of them.
    fn is_plausible(&self, asked: &QueryRequest) -> bool {
        self.first_incomplete_date.is_none_or(|first| {
            let earliest = asked.start_date.checked_sub_months(Months::new(HISTORY_MONTHS));
            earliest.is_some_and(|earliest| first >= earliest) && first <= asked.end_date + TimeDelta::days(1)
        })
    }
}

impl QueryRow {
    /// Returns whether the row has a key for each dimension that was asked for, days that were asked for, and counts.
    fn is_of(&self, asked: &QueryRequest) -> bool {
        let is_size = |number: f64| number.is_sign_positive() && number <= LARGEST_COUNT;
        let is_count = |number: f64| is_size(number) && number.fract() == 0.0;
        let asked_days = asked.start_date..=asked.end_date;
        let is_within = |key: &str, dimension: Dimension| match dimension {
            Dimension::Date => parse_day(key).is_ok_and(|day| asked_days.contains(&day)),
            Dimension::Hour => day_of_hour(key).is_some_and(|day| asked_days.contains(&day)),
            Dimension::Country => key.len() == 3 && key.bytes().all(|letter| letter.is_ascii_alphabetic()),
            Dimension::Device => !key.is_empty() && key.bytes().all(|letter| matches!(letter, b'A'..=b'Z' | b'_')),
            _ => true,
        };
        self.keys.len() == asked.dimensions.len()
            && self.keys.iter().zip(&asked.dimensions).all(|(key, dimension)| is_within(key, *dimension))
            && !self.has_swapped(&asked.dimensions)
            && is_count(self.clicks)
            && is_count(self.impressions)
            && self.position.is_none_or(is_size)
    }

    /// Returns whether the address of the page stands where the query belongs.
    fn has_swapped(&self, dimensions: &[Dimension]) -> bool {
        let is_address = |wanted| {
            let (_, key) = dimensions.iter().zip(&self.keys).find(|(dimension, _)| **dimension == wanted)?;
            Some(key.contains("://"))
        };
        is_address(Dimension::Query) == Some(true) && is_address(Dimension::Page) == Some(false)
    }
}

/// Compares names of the search engine, which has two spellings: `byPage` and `BY_PAGE`.
fn is_spelling_of(said: &str, name: &str) -> bool {
    let letters = said.bytes().filter(|letter| *letter != b'_');
    letters.map(|letter| letter.to_ascii_lowercase()).eq(name.bytes().map(|letter| letter.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests;
