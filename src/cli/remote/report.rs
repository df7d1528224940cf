//! The `report` command: how a site is doing, for a person to read in a terminal.

use std::{collections::BTreeMap, fmt::Write as _};

use chrono::{Days, NaiveDate};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use serde_json::Value;

use super::{
    api::{Answer, Api, At},
    error::RemoteError,
    numbers::{Day, Metrics, change, difference, grouped, sparkline},
    sites::{self, Property},
};
use crate::{
    cli::{
        table::table,
        terminal::{Progress, Text, json, short},
    },
    config::Config,
};

/// The most days that have as many days of history before them.
const COMPARABLE: u32 = 240;

/// The most names of sites in an error.
const NAMED: usize = 10;

/// Rows of each table.
const ROWS: &str = "10";

/// The most characters of a row's name. A longer one is cut.
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
    #[serde(flatten)]
    now: Metrics,
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
    let site = chosen(&all, &options.site)?;
    let progress = Progress::new();
    progress.say(&format!("reading {} …", site.name));
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
    Ok(if options.csv { csv(&data.series) } else { drawn(&site.name, &data, &meta) })
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

/// The site that a person means: by its id or address, else by its name, else by a part of its name.
fn chosen<'a>(all: &'a [Property], wanted: &str) -> Result<&'a Property, RemoteError> {
    let wanted = wanted.trim();
    let is_it = |site: &&Property| site.id == wanted || site.site_url.eq_ignore_ascii_case(wanted);
    if let Some(site) = all.iter().find(is_it) {
        return Ok(site);
    }
    let plain = wanted.to_lowercase();
    let plain = plain.trim_start_matches("https://").trim_start_matches("http://").trim_end_matches('/');
    let part = plain.trim_start_matches("www.");
    let having = |is_meant: &dyn Fn(&str) -> bool| {
        all.iter().filter(|site| is_meant(&site.name.to_lowercase())).collect::<Vec<_>>()
    };
    let mut found = having(&|name| name == plain);
    if found.is_empty() && !part.is_empty() {
        found = having(&|name| name.contains(part));
    }
    let named = |sites: &[&Property]| {
        let names = sites.iter().take(NAMED).map(|site| short(&site.site_url)).collect::<Vec<_>>().join(", ");
        let more = sites.len().saturating_sub(NAMED);
        if more == 0 { names } else { format!("{names} and {more} more (`sightline sites` lists them)") }
    };
    match found[..] {
        [site] => Ok(site),
        [] if all.is_empty() => Err(RemoteError::Failed("there are no sites yet".to_owned())),
        [] => Err(RemoteError::Failed(format!(
            "no site is called {wanted:?}; there are {}",
            named(&all.iter().collect::<Vec<_>>())
        ))),
        _ => Err(RemoteError::Failed(format!("{wanted:?} may be {}; name one of them", named(&found)))),
    }
}

fn csv(series: &[Day]) -> Text {
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let rows = series.iter().map(|Day { date, metrics: Metrics { clicks, impressions, ctr, position } }| {
        format!("{},{clicks},{impressions},{},{}", short(date), number(*ctr), number(*position))
    });
    rows.fold(Text::line("date,clicks,impressions,ctr,position"), Text::and)
}

fn drawn(name: &str, data: &Data, meta: &Meta) -> Text {
    let Window { start_date, end_date } = &meta.window;
    let mut heading = format!("{}, {start_date} to {end_date}", short(name));
    if let Some(Window { start_date, end_date }) = &meta.compare_window {
        // Writing to a string cannot fail.
        let _ = write!(heading, ", compared with {start_date} to {end_date}");
    }
    let mut text = Text::line(heading).and("").above(totals(&data.totals));
    text = text.and("").and(format!("{}  clicks by day", sparkline(&data.series)));
    let (queries, pages) = meta.coverage.as_ref().map(|coverage| (&coverage.queries, &coverage.pages)).unzip();
    let is_compared = meta.compare_window.is_some();
    for (title, rows, coverage) in [("QUERY", &data.tables.queries, queries), ("PAGE", &data.tables.pages, pages)] {
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
    if !is_compared {
        let rows = rows.iter().map(|Row { key, now, .. }| {
            [cut(key), grouped(now.clicks), grouped(now.impressions), now.ctr(), now.position()]
        });
        return table([title, "CLICKS", "IMPRESSIONS", "CTR", "POSITION"], rows);
    }
    let rows = rows.iter().map(|Row { key, now, previous, presence }| {
        let changed = match presence.as_deref() {
            Some(presence @ ("new" | "unknown")) => presence.to_owned(),
            _ => change(now.clicks, previous.as_ref().map(|previous| previous.clicks)),
        };
        [cut(key), grouped(now.clicks), changed, grouped(now.impressions), now.ctr(), now.position()]
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

/// The name of a row, not too wide.
fn cut(key: &str) -> String {
    if key.chars().count() <= WIDEST {
        return key.to_owned();
    }
    key.chars().take(WIDEST - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn site(name: &str) -> Property {
        at(&format!("sc-domain:{name}"), name)
    }

    fn at(address: &str, name: &str) -> Property {
        let site =
            json!({ "id": format!("id-{name}"), "siteUrl": address, "name": name, "role": "owner", "access": "ok" });
        serde_json::from_value(site).unwrap()
    }

    #[test]
    fn a_site_is_found_by_its_name_or_by_a_part_of_it() {
        let all = ["north.example", "north.example.org", "south.example"].map(site);
        let found = |wanted| chosen(&all, wanted).map(|site| site.name.clone()).map_err(|error| error.to_string());
        assert_eq!(found("north.example").unwrap(), "north.example");
        assert_eq!(found("sc-domain:south.example").unwrap(), "south.example");
        assert_eq!(found("id-south.example").unwrap(), "south.example");
        assert_eq!(found("sou").unwrap(), "south.example");
        assert_eq!(found("https://www.SOUTH.example/").unwrap(), "south.example");
        assert_eq!(
            found("nor").unwrap_err(),
            "\"nor\" may be sc-domain:north.example, sc-domain:north.example.org; name one of them"
        );
        for unknown in ["west", "", "https://"] {
            assert!(found(unknown).unwrap_err().contains("there are sc-domain:north.example, "), "{unknown}");
        }
    }

    #[test]
    fn sites_of_one_name_are_told_apart_by_their_addresses() {
        let all = ["sc-domain:north.example", "https://north.example/", "http://north.example/"];
        let all = all.map(|address| at(address, "north.example"));
        for site in &all {
            assert_eq!(chosen(&all, &site.site_url).unwrap().site_url, site.site_url);
        }
        for name in ["north.example", "nor"] {
            let said = chosen(&all, name).unwrap_err().to_string();
            assert!(said.contains("may be sc-domain:north.example, https://north.example/, http://"), "{said}");
        }
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(cut(&"x".repeat(61)).chars().count(), 60);
    }
}
