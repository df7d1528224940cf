//! Small daily series for table rows.

use std::{
    collections::{BTreeMap, HashMap, HashSet},
    sync::Arc,
};

use api::{
    analytics::{
        SeriesPoint, Sparkline, SparklineTable, Sparklines, SparklinesAnswer, SparklinesCoverage, SparklinesMeta,
        SparklinesParams,
    },
    models::{TableCoverage, Window},
    params::{Echo, Sort},
};
use futures_util::future::{OptionFuture, try_join_all};

use super::{
    Asked, Listed, Wholes, by_key_and_time, check_has, page,
    per_window::PerWindow,
    rendered::{MadeOf, RenderedAnswer},
    search_data::SearchData,
    table_cap, times,
};
use crate::{
    analytics::{
        metrics::Metrics,
        page::{Page, Shown},
        series::{self, Slot, Span},
        table::{self, Listing},
    },
    error::Error,
    search_engine::{Aggregation, Dimension, ENGINE_CEILING, Plan, Reading, any_of, countries, filter::DEVICES},
    services::access::ReadableProperty,
};

fn dimension(table: SparklineTable) -> Dimension {
    match table {
        SparklineTable::Queries => Dimension::Query,
        SparklineTable::Pages => Dimension::Page,
        SparklineTable::Countries => Dimension::Country,
        SparklineTable::Devices => Dimension::Device,
    }
}

/// The readings of the series.
struct Readings {
    /// The table, if the rows requested are its first ones.
    table: Option<Arc<Reading>>,
    /// The readings by time and key.
    by_time: PerWindow<Vec<Arc<Reading>>>,
    wholes: Wholes,
}

impl Readings {
    fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        self.table.iter().chain(self.by_time.all().flatten()).chain(self.wholes.all())
    }
}

/// The rows of each key by time.
type Times<'r> = HashMap<&'r str, BTreeMap<Slot, Metrics>>;

fn by_key(readings: &[Arc<Reading>], span: Span) -> Times<'_> {
    // No key is in two readings.
    readings.iter().flat_map(|reading| by_key_and_time(reading, span)).collect()
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
) -> Result<Arc<RenderedAnswer<SparklinesAnswer>>, Error> {
    let dimension = dimension(params.table);
    check_has(params.question.slice.search_type.into(), dimension, "table")?;
    let asked_for = params.keys.as_ref().map(|keys| canonical(dimension, &keys.0)).transpose()?;
    if params.order.sort.is_some_and(Sort::needs_comparison) {
        return Err(Error::invalid("sort: the rows of sparklines are sorted by a metric, not by its change"));
    }
    let page = page(&params.order, params.offset.offset, params.limit.0 as usize, false)?;
    if params.keys.is_some() && page != Page::first(page.limit) {
        return Err(Error::invalid(
            "keys: name the rows, so sort, metricFilters and offset mean nothing; leave one or the other out",
        ));
    }
    let asked = Asked::settle(search, access, &params.question).await?.by(params.series.granularity)?;
    let plan = asked.settled.plan().await?;
    let (by_page, own) = (dimension == Dimension::Page, [dimension]);
    let table = OptionFuture::from(
        asked_for.is_none().then(|| asked.read(asked.settled.days().counted, &own, table_cap(dimension), &plan)),
    );
    let (table, wholes) =
        tokio::try_join!(async { table.await.transpose() }, asked.read_wholes(asked.settled.days().counted, by_page))?;
    let (keys, shown) = {
        let listed = Listed::maybe(table.as_deref());
        let places = table::places(listed.listing(), None, &page);
        let first = || places.now.iter().map(|(place, _)| listed.rows[*place as usize].0.to_owned());
        (asked_for.unwrap_or_else(|| first().collect()), places.shown)
    };
    let read = |window| read_days(&asked, window, dimension, &keys, &plan);
    let by_time = PerWindow::read(&asked.settled, |days| read(days.series)).await?;
    let readings = Readings { table, by_time, wholes };
    let params = SparklinesParams { question: asked.settled.question.clone(), ..params.clone() };
    let key = asked.settled.key("sparklines", access, &params)?;
    let made_of = MadeOf::new(readings.all(), asked.freshness);
    search.answers.rendered(key, made_of, move || answer(&asked, &params, (&keys, shown), &readings)).await
}

/// Returns the keys in the search engine's spelling.
fn canonical(dimension: Dimension, keys: &[String]) -> Result<Vec<String>, Error> {
    let canonical = |key: &String| match dimension {
        Dimension::Country => countries::index_of(key).map(|_| key.to_ascii_lowercase()).ok_or_else(|| {
            Error::invalid(format!("keys: unknown country {key:?}; use ISO 3166-1 alpha-3 codes such as usa"))
        }),
        Dimension::Device => Some(key.to_ascii_uppercase())
            .filter(|key| DEVICES.contains(&key.as_str()))
            .ok_or_else(|| Error::invalid(format!("keys: unknown device {key:?}; use DESKTOP, MOBILE or TABLET"))),
        _ => Ok(key.clone()),
    };
    let canonical: Vec<String> = keys.iter().map(canonical).collect::<Result<_, _>>()?;
    let mut seen = HashSet::new();
    match canonical.iter().find(|key| !seen.insert(*key)) {
        Some(twice) => {
            Err(Error::invalid(format!("keys: must not hold a key twice, and holds {twice:?} in two spellings")))
        }
        None => Ok(canonical),
    }
}

/// Reads the days of each key. Countries and devices are few and read completely. Queries and pages are requested by name, in as
/// many requests as the limit of an expression's length requires.
async fn read_days(
    asked: &Asked,
    window: Window,
    dimension: Dimension,
    keys: &[String],
    plan: &Plan,
) -> Result<Vec<Arc<Reading>>, Error> {
    let plans = match dimension {
        _ if keys.is_empty() => vec![],
        Dimension::Query | Dimension::Page => {
            any_of(dimension, keys).into_iter().map(|filter| plan.narrowed(&filter)).collect()
        }
        _ => vec![plan.clone()],
    };
    let dimensions = [asked.settled.time(), dimension];
    let cap = ENGINE_CEILING.max(times(window) * (countries::COUNTRIES.len() + 1));
    try_join_all(plans.iter().map(|plan| asked.read(window, &dimensions, cap, plan))).await
}

fn answer(
    asked: &Asked,
    params: &SparklinesParams,
    (keys, shown): (&[String], Shown),
    readings: &Readings,
) -> SparklinesAnswer {
    let span = asked.span(asked.settled.window);
    let now = by_key(&readings.by_time.current, span);
    let before = readings.by_time.previous.as_ref().zip(asked.settled.previous_days());
    let before = before.map(|(readings, days)| {
        let span = asked.span(days.series);
        (by_key(readings, span), span)
    });
    let rows = keys.iter().map(|key| {
        let known = [Some(&now), before.as_ref().map(|(days, _)| days)];
        let known = known.into_iter().flatten().any(|days| days.contains_key(key.as_str()));
        let series = |days, span| if known { periods(days, key, span) } else { Vec::new() };
        Sparkline {
            key: key.clone(),
            known,
            series: series(&now, span),
            previous_series: before.as_ref().map(|(days, span)| series(days, *span)),
        }
    });
    SparklinesAnswer {
        meta: SparklinesMeta {
            answer: asked.meta(readings.all().map(|reading| reading.read_at), !now.is_empty()),
            question: Echo::of(params),
            coverage: SparklinesCoverage { rows: coverage(asked, params, (keys, shown), readings) },
        },
        data: Sparklines { table: params.table, rows: rows.collect() },
    }
}

fn coverage(
    asked: &Asked,
    params: &SparklinesParams,
    (keys, shown): (&[String], Shown),
    readings: &Readings,
) -> TableCoverage {
    let by_page = params.table == SparklineTable::Pages;
    let aggregation = if by_page { Aggregation::ByPage } else { asked.settled.aggregation() };
    let whole = Some(readings.wholes.clicks());
    if let Some(table) = &readings.table {
        return table::coverage(Listed::of(table).listing(), shown, aggregation.into(), whole);
    }
    let by_key = by_key(&readings.by_time.current, asked.span(asked.settled.window));
    let counted = asked.settled.days().counted;
    let sum = |key: &str| {
        let days = by_key.get(key)?.iter().filter(|(slot, _)| counted.is_some_and(|window| slot.is_in(window)));
        Some(days.map(|(_, metrics)| *metrics).sum()).filter(|sum: &Metrics| sum.impressions > 0.0)
    };
    let known = keys.iter().filter_map(|key| Some((key.as_str(), sum(key)?)));
    let rows: Vec<(&str, Metrics)> = known.collect();
    let listing = Listing { rows: &rows, capped: false };
    table::coverage(listing, Shown::first(&rows, usize::MAX), aggregation.into(), whole)
}
