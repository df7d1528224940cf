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
    rendered::{MadeOf, RenderedAnswer},
    search_data::SearchData,
    table_cap, times,
};
use crate::{
    analytics::{
        coverage::Known,
        metrics::Metrics,
        page::{Page, Shown},
        series::{self, Slot, Span},
        table::{Listing, Sides},
    },
    error::Error,
    search_engine::{Dimension, ENGINE_CEILING, Plan, Reading, any_of, countries, filter::DEVICES},
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
    /// The readings by day and key.
    days: Vec<Arc<Reading>>,
    /// Those of the comparison window.
    previous: Vec<Arc<Reading>>,
    wholes: Wholes,
}

impl Readings {
    fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        self.table.iter().chain(&self.days).chain(&self.previous).chain(self.wholes.all())
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
    let page = page(&params.order, dimension, params.offset.offset, params.limit.0 as usize, false)?;
    if params.keys.is_some() && page != Page::first(page.limit) {
        return Err(Error::invalid(
            "keys: name the rows, so sort, metricFilters and offset mean nothing; leave one or the other out",
        ));
    }
    let asked = Asked::settle(search, access, &params.question).await?.by(params.series.granularity)?;
    let plan = asked.settled.plan().await?;
    let (by_page, own) = (dimension == Dimension::Page, [dimension]);
    let table = OptionFuture::from(
        asked_for.is_none().then(|| asked.read(asked.settled.window, &own, table_cap(dimension), &plan)),
    );
    let (table, wholes) =
        tokio::try_join!(async { table.await.transpose() }, asked.read_wholes(asked.settled.window, by_page))?;
    let (keys, shown) = {
        let listed = Listed::maybe(table.as_deref());
        let sides = Sides { current: listed.listing(), previous: None };
        let paged = sides.page(&page);
        let first = || paged.places.iter().map(|place| sides.row(*place).key.to_owned());
        (asked_for.unwrap_or_else(|| first().collect()), paged.shown)
    };
    let read = |window| read_days(&asked, window, dimension, &keys, &plan);
    let previous = OptionFuture::from(asked.settled.compared.map(|compared| read(compared.previous)));
    let (days, previous) = tokio::try_join!(read(asked.settled.window), async { previous.await.transpose() })?;
    let readings = Readings { table, days, previous: previous.unwrap_or_default(), wholes };
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
    let window = asked.settled.window;
    let days = by_key(&readings.days, asked.span(window));
    let before = asked.settled.compared.map(|compared| asked.span(compared.previous));
    let before = before.map(|span| (by_key(&readings.previous, span), span));
    let rows = keys.iter().map(|key| Sparkline {
        key: key.clone(),
        series: periods(&days, key, asked.span(window)),
        previous_series: before.as_ref().map(|(days, span)| periods(days, key, *span)),
    });
    SparklinesAnswer {
        meta: SparklinesMeta {
            answer: asked.meta(readings.all().map(|reading| reading.read_at), !days.is_empty()),
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
    if let Some(table) = &readings.table {
        let known = Known::of(Listed::of(table).listing());
        return asked.coverage(known, Some(shown), by_page, &readings.wholes);
    }
    let by_key = by_key(&readings.days, asked.span(asked.settled.window));
    let known = keys.iter().filter_map(|key| Some((key.as_str(), by_key.get(key.as_str())?.values().copied().sum())));
    let rows: Vec<(&str, Metrics)> = known.collect();
    let listing = Listing { rows: &rows, capped: false };
    asked.coverage(Known::of(listing), Some(Shown::first(listing, usize::MAX)), by_page, &readings.wholes)
}
