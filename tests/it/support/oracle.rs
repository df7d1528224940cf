//! An independent check of responses: sums the generator's cells one by one, in the slow and obvious way. Shares no code
//! with the service.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{LazyLock, Mutex},
};

use chrono::NaiveDate;
use regex::Regex;
use serde_json::{Value, json};
use simulator::{Cell, PagePart, SearchType, Site};

/// Clicks, impressions, and the sum of the positions of all impressions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Sum {
    pub clicks: u64,
    pub impressions: u64,
    pub positions: u64,
}

/// A number of rows, and their clicks.
pub type Tally = (usize, u64);

/// Counts rows.
pub fn tally(rows: impl IntoIterator<Item = Sum>) -> Tally {
    rows.into_iter().fold((0, 0), |(rows, clicks), row| (rows + 1, clicks + row.clicks))
}

/// The rows that an answer lists, and the number of rows on all pages, unless they belong to rows of another list.
pub type Listed = (Tally, Option<usize>);

/// The expected coverage of a list that is read up to a ceiling. `property` and `slice` are the clicks that the shares are of.
pub fn coverage_said(
    count: Count,
    (capped, ceiling): (bool, usize),
    (listed, known): (Option<Listed>, Tally),
    property: u64,
    slice: u64,
) -> Value {
    let aggregation = if count == Count::ByPage { "byPage" } else { "byProperty" };
    let mut said = json!({
        "available": true, "aggregation": aggregation, "rowsKnown": known.0, "rowsCeiling": ceiling, "totalRowsCapped": capped,
    });
    let mut share = |name: &str, part: u64, whole: u64| {
        if whole > 0 {
            said[name] = (part as f64 / whole as f64).into();
        }
    };
    share("knownShare", known.1, property);
    if let Some(((_, clicks), _)) = listed {
        share("clicksShare", clicks, property);
        share("sliceShare", clicks, slice);
    }
    if let Some(((shown, clicks), matched)) = listed {
        (said["rowsShown"], said["clicks"]) = (shown.into(), clicks.into());
        if let Some(matched) = matched {
            (said["rowsMatched"], said["hasMore"]) = (matched.into(), (shown < matched).into());
        }
    }
    said
}

/// The way impressions are counted: per results page, or per URL on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    ByProperty,
    ByPage,
}

/// One counted unit: a cell, or by page one page's part of it.
#[derive(Clone, Copy)]
pub struct Counted<'c> {
    pub date: NaiveDate,
    pub cell: &'c Cell,
    pub part: Option<&'c PagePart>,
}

/// The keys that a unit is counted under.
pub type Keys<'k> = &'k dyn Fn(Counted<'_>) -> Vec<String>;

/// The cells of a window.
pub struct Truth(Vec<(NaiveDate, Cell)>);

pub fn day(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

/// First and last day.
pub type Window = (&'static str, &'static str);

/// Every day of a window.
fn days_of((start, end): Window) -> Vec<NaiveDate> {
    day(start).iter_days().take_while(|date| *date <= day(end)).collect()
}

/// The final days of a window.
pub fn final_days(window: Window, last_final: &str) -> Vec<NaiveDate> {
    days_of(window).into_iter().filter(|date| *date <= day(last_final)).collect()
}

/// The days that a comparison counts: if any day is not final, as many final days from the start of each window. `None` if there are
/// none.
pub fn compared_days(window: Window, before: Window, last_final: &str) -> Option<[Window; 2]> {
    let windows = [window, before];
    let known = windows.map(|window| final_days(window, last_final));
    if windows.map(|window| days_of(window).len()) == known.each_ref().map(Vec::len) {
        return Some(windows);
    }
    let days = known.each_ref().map(Vec::len).into_iter().min().filter(|days| *days > 0)?;
    let text = |date: NaiveDate| &*date.to_string().leak();
    Some(known.map(|known| (text(known[0]), text(known[days - 1]))))
}

/// The days of a window that totals and rows count: with a comparison the compared ones. A window that ends before it begins if
/// there are none.
pub fn counted_days(window: Window, before: Option<Window>, last_final: &str) -> Window {
    const NONE: Window = ("2026-11-22", "2026-11-21");
    match before {
        Some(before) => compared_days(window, before, last_final).map_or(NONE, |[now, _]| now),
        None if window.0 > last_final => NONE,
        None => window,
    }
}

/// The expected `meta.days`.
pub fn days_said(window: Window, before: Option<Window>, last_final: &str) -> Value {
    let range = |(start, end): Window| json!({ "startDate": start, "endDate": end });
    let open = |window: Window| {
        let open = days_of(window).into_iter().filter(|date| *date > day(last_final));
        open.map(|date| date.to_string()).collect::<Vec<_>>()
    };
    let said = |counted: usize, window: Window| json!({ "counted": counted, "notFinal": open(window) });
    let counted = final_days(counted_days(window, before, last_final), last_final).len();
    let mut days = json!({ "current": said(counted, window) });
    if let Some(before) = before {
        let compared = compared_days(window, before, last_final);
        days["previous"] = said(compared.map_or(0, |[_, before]| days_of(before).len()), before);
        if let Some([now, earlier]) = compared {
            let shortened = !open(window).is_empty() || !open(before).is_empty();
            days["compared"] = json!({ "current": range(now), "previous": range(earlier), "shortened": shortened });
        }
    }
    days
}

impl Sum {
    fn add(&mut self, other: Self) {
        *self = self.plus(other);
    }

    pub fn plus(self, other: Self) -> Self {
        Self {
            clicks: self.clicks + other.clicks,
            impressions: self.impressions + other.impressions,
            positions: self.positions + other.positions,
        }
    }

    /// The values of a metrics object, with the sum of positions restored from the average. A missing position counts as
    /// zero.
    pub fn said(metrics: &Value) -> Self {
        let count = |name: &str| metrics[name].as_u64().unwrap_or_else(|| panic!("no {name} in {metrics}"));
        let impressions = count("impressions");
        let positions = metrics["position"].as_f64().map_or(0.0, |average| (average * impressions as f64).round());
        let sum = Self { clicks: count("clicks"), impressions, positions: format!("{positions:.0}").parse().unwrap() };
        let ctr = metrics["ctr"].as_f64();
        assert_eq!(ctr.is_some(), impressions > 0, "{metrics}");
        assert!(ctr.is_none_or(|ctr| (ctr - sum.clicks as f64 / impressions as f64).abs() < 1e-12), "{metrics}");
        sum
    }

    /// Clicks ÷ impressions.
    pub fn ctr(self) -> Option<f64> {
        (self.impressions > 0).then(|| self.clicks as f64 / self.impressions as f64)
    }

    /// The average position of an impression.
    pub fn position(self) -> Option<f64> {
        (self.impressions > 0).then(|| self.positions as f64 / self.impressions as f64)
    }

    /// The sum without positions, as for feeds.
    pub fn unplaced(self) -> Self {
        Self { positions: 0, ..self }
    }
}

impl Truth {
    /// The cells of `site` from `start` to `end`, both included.
    pub fn of(site: &Site, search_type: SearchType, start: &str, end: &str) -> Self {
        let days = day(start).iter_days().take_while(|date| *date <= day(end));
        Self(days.flat_map(|date| site.cells(search_type, date).map(move |cell| (date, cell))).collect())
    }

    /// The cells themselves.
    pub fn cells(&self) -> impl Iterator<Item = &Cell> {
        self.0.iter().map(|(_, cell)| cell)
    }

    /// All counted units.
    fn counted(&self, count: Count) -> impl Iterator<Item = (Counted<'_>, Sum)> {
        self.0.iter().flat_map(move |(date, cell)| {
            let date = *date;
            let whole = Sum { clicks: cell.clicks, impressions: cell.impressions, positions: cell.position_sum };
            let whole = (count == Count::ByProperty).then_some((Counted { date, cell, part: None }, whole));
            let pages = if count == Count::ByPage { &cell.pages[..] } else { &[] };
            let parts = pages.iter().map(move |part| {
                let sum = Sum { clicks: part.clicks, impressions: part.impressions, positions: part.position_sum };
                (Counted { date, cell, part: Some(part) }, sum)
            });
            whole.into_iter().chain(parts)
        })
    }

    /// The sum of all units that `wanted` selects.
    pub fn total(&self, count: Count, wanted: &dyn Fn(Counted<'_>) -> bool) -> Sum {
        let mut total = Sum::default();
        self.counted(count).filter(|(counted, _)| wanted(*counted)).for_each(|(_, sum)| total.add(sum));
        total
    }

    /// The sums by key of all units that `wanted` selects. A unit may have several keys, or none.
    pub fn by(&self, count: Count, wanted: &dyn Fn(Counted<'_>) -> bool, keys: Keys<'_>) -> BTreeMap<String, Sum> {
        let mut sums = BTreeMap::<String, Sum>::new();
        for (counted, sum) in self.counted(count).filter(|(counted, _)| wanted(*counted)) {
            for key in keys(counted) {
                sums.entry(key).or_default().add(sum);
            }
        }
        sums
    }
}

/// Selects everything.
pub fn all(_: Counted<'_>) -> bool {
    true
}

pub fn by_query(counted: Counted<'_>) -> Vec<String> {
    if counted.cell.anonymised { Vec::new() } else { vec![counted.cell.query.to_string()] }
}

pub fn by_page(counted: Counted<'_>) -> Vec<String> {
    vec![counted.part.unwrap().url.to_string()]
}

pub fn by_country(counted: Counted<'_>) -> Vec<String> {
    vec![counted.cell.country.to_owned()]
}

pub fn by_device(counted: Counted<'_>) -> Vec<String> {
    vec![counted.cell.device.to_owned()]
}

pub fn by_date(counted: Counted<'_>) -> Vec<String> {
    vec![counted.date.to_string()]
}

pub fn by_appearance(counted: Counted<'_>) -> Vec<String> {
    counted.part.unwrap().appearances.iter().map(|name| (*name).to_owned()).collect()
}

/// The keys of a unit by a dimension.
pub fn by_dimension(dimension: &str) -> Keys<'static> {
    match dimension {
        "date" => &by_date,
        "query" => &by_query,
        "page" => &by_page,
        "country" => &by_country,
        "device" => &by_device,
        "searchAppearance" => &by_appearance,
        other => panic!("{other}"),
    }
}

/// Separates the keys of several dimensions. It comes before every character of a key.
pub const SEPARATOR: &str = "\0";

/// The keys of a unit by several dimensions, each joined by [`SEPARATOR`]. Without dimensions it has one, which is empty.
pub fn by_dimensions(dimensions: &[&str], counted: Counted<'_>) -> Vec<String> {
    let keys = dimensions.iter().map(|dimension| by_dimension(dimension)(counted));
    let joined = keys.reduce(|all, next| {
        all.iter().flat_map(|key| next.iter().map(move |next| format!("{key}{SEPARATOR}{next}"))).collect()
    });
    joined.unwrap_or_else(|| vec![String::new()])
}

/// The rows of a table, or the points of a series, by `key`.
pub fn said_by(rows: &Value, key: &str) -> BTreeMap<String, Sum> {
    let rows = rows.as_array().unwrap_or_else(|| panic!("no rows in {rows}"));
    let by: BTreeMap<_, _> = rows.iter().map(|row| (row[key].as_str().unwrap().to_owned(), Sum::said(row))).collect();
    assert_eq!(by.len(), rows.len(), "a key is there twice");
    by
}

/// One condition of a filter, as the documentation describes it.
#[derive(Debug, Clone)]
pub struct Wish {
    pub dimension: &'static str,
    pub operator: &'static str,
    pub value: String,
    pub or: bool,
}

impl Wish {
    /// The condition in the API's format.
    pub fn json(&self) -> Value {
        let logic = if self.or { "or" } else { "and" };
        json!({ "dimension": self.dimension, "operator": self.operator, "value": self.value, "logic": logic })
    }

    fn holds(&self, counted: Counted<'_>) -> bool {
        let cell = counted.cell;
        match self.dimension {
            "query" => !cell.anonymised && self.compares(&cell.query),
            "page" => self.compares(&counted.part.unwrap().url),
            "country" => self.folded().compares(cell.country),
            "device" => self.folded().compares(&cell.device.to_lowercase()),
            "searchAppearance" => {
                let mut names = counted.part.unwrap().appearances.iter().map(|name| name.to_lowercase());
                // A page without any has none that contains the value.
                if self.operator == "not_contains" {
                    names.all(|name| self.folded().compares(&name))
                } else {
                    names.any(|name| self.folded().compares(&name))
                }
            }
            other => panic!("{other}"),
        }
    }

    fn folded(&self) -> Self {
        Self { value: self.value.to_lowercase(), ..self.clone() }
    }

    fn compares(&self, text: &str) -> bool {
        let found = || text.to_lowercase().contains(&self.value.to_lowercase());
        match self.operator {
            "equals" => text == self.value,
            "contains" => found(),
            "not_contains" => !found(),
            "matches_regex" => compiled(&self.value).is_match(text),
            "or_list" => self.value.split(',').any(|item| item.trim() == text),
            other => panic!("{other}"),
        }
    }
}

fn compiled(pattern: &str) -> Regex {
    static COMPILED: LazyLock<Mutex<HashMap<String, Regex>>> = LazyLock::new(Mutex::default);
    let mut known = COMPILED.lock().unwrap();
    known.entry(pattern.to_owned()).or_insert_with(|| Regex::new(pattern).unwrap()).clone()
}

/// Returns whether a list of conditions holds. `or` separates groups, and all conditions of one group must hold.
pub fn holds(wishes: &[Wish], counted: Counted<'_>) -> bool {
    let (mut any, mut run) = (false, true);
    for (index, wish) in wishes.iter().enumerate() {
        if wish.or && index > 0 {
            any |= run;
            run = true;
        }
        run &= wish.holds(counted);
    }
    any || run
}

/// The way that a question with these conditions counts.
pub fn counts(wishes: &[Wish]) -> Count {
    let by_page = wishes.iter().any(|wish| matches!(wish.dimension, "page" | "searchAppearance"));
    if by_page { Count::ByPage } else { Count::ByProperty }
}
