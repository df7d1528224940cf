//! The bodies of the search engine's answers. A body with status 200 may come from a proxy, or hold an error. So a body is an answer only if it
//! has what the search engine always sends, and nothing that it never sends (decision 37).

use std::collections::HashSet;

use chrono::{Months, NaiveDate, TimeDelta};
use common::json::{self, NoError};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::wire::{Dimension, HISTORY_MONTHS, QueryRequest, day_of};

/// The largest count in one row: beyond it a double does not hold every whole number.
const LARGEST_COUNT: f64 = 9_007_199_254_740_992.0;

/// The error for a body that is not an answer. The text goes to the log only.
#[derive(Debug, thiserror::Error)]
#[error("not an answer of the search engine: {0}")]
pub struct NotAnAnswer(String);

impl From<serde_json::Error> for NotAnAnswer {
    fn from(error: serde_json::Error) -> Self {
        Self(error.to_string())
    }
}

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

/// Reads a list that is there. Null is none.
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
        (Some(used), Some(wanted)) if !is_spelling_of(used, wanted.wire_name()) => {
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
    if !answer.rows.iter().all(|row| row.is_of(asked)) {
        return Err(unlike("a row has other keys than asked for, or no counts"));
    }
    let mut seen = HashSet::with_capacity(answer.rows.len());
    if !answer.rows.iter().all(|row| seen.insert(&row.keys)) {
        return Err(unlike("two rows have the same keys"));
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
            Dimension::Date => key.parse().is_ok_and(|day| asked_days.contains(&day)),
            Dimension::Hour => day_of(key).is_some_and(|day| asked_days.contains(&day)),
            _ => true,
        };
        self.keys.len() == asked.dimensions.len()
            && self.keys.iter().zip(&asked.dimensions).all(|(key, dimension)| is_within(key, *dimension))
            && is_count(self.clicks)
            && is_count(self.impressions)
            && self.position.is_none_or(is_size)
    }
}

/// Compares names of the search engine, which has two spellings: `byPage` and `BY_PAGE`.
fn is_spelling_of(said: &str, name: &str) -> bool {
    let letters = said.bytes().filter(|letter| *letter != b'_');
    letters.map(|letter| letter.to_ascii_lowercase()).eq(name.bytes().map(|letter| letter.to_ascii_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Aggregation, DataState, SearchType};

    fn date(text: &str) -> NaiveDate {
        text.parse().unwrap()
    }

    /// A request for two rows of October.
    fn asked(dimensions: &[Dimension]) -> QueryRequest {
        QueryRequest {
            start_date: date("2026-10-01"),
            end_date: date("2026-10-31"),
            dimensions: dimensions.to_vec(),
            search_type: SearchType::Web,
            dimension_filter_groups: Vec::new(),
            aggregation_type: None,
            row_limit: 2,
            start_row: 0,
            data_state: DataState::All,
        }
    }

    /// An answer with these rows and nothing that is missing.
    fn of(rows: &str) -> String {
        format!(r#"{{"rows":{rows},"responseAggregationType":"byProperty"}}"#)
    }

    /// An answer with one row of this key and counts.
    fn row(key: &str, counts: &str) -> String {
        of(&format!(r#"[{{"keys":["{key}"],{counts}}}]"#))
    }

    #[test]
    fn answers_are_read_with_their_rows() {
        let cases: Vec<(&[Dimension], String, usize)> = vec![
            (&[], r#"{"responseAggregationType":"byProperty"}"#.to_owned(), 0),
            (&[], of("[]"), 0),
            (&[], of("null"), 0),
            (&[], of(r#"[{"clicks":1,"impressions":2,"ctr":0.5,"position":3.5}]"#), 1),
            (&[], of(r#"[{"keys":[],"clicks":1.0,"impressions":2.0,"new":{}}]"#), 1),
            (&[], r#"{"rows":[{"clicks":0,"impressions":2}]}"#.to_owned(), 1),
            (&[], r#"{"error":null,"new":[],"responseAggregationType":"AUTO"}"#.to_owned(), 0),
            (&[Dimension::Query], row("é", r#""clicks":0,"impressions":0,"position":0"#), 1),
            (&[Dimension::Query], row("", r#""clicks":0,"impressions":9007199254740992,"position":null"#), 1),
            (&[Dimension::Date], row("2026-10-01", r#""clicks":1,"impressions":2"#), 1),
            (&[Dimension::Hour], row("2026-10-31T23:00:00-07:00", r#""clicks":1,"impressions":2"#), 1),
            (
                &[Dimension::Date, Dimension::Page],
                of(
                    r#"[{"keys":["2026-10-02","a"],"clicks":1,"impressions":2},{"keys":["2026-10-02","b"],"clicks":1,"impressions":2}]"#,
                ),
                2,
            ),
        ];
        for (dimensions, body, expected) in cases {
            let answer = rows(body.as_bytes(), &asked(dimensions));
            assert_eq!(answer.as_ref().map(|answer| answer.rows.len()).ok(), Some(expected), "{body}: {answer:?}");
        }
    }

    #[test]
    fn what_the_search_engine_never_sends_is_not_an_answer() {
        let of_a_query = [
            "",
            " ",
            "null",
            "true",
            "7",
            "\"rows\"",
            "[]",
            "[[],null,{}]",
            r#"[[],"byProperty"]"#,
            "{",
            "{}",
            "<html><body>Sign in to the network</body></html>",
            r#"{"error":{"code":500,"message":"Internal error encountered.","status":"INTERNAL"}}"#,
            r#"{"error":"no upstream"}"#,
            r#"{"message":"no upstream"}"#,
            r#"{"rows":[]}"#,
            r#"{"metadata":{}}"#,
            r#"{"error":{"code":500},"responseAggregationType":"byProperty"}"#,
            r#"{"responseAggregationType":null}"#,
            r#"{"responseAggregationType":7}"#,
            r#"{"responseAggregationType":"byProperty","metadata":[]}"#,
            r#"{"responseAggregationType":"byProperty","metadata":null}"#,
            r#"{"responseAggregationType":"byProperty","metadata":{"firstIncompleteDate":"soon"}}"#,
            r#"{"responseAggregationType":"byProperty"}{}"#,
            r#"{"rows":[{"keys":["a"],"clicks":1,"impressions":2}],"error":{"code":500}}"#,
        ];
        for body in of_a_query {
            assert!(rows(body.as_bytes(), &asked(&[Dimension::Query])).is_err(), "{body}");
        }
        let whole = row("a", r#""clicks":1,"impressions":2"#);
        for length in 0..whole.len() {
            assert!(rows(&whole.as_bytes()[..length], &asked(&[Dimension::Query])).is_err(), "{length}");
        }
    }

    #[test]
    fn rows_without_the_keys_and_counts_that_were_asked_for_are_not_an_answer() {
        let of_rows = [
            "{}",
            "\"\"",
            "7",
            "[null]",
            "[7]",
            "[[]]",
            r#"[["a"],1,2]"#,
            r#"[[["a"],1,2,3]]"#,
            "[{}]",
            r#"[{"clicks":1,"impressions":2}]"#,
            r#"[{"keys":null,"clicks":1,"impressions":2}]"#,
            r#"[{"keys":[],"clicks":1,"impressions":2}]"#,
            r#"[{"keys":"a","clicks":1,"impressions":2}]"#,
            r#"[{"keys":[null],"clicks":1,"impressions":2}]"#,
            r#"[{"keys":[7],"clicks":1,"impressions":2}]"#,
            r#"[{"keys":["a","b"],"clicks":1,"impressions":2}]"#,
            r#"[{"keys":["a"],"clicks":1,"impressions":2},{"keys":["a"],"clicks":1,"impressions":2}]"#,
            r#"[{"keys":["a"],"clicks":1,"impressions":2},{"keys":["b"],"clicks":1,"impressions":2},{"keys":["c"],"clicks":1,"impressions":2}]"#,
        ];
        let of_counts = [
            r#""impressions":2"#,
            r#""clicks":1"#,
            r#""clicks":null,"impressions":2"#,
            r#""clicks":"1","impressions":2"#,
            r#""clicks":1,"impressions":"2""#,
            r#""clicks":-1,"impressions":2"#,
            r#""clicks":1,"impressions":-0.5"#,
            r#""clicks":-0.0,"impressions":2"#,
            r#""clicks":0.5,"impressions":2"#,
            r#""clicks":1,"impressions":2.5"#,
            r#""clicks":NaN,"impressions":2"#,
            r#""clicks":Infinity,"impressions":2"#,
            r#""clicks":1e999,"impressions":2"#,
            r#""clicks":1,"impressions":1e16"#,
            r#""clicks":true,"impressions":2"#,
            r#""clicks":[1],"impressions":2"#,
            r#""clicks":1,"impressions":2,"position":-3"#,
            r#""clicks":1,"impressions":2,"position":"3""#,
        ];
        for body in of_rows.map(of).into_iter().chain(of_counts.map(|counts| row("a", counts))) {
            assert!(rows(body.as_bytes(), &asked(&[Dimension::Query])).is_err(), "{body}");
        }
        for key in ["2026-09-30", "2026-11-01", "20261001", "", "(not set)", "2026-10-é"] {
            for dimension in [Dimension::Date, Dimension::Hour] {
                let body = row(key, r#""clicks":1,"impressions":2"#);
                assert!(rows(body.as_bytes(), &asked(&[dimension])).is_err(), "{body}");
            }
        }
        let body = row("2026-10-01T00:00:00", r#""clicks":1,"impressions":2"#);
        assert!(rows(body.as_bytes(), &asked(&[Dimension::Date])).is_err(), "one day has one key");
    }

    #[test]
    fn rows_of_another_aggregation_are_not_those_asked_for() {
        for (wanted, used, is_read) in [
            (None, "byProperty", true),
            (None, "byNewsShowcasePanel", true),
            (Some(Aggregation::ByPage), "byPage", true),
            (Some(Aggregation::ByPage), "BY_PAGE", true),
            (Some(Aggregation::ByPage), "byProperty", false),
            (Some(Aggregation::ByProperty), "BY_PROPERTY", true),
            (Some(Aggregation::ByProperty), "byPage", false),
            (Some(Aggregation::ByProperty), "", false),
        ] {
            let body = format!(r#"{{"responseAggregationType":"{used}"}}"#);
            let asked = QueryRequest { aggregation_type: wanted, ..asked(&[]) };
            assert_eq!(rows(body.as_bytes(), &asked).is_ok(), is_read, "{wanted:?} {used}");
        }
    }

    #[test]
    fn the_first_incomplete_day_is_read_in_both_spellings_and_is_near_the_days_asked_for() {
        let cases = [
            ("2026-10-30", true),
            ("2026-09-01", true),
            ("2025-06-01", true),
            ("2025-05-31", false),
            ("2026-11-01", true),
            ("2026-11-02", false),
            ("-262143-01-01", false),
            ("+262142-12-31", false),
        ];
        for name in ["firstIncompleteDate", "first_incomplete_date"] {
            for (day, is_read) in cases {
                let body = format!(r#"{{"responseAggregationType":"byProperty","metadata":{{"{name}":"{day}"}}}}"#);
                let found = rows(body.as_bytes(), &asked(&[Dimension::Date]));
                let found = found.ok().map(|answer| answer.metadata.first_incomplete_date.unwrap());
                assert_eq!(found, is_read.then(|| date(day)), "{name} {day}");
            }
        }
    }

    #[test]
    fn a_list_of_sites_is_empty_only_if_the_search_engine_says_so() {
        let one = r#"{"siteUrl":"sc-domain:a.test","permissionLevel":"siteOwner"}"#;
        let list = |entries: &str| format!(r#"{{"siteEntry":[{entries}]}}"#);
        let cases = [
            ("{}".to_owned(), Some(0)),
            (list(""), Some(0)),
            (list(one), Some(1)),
            (list(&format!("{one},{one}")), Some(2)),
            (format!(r#"{{"new":1,"siteEntry":[{one}]}}"#), Some(1)),
            (format!(r#"{{"error":{{"code":500}},"siteEntry":[{one}]}}"#), None),
            (r#"{"error":{"code":500,"message":"Internal error encountered."}}"#.to_owned(), None),
            (r#"{"error":"x"}"#.to_owned(), None),
            (r#"{"message":"no upstream"}"#.to_owned(), None),
            (r#"{"rows":[]}"#.to_owned(), None),
            (format!(r#"{{"siteEntry":[{one}],"siteEntry":[]}}"#), None),
            (r#"{"siteEntry":null}"#.to_owned(), None),
            (r#"{"siteEntry":{}}"#.to_owned(), None),
            (r#"{"siteEntry":"a"}"#.to_owned(), None),
            (list("null"), None),
            (list(r#"["sc-domain:a.test","siteOwner"]"#), None),
            (list(r#"{"siteUrl":"sc-domain:a.test"}"#), None),
            (list(r#"{"siteUrl":"","permissionLevel":"siteOwner"}"#), None),
            (list(r#"{"siteUrl":7,"permissionLevel":"siteOwner"}"#), None),
            (String::new(), None),
            ("null".to_owned(), None),
            ("[]".to_owned(), None),
            (format!("[[{one}]]"), None),
            ("\"\"".to_owned(), None),
            ("<html>".to_owned(), None),
            (r#"{"siteEntry":["#.to_owned(), None),
        ];
        for (body, expected) in cases {
            let found = sites(body.as_bytes());
            assert_eq!(found.as_ref().ok().map(Vec::len), expected, "{body}: {found:?}");
        }
    }
}
