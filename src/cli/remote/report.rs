//! The `report` command: how a site is doing, for a person to read in a terminal.

use std::{collections::BTreeMap, fmt::Write as _};

use chrono::{Days, NaiveDate};
use clap::{Args, ValueEnum};
use common::names::{pages::Pages, sites::SiteName};
use serde::Deserialize;
use serde_json::Value;

use super::{
    api::{Answer, Api, At},
    error::RemoteError,
    numbers::{Day, Metrics, change, count, difference, grouped, sparkline},
    sites::{self, Property},
};
use crate::{
    cli::{
        table::table,
        terminal::{Progress, Text, cut, json, short},
    },
    config::Config,
};

/// The most days that have as many days of history before them.
const COMPARABLE: u32 = 240;

/// Rows of each table.
const ROWS: &str = "10";

/// The heading of the table of pages.
const PAGE: &str = "PAGE";

/// The most columns of a row's name. A longer one is cut.
const WIDEST: usize = 60;

/// Options of `report`.
#[derive(Debug, Args)]
pub struct Report {
    /// The site: its name, a part of its name, its address as `sc-domain:example.org` or `https://example.org/`, or its id.
    #[arg(value_name = "SITE")]
    pub site: String,
    /// The number of final days.
    #[arg(long, value_name = "1 to 480", default_value_t = 28, value_parser = clap::value_parser!(u32).range(1..=480))]
    pub days: u32,
    /// The window to compare with; the period before it by default, if the search engine still has it.
    #[arg(long)]
    pub compare: Option<Compare>,
    /// Print the API's answer instead.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Print the days as CSV instead.
    #[arg(long, conflicts_with = "compare")]
    pub csv: bool,
    /// The server and the person.
    #[command(flatten)]
    pub at: At,
}

/// A window to compare with, as the API names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum Compare {
    /// No comparison.
    None,
    /// As many days, ending the day before.
    PreviousPeriod,
    /// The window moved back by whole weeks.
    PreviousPeriodSameWeekdays,
    /// As many whole months before.
    PreviousCalendarPeriod,
    /// The same dates a year before.
    PreviousYear,
    /// 364 days before.
    PreviousYearSameWeekdays,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    totals: Totals,
    series: Vec<Day>,
    tables: Tables,
}

#[derive(Deserialize)]
struct Totals {
    #[serde(flatten)]
    now: Metrics,
    previous: Option<Metrics>,
}

#[derive(Deserialize)]
struct Tables {
    queries: Vec<Row>,
    pages: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    key: String,
    /// Null on a row that only the comparison window has.
    clicks: Option<u64>,
    impressions: Option<u64>,
    ctr: Option<f64>,
    position: Option<f64>,
    previous: Option<Metrics>,
    presence: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    window: Window,
    compare_window: Option<Window>,
    coverage: Option<Coverage>,
    #[serde(default)]
    warnings: Vec<Warning>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Window {
    start_date: NaiveDate,
    end_date: NaiveDate,
}

#[derive(Deserialize)]
struct Coverage {
    queries: TableCoverage,
    pages: TableCoverage,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TableCoverage {
    available: bool,
    reason: Option<String>,
    known_share: Option<f64>,
    rows_matched: Option<u64>,
    /// True if there are more rows.
    total_rows_capped: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Warning {
    text: String,
    start_date: Option<NaiveDate>,
    end_date: Option<NaiveDate>,
}

#[derive(Deserialize)]
struct Freshness {
    freshness: Option<Final>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Final {
    last_final_date: Option<NaiveDate>,
}

/// Returns what `report` prints.
///
/// # Errors
/// Nobody signs in, no site or several have the name, or the server refuses or does not answer.
pub async fn report(options: &Report, config: &Config) -> Result<Text, RemoteError> {
    let api = Api::open(&options.at, config).await?;
    let all: Vec<Property> = sites::list(&api, false).await?;
    let (site, name) = sites::chosen(&all, &options.site)?;
    let progress = Progress::new();
    progress.say(&format!("reading {name} …"));
    let path = format!("/properties/{}/performance", site.id);
    let mut query = window(&api, &path, options.days).await?;
    query.insert("scope", "all".to_owned());
    query.insert("queryLimit", ROWS.to_owned());
    query.insert("pageLimit", ROWS.to_owned());
    let usual = if options.days > COMPARABLE || options.csv { Compare::None } else { Compare::PreviousPeriod };
    let compare = options.compare.unwrap_or(usual);
    if let Some(compare) = compare.to_possible_value().filter(|_| compare != Compare::None) {
        query.insert("compare", compare.get_name().to_owned());
    }
    if options.json {
        let answer: Value = api.get(&path, &query).await?;
        return json(&answer).map_err(|error| RemoteError::Failed(error.to_string()));
    }
    let Answer { data, meta }: Answer<Data, Meta> = api.get(&path, &query).await?;
    Ok(if options.csv { csv(&data.series) } else { drawn(&name, &data, &meta) })
}

/// The parameters of the last `days` final days, as the freshness of the site's data has them.
async fn window(api: &Api, path: &str, days: u32) -> Result<BTreeMap<&'static str, String>, RemoteError> {
    let totals = BTreeMap::from([("scope", "totals".to_owned())]);
    let Answer { meta: Freshness { freshness }, .. }: Answer<Value, Freshness> = api.get(path, &totals).await?;
    let end = freshness.and_then(|freshness| freshness.last_final_date);
    let start = end.and_then(|end| end.checked_sub_days(Days::new(u64::from(days) - 1)));
    let dates = [("startDate", start), ("endDate", end)].into_iter();
    Ok(dates.filter_map(|(name, date)| Some((name, date?.to_string()))).collect())
}

fn csv(series: &[Day]) -> Text {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let rows = series.iter().map(|Day { date, metrics: Metrics { clicks, impressions, ctr, position } }| {
        format!("{},{clicks},{impressions},{},{}", short(date), number(*ctr), number(*position))
    });
    rows.fold(Text::line("date,clicks,impressions,ctr,position"), Text::and)
}

fn drawn(name: &SiteName, data: &Data, meta: &Meta) -> Text {
    let Window { start_date, end_date } = &meta.window;
    let mut heading = format!("{}, {start_date} to {end_date}", short(&name.to_string()));
    if let Some(Window { start_date, end_date }) = &meta.compare_window {
        // Writing to a string cannot fail.
        let _ = write!(heading, ", compared with {start_date} to {end_date}");
    }
    let mut text = Text::line(heading).and("").above(totals(&data.totals));
    text = text.and("").and(format!("{}  clicks by day", sparkline(&data.series)));
    let (queries, pages) = meta.coverage.as_ref().map(|coverage| (&coverage.queries, &coverage.pages)).unzip();
    let is_compared = meta.compare_window.is_some();
    for (title, rows, coverage) in [("QUERY", &data.tables.queries, queries), (PAGE, &data.tables.pages, pages)] {
        text = text.and("").above(rows_of(title, rows, is_compared));
        if let Some(said) = coverage.and_then(|coverage| covered(title, rows.len(), coverage)) {
            text = text.and(said);
        }
    }
    for Warning { text: warning, start_date, end_date } in &meta.warnings {
        let days = start_date.zip(*end_date).map(|(start, end)| format!(" ({start} to {end})")).unwrap_or_default();
        text = text.and("").and(format!("Note{days}: {warning}"));
    }
    text
}

/// The totals, beside those of the other window and the change if there is one.
fn totals(totals: &Totals) -> Text {
    let Totals { now, previous } = totals;
    let percent = |metrics: &Metrics| metrics.ctr.map(|ctr| ctr * 100.0);
    let Some(previous) = previous else {
        let rows = [
            ("clicks", grouped(now.clicks)),
            ("impressions", grouped(now.impressions)),
            ("CTR", now.ctr()),
            ("position", now.position()),
        ];
        return table(["", "NOW"], rows.into_iter().map(|(name, now)| [name.to_owned(), now]));
    };
    let count = |name: &str, now, before| [name.to_owned(), grouped(now), grouped(before), change(now, Some(before))];
    let rows = [
        count("clicks", now.clicks, previous.clicks),
        count("impressions", now.impressions, previous.impressions),
        ["CTR".to_owned(), now.ctr(), previous.ctr(), difference(percent(now), percent(previous))],
        ["position".to_owned(), now.position(), previous.position(), difference(now.position, previous.position)],
    ];
    table(["", "NOW", "BEFORE", "CHANGE"], rows.into_iter())
}

fn rows_of(title: &str, rows: &[Row], is_compared: bool) -> Text {
    let pages = Pages::of(rows.iter().map(|row| row.key.as_str()).filter(|_| title == PAGE));
    let named = |key: &str| if title == PAGE { cut(&pages.name(key), WIDEST) } else { cut(key, WIDEST) };
    let shown = |row: &Row| {
        let rates = Metrics { clicks: 0, impressions: 0, ctr: row.ctr, position: row.position };
        [named(&row.key), count(row.clicks), count(row.impressions), rates.ctr(), rates.position()]
    };
    if !is_compared {
        return table([title, "CLICKS", "IMPRESSIONS", "CTR", "POSITION"], rows.iter().map(shown));
    }
    let rows = rows.iter().map(|row| {
        let [key, clicks, impressions, ctr, position] = shown(row);
        let changed = match row.presence.as_deref() {
            Some(presence @ ("new" | "lost" | "unknown")) => presence.to_owned(),
            _ => change(row.clicks.unwrap_or_default(), row.previous.as_ref().map(|previous| previous.clicks)),
        };
        [key, clicks, changed, impressions, ctr, position]
    });
    table([title, "CLICKS", "CHANGE", "IMPRESSIONS", "CTR", "POSITION"], rows)
}

/// The number of rows, and the part of the site's clicks that all of them hold, or the reason why there are none.
fn covered(title: &str, shown: usize, coverage: &TableCoverage) -> Option<String> {
    if !coverage.available {
        return coverage.reason.clone();
    }
    let known = coverage.known_share? * 100.0;
    let rows = if title == "QUERY" { "queries" } else { "pages" };
    let at_least = if coverage.total_rows_capped == Some(true) { "at least " } else { "" };
    let all = coverage.rows_matched.map(|matched| format!("{shown} of {at_least}{} {rows}. ", grouped(matched)));
    let all = all.unwrap_or_default();
    Some(format!("{all}All named {rows} hold {known:.0}% of the clicks."))
}
