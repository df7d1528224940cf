//! Provider A's keyword figures as advertisers see them.

use std::cmp::Reverse;

use chrono::{Datelike as _, Months, NaiveDate};
use serde_json::{Value, json};

use super::keywords::{from_cents, level, monthly, volume};
use super::{Failure, Found, Task, fields};
use crate::providers::market::{Monthly, normal};

/// Months of history that can be asked for.
const HISTORY: u32 = 48;

/// One element for each keyword, also for unknown ones.
pub(super) fn search_volume(task: &Task<'_>) -> Result<Found, Failure> {
    let keywords = task.given("keywords").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let months = months(task)?;
    let mut seen = std::collections::HashSet::new();
    let unique = keywords.iter().filter_map(Value::as_str).map(normal).filter(|keyword| seen.insert(keyword.clone()));
    let mut result: Vec<Value> = unique.map(|keyword| element(task, &keyword, &months)).collect();
    let number = |row: &Value, name: &str| Reverse(row[name].as_u64());
    match task.text("sort_by") {
        "search_volume" => result.sort_by_key(|row| number(row, "search_volume")),
        "competition_index" => result.sort_by_key(|row| number(row, "competition_index")),
        _ => {}
    }
    Ok(Found { rows: result.len(), result })
}

/// The months asked for, newest first: the last twelve whole ones, unless the task says otherwise.
fn months(task: &Task<'_>) -> Result<Vec<NaiveDate>, Failure> {
    let (oldest, newest) = (task.research.month(HISTORY), task.research.month(1));
    let month = |name: &'static str| match task.given(name).and_then(Value::as_str) {
        None => Ok(None),
        Some(text) => {
            let day: Option<NaiveDate> = text.parse().ok();
            let first = day.and_then(|day| day.with_day(1)).filter(|first| (oldest..=newest).contains(first));
            first.map(Some).ok_or(Failure::Field(name))
        }
    };
    let to = month("date_to")?.unwrap_or(newest);
    let from = month("date_from")?.unwrap_or_else(|| to.checked_sub_months(Months::new(11)).unwrap_or(to));
    if from > to {
        return Err(Failure::Field("date_from"));
    }
    let back = (0..HISTORY).filter_map(|back| to.checked_sub_months(Months::new(back)));
    Ok(back.take_while(|month| *month >= from).collect())
}

fn element(task: &Task<'_>, keyword: &str, months: &[NaiveDate]) -> Value {
    let (place, location) = fields::place(task.fields);
    let figures = task.research.figures(keyword, place);
    let searched = |month: &NaiveDate| task.research.searches_in(keyword, place, *month);
    let series: Option<Vec<Monthly>> = figures.as_ref().and_then(|_| months.iter().map(searched).collect());
    let bid = figures.as_ref().and_then(|figures| figures.cents_per_click.map(|cents| (cents, figures.competition)));
    let cents = bid.map(|(cents, _)| cents);
    json!({
        "keyword": keyword,
        "spell": null,
        "location_code": location,
        "language_code": fields::language(task.fields),
        "search_partners": task.flag("search_partners").unwrap_or(false),
        "competition": bid.map(|(_, competition)| level(competition)),
        "competition_index": bid.map(|(_, competition)| crate::world::rng::count(competition * 100.0)),
        "search_volume": figures.as_ref().map(|figures| volume(figures.searches)),
        "low_top_of_page_bid": cents.map(|cents| from_cents(cents * 2 / 5)),
        "high_top_of_page_bid": cents.map(|cents| from_cents(cents * 8 / 5)),
        "cpc": cents.map(from_cents),
        "monthly_searches": series.map(|series| monthly(&series)),
    })
}
