//! Small daily series for table rows.

use std::collections::{BTreeMap, HashMap, HashSet};

use analytics::{
    coverage::Known,
    listing::Listing,
    page::{Page, Shown},
    series::{self, Slot, Span},
    table::Sides,
};
use api::{
    analytics::{
        SeriesPoint, Sparkline, SparklineTable, Sparklines, SparklinesAnswer, SparklinesCoverage, SparklinesMeta,
        SparklinesParams,
    },
    params::{Echo, Sort},
};
use common::{metrics::Metrics, plain_text::quoted};
use search_engine::{Dimension, ENGINE_CEILING, Plan, any_of, countries, filter::DEVICES};

use super::{
    Asked, Listed, PartId, Parts, Readings, Wholes, by_key_and_time, check_has, compared::Days, page,
    per_window::PerWindow, prepared::Prepared, search_data::SearchData, table_cap, times,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The parts of the series, and their readings.
struct Read {
    /// The table, if the rows requested are its first ones.
    table: Option<PartId>,
    /// The days of each key.
    by_time: PerWindow<Vec<PartId>>,
    wholes: Wholes,
    readings: Readings,
}

/// The rows of each key by time.
type Times<'r> = HashMap<&'r str, BTreeMap<Slot, Metrics>>;

fn by_key<'r>(readings: &'r Readings, parts: &[PartId], span: Span) -> Times<'r> {
    // No key is in two readings.
    parts.iter().flat_map(|id| by_key_and_time(&readings[*id], span)).collect()
}

/// Returns every period for one key.
fn periods(times: &Times<'_>, key: &str, span: Span) -> Vec<SeriesPoint> {
    let nothing = BTreeMap::new();
    series::filled(times.get(key).unwrap_or(&nothing), span)
}

/// Computes the series.
pub async fn sparklines(
    search: &SearchData,
    access: &ReadableProperty,
    params: &SparklinesParams,
) -> Result<Prepared<SparklinesAnswer>, Error> {
    let dimension = Dimension::from(params.table.dimension());
    check_has(params.question.slice.search_type, dimension, "table")?;
    let asked_for = params.keys.as_ref().map(|keys| canonical(dimension, &keys.0)).transpose()?;
    if params.order.sort.is_some_and(Sort::needs_comparison) {
        return Err(Error::invalid("sort: the rows of sparklines are sorted by a metric, not by its change"));
    }
    let page = page(&params.order, params.table.dimension(), params.offset.offset, params.limit.0 as usize, false)?;
    let asked = Asked::settle_by(search, access, &params.question, params.series.granularity).await?;
    let plan = asked.settled.plan().await?;
    let slice = asked.settled.plan_without_queries().await?;
    let (by_page, own, counted) = (dimension == Dimension::Page, [dimension], asked.settled.days().counted);
    let mut parts = asked.parts();
    // The keys are known when the table is.
    let table = asked_for.is_none().then(|| parts.rows(counted, &own, table_cap(dimension), &plan));
    let wholes = parts.wholes(counted, by_page, &slice);
    let days_of = |keys: &[String], parts: &mut Parts<'_>| {
        declare_days(&asked, dimension, &key_plans(dimension, keys, &plan), parts)
    };
    let named = asked_for.as_ref().map(|keys| days_of(keys, &mut parts));
    let readings = parts.read().await?;
    let (keys, shown) = {
        let listed = Listed::maybe(table.map(|id| &*readings[id]));
        let sides = Sides { current: listed.listing(), previous: None };
        let paged = sides.page(&page);
        let first = || paged.places.iter().map(|place| sides.row(*place).key.to_owned());
        (asked_for.unwrap_or_else(|| first().collect()), paged.shown)
    };
    let by_time = named.unwrap_or_else(|| days_of(&keys, &mut parts));
    parts.read().await?;
    let read = Read { table, by_time, wholes, readings: parts.finish() };
    let origin = read.readings.origin();
    let answer = move |asked: &Asked, params: &_| answer(asked, params, &page, (&keys, shown), &read);
    let understood = SparklinesParams { question: asked.question(), ..params.clone() };
    asked.answer(access, understood, origin, answer)
}

/// Returns the keys in the search engine's spelling.
fn canonical(dimension: Dimension, keys: &[String]) -> Result<Vec<String>, Error> {
    let canonical = |key: &String| match dimension {
        Dimension::Country => countries::index_of(key).map(|_| key.to_ascii_lowercase()).ok_or_else(|| {
            let named = quoted(key);
            Error::invalid(format!("keys: unknown country {named}; use ISO 3166-1 alpha-3 codes such as usa"))
        }),
        Dimension::Device => {
            Some(key.to_ascii_uppercase()).filter(|key| DEVICES.contains(&key.as_str())).ok_or_else(|| {
                Error::invalid(format!("keys: unknown device {}; use DESKTOP, MOBILE or TABLET", quoted(key)))
            })
        }
        _ => Ok(key.clone()),
    };
    let canonical: Vec<String> = keys.iter().map(canonical).collect::<Result<_, _>>()?;
    let mut seen = HashSet::new();
    match canonical.iter().find(|key| !seen.insert(*key)) {
        Some(twice) => {
            let twice = quoted(twice);
            Err(Error::invalid(format!("keys: must not hold a key twice, and holds {twice} in two spellings")))
        }
        None => Ok(canonical),
    }
}

/// Returns the plans for the days of each key. Countries and devices are few and read completely. Queries and pages are requested by
/// name, in as many requests as the limit of an expression's length requires.
fn key_plans(dimension: Dimension, keys: &[String], plan: &Plan) -> Vec<Plan> {
    match dimension {
        _ if keys.is_empty() => vec![],
        Dimension::Query | Dimension::Page => {
            any_of(dimension, keys).into_iter().map(|filter| plan.narrowed(&filter)).collect()
        }
        _ => vec![plan.clone()],
    }
}

/// Declares the days of each key.
fn declare_days(asked: &Asked, dimension: Dimension, plans: &[Plan], parts: &mut Parts<'_>) -> PerWindow<Vec<PartId>> {
    let dimensions = [asked.settled.time(), dimension];
    PerWindow::of(&asked.settled, |Days { series, .. }| {
        let cap = ENGINE_CEILING.max(times(series) * (countries::COUNTRIES.len() + 1));
        plans.iter().map(|plan| parts.rows(series, &dimensions, cap, plan)).collect()
    })
}

/// The days of each key in both windows.
struct DaysOfKeys<'r> {
    now: Times<'r>,
    span: Span,
    before: Option<(Times<'r>, Span)>,
}

impl<'r> DaysOfKeys<'r> {
    fn of(asked: &Asked, read: &'r Read) -> Self {
        let span = asked.span(asked.settled.window);
        let before = read.by_time.previous.as_ref().zip(asked.settled.previous_days());
        let before = before.map(|(parts, days)| {
            let span = asked.span(days.series);
            (by_key(&read.readings, parts, span), span)
        });
        Self { now: by_key(&read.readings, &read.by_time.current, span), span, before }
    }

    /// Returns whether the search engine names the key in one of the windows.
    fn has(&self, key: &str) -> bool {
        self.now.contains_key(key) || self.before.as_ref().is_some_and(|(days, _)| days.contains_key(key))
    }
}

fn answer(
    asked: &Asked,
    params: &SparklinesParams,
    page: &Page,
    (keys, shown): (&[String], Shown),
    read: &Read,
) -> SparklinesAnswer {
    let days = DaysOfKeys::of(asked, read);
    let (keys, known, shown) = match read.table {
        Some(table) => {
            let listed = Listed::of(&read.readings[table]);
            (keys.iter().map(String::as_str).collect(), Known::of(listed.listing()), shown)
        }
        None => by_name(asked, keys, &days, page),
    };
    let rows = keys.iter().map(|key| {
        let known = days.has(key);
        let series = |days, span| if known { periods(days, key, span) } else { Vec::new() };
        Sparkline {
            key: (*key).to_owned(),
            known,
            series: series(&days.now, days.span),
            previous_series: days.before.as_ref().map(|(before, span)| series(before, *span)),
        }
    });
    let rows = rows.collect();
    let by_page = params.table == SparklineTable::Pages;
    let ceiling = read.table.map_or(ENGINE_CEILING, |_| table_cap(params.table.dimension().into()));
    let rows_coverage = asked.coverage((known, ceiling), Some(shown), by_page, read.readings.whole(read.wholes));
    SparklinesAnswer {
        meta: SparklinesMeta {
            answer: asked.meta(read.readings.read_at(), !days.now.is_empty()),
            question: Echo::of(params),
            coverage: SparklinesCoverage { rows: rows_coverage },
        },
        data: Sparklines { table: params.table, rows },
    }
}

/// The keys that were asked for by name, on the page of them, and the rows among them that the search engine names. A key that it does
/// not name has no metrics, so it comes last in an order by one.
fn by_name<'k>(asked: &Asked, keys: &'k [String], days: &DaysOfKeys<'_>, page: &Page) -> (Vec<&'k str>, Known, Shown) {
    let counted = asked.settled.days().counted;
    let sum = |key: &str| -> Metrics {
        let days = days.now.get(key).into_iter().flatten();
        days.filter(|(slot, _)| counted.is_some_and(|window| slot.is_in(window))).map(|(_, metrics)| *metrics).sum()
    };
    let named = keys.iter().filter(|key| days.has(key));
    let rows: Vec<(&str, Metrics)> = named.map(|key| (key.as_str(), sum(key))).collect();
    let listing = Listing { rows: &rows, capped: false };
    let sides = Sides { current: listing, previous: None };
    let sorted = sides.page(&Page { offset: 0, limit: usize::MAX, ..page.clone() });
    let listed: Vec<&str> = if page.sort.is_none() && page.filters.0.is_empty() {
        keys.iter().map(String::as_str).skip(page.offset).collect()
    } else {
        let named = sorted.places.iter().filter_map(|place| place.now).map(|place| rows[place as usize].0);
        let unnamed = keys.iter().map(String::as_str).filter(|key| page.filters.0.is_empty() && !days.has(key));
        named.chain(unnamed).skip(page.offset).collect()
    };
    let printed = || rows.iter().filter(|(key, _)| listed.contains(key));
    let clicks = printed().map(|(_, metrics)| metrics.clicks).sum();
    let shown = Shown { rows: printed().count(), clicks, more: Some(false), ..sorted.shown };
    (listed, Known::of(listing), shown)
}
