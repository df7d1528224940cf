//! Visibility, position distribution, branded split and movers.

use std::sync::{Arc, Weak};

use analytics::{
    ctr_curve::by_position, movers::movers, page::Page, positions::Distribution, query_periods::QueryPeriods,
};
use api::{
    analytics::{
        CurveSource, QueryCoverage, QueryInsights, QueryInsightsAnswer, QueryInsightsMeta, QueryInsightsParams,
        QueryInsightsThresholds, Visibility, VisibilityPoint,
    },
    models::Classification,
    params::Echo,
};
use chrono::{DateTime, Utc};
use futures_util::future::OptionFuture;
use search_engine::{Dimension, ENGINE_CEILING, Plan, Reading};

use super::{
    Asked, Listed, Wholes,
    branded_traffic::{SplitReadings, count_split, read_split, split_plans},
    check_has_queries,
    compared::Days,
    daily::{DaysRead, each_day},
    page,
    per_window::PerWindow,
    predicate,
    prepared::Prepared,
    requests::Requests,
    search_data::SearchData,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The queries of one window, as a whole and by day.
struct Queries {
    reading: Arc<Reading>,
    read: DaysRead,
    series: Vec<VisibilityPoint>,
}

/// The readings of the insights.
struct Readings {
    queries: PerWindow<Queries>,
    split: Option<SplitReadings>,
    /// The queries without branded ones. `None` if branded ones count.
    non_branded: Option<Arc<Reading>>,
    wholes: Wholes,
}

impl Readings {
    fn singles(&self) -> impl Iterator<Item = &Arc<Reading>> {
        let split = self.split.iter().flat_map(SplitReadings::all);
        self.queries
            .all()
            .map(|queries| &queries.reading)
            .chain(split)
            .chain(&self.non_branded)
            .chain(self.wholes.all())
    }

    fn all(&self) -> Vec<Weak<Reading>> {
        let days = self.queries.all().flat_map(|queries| queries.read.readings.iter().cloned());
        self.singles().map(Arc::downgrade).chain(days).collect()
    }

    fn read_at(&self) -> impl Iterator<Item = DateTime<Utc>> {
        let days = self.queries.all().filter_map(|queries| queries.read.read_at);
        self.singles().map(|reading| reading.read_at).chain(days)
    }
}

/// Computes the insights.
pub async fn query_insights(
    search: &SearchData,
    access: &ReadableProperty,
    params: &QueryInsightsParams,
) -> Result<Prepared<QueryInsightsAnswer>, Error> {
    check_has_queries(&params.question.slice)?;
    let compares = params.question.comparison.is_asked();
    let page = page(&params.order, Dimension::Query, params.offset.offset, params.limit.0 as usize, compares)?;
    let asked = Asked::settle(search, access, &params.question).await?.by(params.series.granularity.into())?;
    let brand = predicate::brand(&search.db, access).await?;
    let includes_branded =
        params.include_branded || params.question.slice.classification == Some(Classification::Branded);
    let readings = read(&asked, brand.as_deref(), includes_branded).await?;
    asked.answer(access, params, readings.all(), move |asked, params| answer(asked, &readings, params, &page))
}

async fn read(asked: &Asked, brand: Option<&str>, includes_branded: bool) -> Result<Readings, Error> {
    let plan = asked.settled.plan().await?;
    let slice = asked.settled.plan_without_queries().await?;
    let plans = OptionFuture::from(brand.map(|brand| split_plans(asked, brand))).await.transpose()?;
    let counted = asked.settled.days().counted;
    let non_branded = plans.as_ref().map(|[_, _, plan]| plan).filter(|_| !includes_branded);
    let mut requests = Requests::of(&asked.settled);
    for days in asked.settled.all_days() {
        requests.weeks(asked.days_of_series(days.series), &plan);
        requests.rows(&asked.settled, days.counted, &[Dimension::Query], &plan);
    }
    if let Some(plans) = &plans {
        count_split(asked, plans, &mut requests);
    }
    if let Some(plan) = non_branded {
        requests.rows(&asked.settled, counted, &[Dimension::Query], plan);
    }
    requests.wholes(&asked.settled, counted, false, &slice);
    requests.check()?;
    let split = OptionFuture::from(plans.as_ref().map(|plans| read_split(asked, plans)));
    let non_branded = non_branded.map(|plan| asked.read_all(counted, &[Dimension::Query], plan));
    // The split is polled before the whole, because without query conditions its series adds up to the whole.
    let (queries, split, non_branded, wholes) = tokio::try_join!(
        PerWindow::read(&asked.settled, |days| read_queries(asked, days, &plan)),
        async { split.await.transpose() },
        async { OptionFuture::from(non_branded).await.transpose() },
        asked.read_wholes(counted, false, &slice),
    )?;
    Ok(Readings { queries, split, non_branded, wholes })
}

async fn read_queries(asked: &Asked, days: Days, plan: &Plan) -> Result<Queries, Error> {
    let nothing = QueryPeriods::new(asked.span(days.series));
    let each = each_day(asked, days.series, plan, nothing, |periods, date, rows| {
        periods.add(date, rows.iter().map(|row| (&*row.keys[1], &row.metrics)), ENGINE_CEILING);
    });
    let rows = asked.read_all(days.counted, &[Dimension::Query], plan);
    let (reading, (mut periods, read)) = tokio::try_join!(rows, each)?;
    periods.close();
    let series = periods.visibility();
    Ok(Queries { reading, read, series })
}

fn answer(asked: &Asked, readings: &Readings, params: &QueryInsightsParams, page: &Page) -> QueryInsightsAnswer {
    let listed = readings.queries.map(|queries| Listed::of(&queries.reading));
    let distributions = listed.map(|listed| Distribution::of(listed.rows.iter().map(|(_, metrics)| metrics)));
    let indices = distributions.map(Distribution::index);
    let previous_index = indices.previous.flatten();
    let is_counted = asked.is_counted();
    let min_impressions = params.min_impressions.0.into();
    let sides = listed.sides();
    let (movers, shown) = sides.previous.map(|_| movers(sides, min_impressions, page)).unzip();
    let queries = asked.coverage((sides.known(), ENGINE_CEILING), shown, false, &readings.wholes);
    let sampled = readings.non_branded.as_ref().unwrap_or(&readings.queries.current.reading);
    QueryInsightsAnswer {
        data: QueryInsights {
            distribution: is_counted.then(|| distributions.current.rows()),
            previous_distribution: distributions.previous.as_ref().map(Distribution::rows),
            visibility: Visibility {
                index: indices.current,
                previous: previous_index,
                change: indices.current.zip(previous_index).map(|(now, before)| now - before),
                series: readings.queries.current.series.clone(),
                previous_series: readings.queries.previous.as_ref().map(|queries| queries.series.clone()),
            },
            ctr_by_position: is_counted.then(|| by_position(sampled.rows.iter().map(|row| &row.metrics))),
            branded_split: readings.split.as_ref().map(|split| split.split(is_counted)),
            movers,
        },
        meta: QueryInsightsMeta {
            answer: asked.meta(readings.read_at(), !listed.current.rows.is_empty()),
            question: Echo::of(params),
            coverage: QueryCoverage { queries },
            thresholds: QueryInsightsThresholds {
                min_impressions,
                curve: CurveSource::Static,
                branded_excluded: readings.non_branded.is_some(),
            },
        },
    }
}
