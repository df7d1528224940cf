//! The `report` command: how a site is doing, for a person to read in a terminal.

use std::{collections::BTreeMap, fmt::Write as _};

use api::{
    analytics::{SeriesPoint, TableRow, Totals},
    models::{DateRange, Presence, TableCoverage},
};
use chrono::{Days, NaiveDate};
use clap::{Args, ValueEnum};
use common::names::{pages::Pages, sites::SiteName};
use serde_json::Value;

use super::{
    api::{Answer, Api, At},
    error::RemoteError,
    numbers::{change, count, ctr, difference, grouped, position, sparkline},
    sites,
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

/// Returns what `report` prints.
///
/// # Errors
/// Nobody signs in, no site or several have the name, or the server refuses or does not answer.
pub async fn report(options: &Report, config: &Config) -> Result<Text, RemoteError> {
    let api = Api::open(&options.at, config).await?;
    let all = sites::list(&api, false).await?;
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
    let answer = api.get(&path, &query).await?;
    if options.json {
        return json(&answer.json).map_err(|error| RemoteError::Failed(error.to_string()));
    }
    if options.csv { csv(&answer) } else { drawn(&name, &answer) }
}

/// The parameters of the last `days` final days, as the freshness of the site's data has them.
async fn window(api: &Api, path: &str, days: u32) -> Result<BTreeMap<&'static str, String>, RemoteError> {
    let totals = BTreeMap::from([("scope", "totals".to_owned())]);
    let end: Option<NaiveDate> = api.get(path, &totals).await?.part("/meta/freshness/lastFinalDate")?;
    let start = end.and_then(|end| end.checked_sub_days(Days::new(u64::from(days) - 1)));
    let dates = [("startDate", start), ("endDate", end)].into_iter();
    Ok(dates.filter_map(|(name, date)| Some((name, date?.to_string()))).collect())
}

fn csv(answer: &Answer) -> Result<Text, RemoteError> {
    let series: Vec<SeriesPoint> = answer.part("/data/series")?;
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let rows = series.iter().map(|SeriesPoint { period, clicks, impressions, ctr, position, .. }| {
        format!("{},{clicks},{impressions},{},{}", period.date, number(*ctr), number(*position))
    });
    Ok(rows.fold(Text::line("date,clicks,impressions,ctr,position"), Text::and))
}

fn drawn(name: &SiteName, answer: &Answer) -> Result<Text, RemoteError> {
    let DateRange { start_date, end_date } = answer.part("/meta/window")?;
    let mut heading = format!("{}, {start_date} to {end_date}", short(&name.to_string()));
    let compared: Option<DateRange> = answer.part("/meta/compareWindow")?;
    if let Some(DateRange { start_date, end_date }) = compared {
        // Writing to a string cannot fail.
        let _ = write!(heading, ", compared with {start_date} to {end_date}");
    }
    let mut text = Text::line(heading).and("").above(totals(&answer.part("/data/totals")?));
    let series: Vec<SeriesPoint> = answer.part("/data/series")?;
    let clicks: Vec<u64> = series.iter().map(|day| day.clicks).collect();
    text = text.and("").and(format!("{}  clicks by day", sparkline(&clicks)));
    for (title, name) in [("QUERY", "queries"), (PAGE, "pages")] {
        let rows: Vec<TableRow> = answer.part(&format!("/data/tables/{name}"))?;
        text = text.and("").above(rows_of(title, &rows, compared.is_some()));
        let coverage: Option<TableCoverage> = answer.part(&format!("/meta/coverage/{name}"))?;
        if let Some(said) = coverage.and_then(|coverage| covered(name, rows.len(), coverage)) {
            text = text.and(said);
        }
    }
    let warnings: Option<Vec<Value>> = answer.part("/meta/warnings")?;
    for warning in warnings.iter().flatten() {
        let field = |name: &str| warning[name].as_str();
        let days = field("startDate").zip(field("endDate"));
        let days = days.map(|(start, end)| format!(" ({start} to {end})")).unwrap_or_default();
        text = text.and("").and(format!("Note{days}: {}", field("text").unwrap_or_default()));
    }
    Ok(text)
}

/// The totals, beside those of the other window and the change if there is one.
fn totals(now: &Totals) -> Text {
    let Some(before) = &now.previous else {
        let rows = [
            ("clicks", grouped(now.clicks)),
            ("impressions", grouped(now.impressions)),
            ("CTR", ctr(now.ctr)),
            ("position", position(now.position)),
        ];
        return table(["", "NOW"], rows.into_iter().map(|(name, now)| [name.to_owned(), now]));
    };
    let percent = |ctr: Option<f64>| ctr.map(|ctr| ctr * 100.0);
    let count = |name: &str, now, before| [name.to_owned(), grouped(now), grouped(before), change(now, Some(before))];
    let places = [position(now.position), position(before.position), difference(now.position, before.position)];
    let rates = [ctr(now.ctr), ctr(before.ctr), difference(percent(now.ctr), percent(before.ctr))];
    let named = |name: &str, [now, before, change]: [String; 3]| [name.to_owned(), now, before, change];
    let rows = [
        count("clicks", now.clicks, before.clicks),
        count("impressions", now.impressions, before.impressions),
        named("CTR", rates),
        named("position", places),
    ];
    table(["", "NOW", "BEFORE", "CHANGE"], rows.into_iter())
}

fn rows_of(title: &str, rows: &[TableRow], is_compared: bool) -> Text {
    let pages = Pages::of(rows.iter().map(|row| row.key.as_str()).filter(|_| title == PAGE));
    let named = |key: &str| if title == PAGE { cut(&pages.name(key), WIDEST) } else { cut(key, WIDEST) };
    let shown = |row: &TableRow| {
        [named(&row.key), count(row.clicks), count(row.impressions), ctr(row.ctr), position(row.position)]
    };
    if !is_compared {
        return table([title, "CLICKS", "IMPRESSIONS", "CTR", "POSITION"], rows.iter().map(shown));
    }
    let rows = rows.iter().map(|row| {
        let [key, clicks, impressions, ctr, position] = shown(row);
        let changed = match row.presence {
            Some(presence) if presence != Presence::Both => presence.name().to_owned(),
            _ => change(row.clicks.unwrap_or_default(), row.previous.as_ref().map(|previous| previous.clicks)),
        };
        [key, clicks, changed, impressions, ctr, position]
    });
    table([title, "CLICKS", "CHANGE", "IMPRESSIONS", "CTR", "POSITION"], rows)
}

/// The number of rows, and the part of the site's clicks that all of them hold, or the reason why there are none.
fn covered(rows: &str, shown: usize, coverage: TableCoverage) -> Option<String> {
    if !coverage.available {
        return coverage.reason;
    }
    let known = coverage.known_share? * 100.0;
    let at_least = if coverage.total_rows_capped == Some(true) { "at least " } else { "" };
    let all = coverage.rows_matched.map(|matched| format!("{shown} of {at_least}{} {rows}. ", grouped(matched)));
    let all = all.unwrap_or_default();
    Some(format!("{all}All named {rows} hold {known:.0}% of the clicks."))
}
