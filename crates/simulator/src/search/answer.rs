//! Sorts, limits and writes the rows of a response.

use std::cmp::Reverse;
use std::collections::HashMap;

use chrono::{Days, NaiveDate, SecondsFormat, TimeZone as _};
use chrono_tz::America::Los_Angeles;
use serde::Serialize;

use super::evaluate::{Table, Tally, width};
use super::freshness::Now;
use super::request::{Aggregation, DataState, Dimension, Request};
use crate::settings::Conflicts;
use crate::world::Site;
use crate::world::axes::{APPEARANCES, COUNTRIES, DEVICES};

/// Maximum number of rows for one day and search type, and for a range that is not split by day.
const CEILING: usize = 50_000;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rows: Vec<Row>,
    response_aggregation_type: &'a str,
    #[serde(skip_serializing_if = "HashMap::is_empty")]
    metadata: HashMap<&'a str, String>,
}

#[derive(Serialize)]
struct Row {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    keys: Vec<String>,
    clicks: u64,
    impressions: u64,
    ctr: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<f64>,
}

/// Returns the response as JSON text.
pub(super) fn write(site: &Site, request: &Request, table: Table, now: Now, conflicts: Conflicts) -> String {
    let mut rows: Vec<(u64, Tally)> = table.into_iter().collect();
    if conflicts.zero_filled_dates && request.dimensions == [Dimension::Date] {
        fill_dates(&mut rows, request, now);
    }
    sort(&mut rows, request);
    let page = ceiling(rows, request).into_iter().skip(request.start_row).take(request.row_limit);
    let rows = page.map(|(key, tally)| row(site, request, key, tally)).collect();
    let response_aggregation_type = match request.aggregation {
        Aggregation::ByNewsShowcasePanel => "byNewsShowcasePanel",
        _ if request.by_page() => "byPage",
        _ => "byProperty",
    };
    let answer = Answer { rows, response_aggregation_type, metadata: metadata(request, now, conflicts) };
    serde_json::to_string(&answer).unwrap_or_default()
}

fn fill_dates(rows: &mut Vec<(u64, Tally)>, request: &Request, now: Now) {
    let present: std::collections::HashSet<u64> = rows.iter().map(|(key, _)| *key).collect();
    let days = request.start.iter_days().take_while(|date| *date <= request.end);
    for (code, date) in (0u64..).zip(days) {
        if !present.contains(&code) && now.view(date, request.data_state).is_some() {
            rows.push((code, Tally::default()));
        }
    }
}

/// Sorts by clicks and impressions descending, then by keys. Rows grouped by time only are sorted by time.
fn sort(rows: &mut [(u64, Tally)], request: &Request) {
    if matches!(request.dimensions.as_slice(), [Dimension::Date | Dimension::Hour]) {
        rows.sort_unstable_by_key(|(key, _)| *key);
    } else {
        rows.sort_unstable_by_key(|(key, tally)| (Reverse(tally.clicks), Reverse(tally.impressions), *key));
    }
}

/// Keeps the first rows of every day, or of the range if it is not split by day.
fn ceiling(mut rows: Vec<(u64, Tally)>, request: &Request) -> Vec<(u64, Tally)> {
    if rows.len() > CEILING {
        let mut taken: HashMap<String, usize> = HashMap::new();
        let day = |key: u64| codes(request, key).find(|(dimension, _)| *dimension == Dimension::Date);
        rows.retain(|(key, _)| {
            let count = taken.entry(day(*key).map_or(String::new(), |(_, code)| code.to_string())).or_default();
            *count += 1;
            *count <= CEILING
        });
    }
    rows
}

/// The codes of a packed key with their dimensions, in the order of the request.
fn codes(request: &Request, key: u64) -> impl Iterator<Item = (Dimension, u64)> {
    let mut shift: u32 = request.dimensions.iter().map(|dimension| width(*dimension)).sum();
    request.dimensions.iter().map(move |dimension| {
        shift -= width(*dimension);
        (*dimension, key >> shift & ((1 << width(*dimension)) - 1))
    })
}

fn row(site: &Site, request: &Request, key: u64, tally: Tally) -> Row {
    let keys = codes(request, key).map(|(dimension, code)| value(site, request, dimension, code)).collect();
    let share = |sum: u64| if tally.impressions == 0 { 0.0 } else { sum as f64 / tally.impressions as f64 };
    let position = (!request.search_type.is_feed()).then(|| share(tally.position_sum));
    Row { keys, clicks: tally.clicks, impressions: tally.impressions, ctr: share(tally.clicks), position }
}

#[expect(clippy::cast_possible_truncation, reason = "codes are indices of lists in memory")]
fn value(site: &Site, request: &Request, dimension: Dimension, code: u64) -> String {
    let index = code as usize;
    let date = |days: u64| request.start.checked_add_days(Days::new(days)).unwrap_or(request.start);
    match dimension {
        Dimension::Date => date(code).to_string(),
        Dimension::Hour => hour(date(code / 24), index % 24),
        Dimension::Query => {
            let stream = site.stream(request.search_type);
            stream.entries[stream.by_rank[index] as usize].text.clone()
        }
        Dimension::Page => site.page_at(index).url.clone(),
        Dimension::Country => COUNTRIES[index].to_owned(),
        Dimension::Device => DEVICES[index].to_owned(),
        Dimension::SearchAppearance => APPEARANCES[index].to_owned(),
    }
}

/// Formats `2026-11-19T03:00:00-08:00`. An hour that daylight saving skips keeps its number and has the offset before the
/// change.
fn hour(date: NaiveDate, hour: usize) -> String {
    let local = date.and_hms_opt(u32::try_from(hour).unwrap_or_default(), 0, 0).unwrap_or_default();
    match Los_Angeles.from_local_datetime(&local).earliest() {
        Some(time) => time.to_rfc3339_opts(SecondsFormat::Secs, false),
        None => format!("{}-08:00", local.format("%Y-%m-%dT%H:%M:%S")),
    }
}

fn metadata<'a>(request: &Request, now: Now, conflicts: Conflicts) -> HashMap<&'a str, String> {
    let first = now.first_incomplete_date().max(request.start);
    let by = |dimension| request.groups(dimension) && request.end >= first && first <= now.today;
    let spelled = |camel, snake| if conflicts.snake_case_metadata { snake } else { camel };
    match request.data_state {
        DataState::All if by(Dimension::Date) => {
            [(spelled("firstIncompleteDate", "first_incomplete_date"), first.to_string())].into()
        }
        DataState::HourlyAll if by(Dimension::Hour) => {
            [(spelled("firstIncompleteHour", "first_incomplete_hour"), hour(first, 0))].into()
        }
        _ => HashMap::new(),
    }
}
