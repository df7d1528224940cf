//! Visibility, position distribution, branded split and movers.

use analytics::{
    ctr_curve::by_position, movers::movers, page::Page, positions::Distribution, query_periods::QueryPeriods,
};
use api::{
    analytics::{
        CurveSource, QueryCoverage, QueryInsights, QueryInsightsAnswer, QueryInsightsMeta, QueryInsightsParams,
        QueryInsightsThresholds, Visibility, VisibilityPoint,
    },
    models::{self, Classification},
    params::Echo,
};
use futures_util::future::OptionFuture;
use search_engine::{Dimension, ENGINE_CEILING, Plan};

use super::{
    Asked, Listed, PartId, Readings, Wholes,
    branded_traffic::{Split, split_plans},
    check_has_queries,
    compared::Days,
    daily::{DaysRead, each_day},
    page,
    per_window::PerWindow,
    predicate,
    prepared::Prepared,
    search_data::SearchData,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The parts of the insights, and their readings.
struct Read {
    /// The queries of each window.
    queries: PerWindow<PartId>,
    /// The visibility in each window.
    visibility: PerWindow<Vec<VisibilityPoint>>,
    split: Option<Split>,
    /// The queries without branded ones. `None` if branded ones count.
    non_branded: Option<PartId>,
    wholes: Wholes,
    readings: Readings,
}

/// Computes the insights.
pub async fn query_insights(
    search: &SearchData,
    access: &ReadableProperty,
    params: &QueryInsightsParams,
) -> Result<Prepared<QueryInsightsAnswer>, Error> {
    check_has_queries(&params.question.slice)?;
    let compares = params.question.comparison.is_asked();
    let page = page(&params.order, models::Dimension::Query, params.offset.offset, params.limit.0 as usize, compares)?;
    let asked = Asked::settle(search, access, &params.question).await?.by(params.series.granularity.into())?;
    let brand = predicate::brand(&search.db, access).await?;
    let includes_branded =
        params.include_branded || params.question.slice.classification == Some(Classification::Branded);
    let read = read(&asked, brand.as_deref(), includes_branded).await?;
    let origin = read.readings.origin();
    let understood = QueryInsightsParams { question: asked.question(), ..params.clone() };
    asked.answer(access, understood, origin, move |asked, params| answer(asked, &read, params, &page))
}

async fn read(asked: &Asked, brand: Option<&str>, includes_branded: bool) -> Result<Read, Error> {
    let plan = asked.settled.plan().await?;
    let slice = asked.settled.plan_without_queries().await?;
    let plans = OptionFuture::from(brand.map(|brand| split_plans(asked, brand))).await.transpose()?;
    let counted = asked.settled.days().counted;
    let mut parts = asked.parts();
    // The split comes before the whole, because without query conditions its series adds up to the whole.
    let split = plans.as_ref().map(|plans| Split::declare(asked, plans, &mut parts));
    let queries = PerWindow::of(&asked.settled, |days| {
        parts.weeks(asked.days_of_series(days.series), &plan);
        parts.all_rows(days.counted, &[Dimension::Query], &plan)
    });
    let non_branded = plans.as_ref().map(|[_, _, plan]| plan).filter(|_| !includes_branded);
    let non_branded = non_branded.map(|plan| parts.all_rows(counted, &[Dimension::Query], plan));
    let wholes = parts.wholes(counted, false, &slice);
    parts.check()?;
    let by_day = PerWindow::read(&asked.settled, |days| visibility(asked, days, &plan));
    let (_, by_day) = tokio::try_join!(parts.read(), by_day)?;
    let mut readings = parts.finish();
    let series = |(series, days)| {
        readings.add(days);
        series
    };
    Ok(Read { queries, visibility: by_day.into_map(series), split, non_branded, wholes, readings })
}

/// Reads the visibility in one window.
async fn visibility(asked: &Asked, days: Days, plan: &Plan) -> Result<(Vec<VisibilityPoint>, DaysRead), Error> {
    let nothing = QueryPeriods::new(asked.span(days.series));
    let each = each_day(asked, days.series, plan, nothing, |periods, date, rows| {
        periods.add(date, rows.iter().map(|row| (&*row.keys[1], &row.metrics)), ENGINE_CEILING);
    });
    let (mut periods, read) = each.await?;
    periods.close();
    Ok((periods.visibility(), read))
}

fn answer(asked: &Asked, read: &Read, params: &QueryInsightsParams, page: &Page) -> QueryInsightsAnswer {
    let readings = &read.readings;
    let listed = read.queries.map(|id| Listed::of(&readings[*id]));
    let distributions = listed.map(|listed| Distribution::of(listed.rows.iter().map(|(_, metrics)| metrics)));
    let indices = distributions.map(Distribution::index);
    let previous_index = indices.previous.flatten();
    let is_counted = asked.is_counted();
    let min_impressions = params.min_impressions.0.into();
    let sides = listed.sides();
    let (movers, shown) = sides.previous.map(|_| movers(sides, min_impressions, page)).unzip();
    let queries = asked.coverage((sides.known(), ENGINE_CEILING), shown, false, readings.whole(read.wholes));
    let sampled = &readings[read.non_branded.unwrap_or(read.queries.current)];
    QueryInsightsAnswer {
        data: QueryInsights {
            distribution: is_counted.then(|| distributions.current.rows()),
            previous_distribution: distributions.previous.as_ref().map(Distribution::rows),
            visibility: Visibility {
                index: indices.current,
                previous: previous_index,
                change: indices.current.zip(previous_index).map(|(now, before)| now - before),
                series: read.visibility.current.clone(),
                previous_series: read.visibility.previous.clone(),
            },
            ctr_by_position: is_counted.then(|| by_position(sampled.rows.iter().map(|row| &row.metrics))),
            branded_split: read.split.as_ref().map(|split| split.split(readings, is_counted)),
            movers,
        },
        meta: QueryInsightsMeta {
            answer: asked.meta(readings.read_at(), !listed.current.rows.is_empty()),
            question: Echo::of(params),
            coverage: QueryCoverage { queries },
            thresholds: QueryInsightsThresholds {
                min_impressions,
                curve: CurveSource::Static,
                branded_excluded: read.non_branded.is_some(),
            },
        },
    }
}
