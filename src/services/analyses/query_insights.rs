//! Visibility, position distribution, branded split and movers.

use std::sync::{Arc, Weak};

use api::{
    analytics::{
        CurveSource, QueryCoverage, QueryInsights, QueryInsightsAnswer, QueryInsightsMeta, QueryInsightsParams,
        QueryInsightsThresholds, Visibility, VisibilityPoint,
    },
    models::Window,
    params::Echo,
};
use chrono::{DateTime, Utc};
use futures_util::future::OptionFuture;

use super::{
    Asked, Listed,
    branded_traffic::{SplitReadings, read_split, split_plans},
    check_has_queries,
    daily::{DaysRead, each_day},
    predicate,
    rendered::{MadeOf, RenderedAnswer},
    search_data::SearchData,
};
use crate::{
    analytics::{daily_queries::DailyQueries, movers::movers, positions::Distribution},
    error::Error,
    search_engine::{Dimension, ENGINE_CEILING, Plan, Reading},
    services::access::ReadableProperty,
};

/// The queries of one window, as a whole and by day.
struct Queries {
    reading: Arc<Reading>,
    read: DaysRead,
    series: Vec<VisibilityPoint>,
}

/// The readings of the insights.
struct Readings {
    current: Queries,
    previous: Option<Queries>,
    split: Option<SplitReadings>,
    whole: Arc<Reading>,
}

impl Readings {
    fn windows(&self) -> impl Iterator<Item = &Queries> {
        [&self.current].into_iter().chain(&self.previous)
    }

    fn singles(&self) -> impl Iterator<Item = &Arc<Reading>> {
        let split = self.split.iter().flat_map(SplitReadings::all);
        self.windows().map(|queries| &queries.reading).chain(split).chain([&self.whole])
    }

    fn all(&self) -> Vec<Weak<Reading>> {
        let days = self.windows().flat_map(|queries| queries.read.readings.iter().cloned());
        self.singles().map(Arc::downgrade).chain(days).collect()
    }

    fn read_at(&self) -> impl Iterator<Item = DateTime<Utc>> {
        let days = self.windows().filter_map(|queries| queries.read.read_at);
        self.singles().map(|reading| reading.read_at).chain(days)
    }
}

/// Computes the insights.
pub async fn query_insights(
    search: &SearchData,
    access: &ReadableProperty,
    params: &QueryInsightsParams,
) -> Result<Arc<RenderedAnswer<QueryInsightsAnswer>>, Error> {
    check_has_queries(&params.question.slice)?;
    let asked = Asked::settle(search, access, &params.question).await?;
    let brand = predicate::brand(&search.db, access).await?;
    let readings = read(&asked, brand.as_deref()).await?;
    let params = QueryInsightsParams { question: asked.settled.question.clone(), ..*params };
    let key = asked.settled.key("query insights", access, &params)?;
    let made_of = MadeOf { readings: readings.all(), freshness: asked.freshness };
    search.answers.rendered(key, made_of, move || answer(&asked, &readings, &params)).await
}

async fn read(asked: &Asked, brand: Option<&str>) -> Result<Readings, Error> {
    let plan = asked.settled.plan().await?;
    let plans = OptionFuture::from(brand.map(|brand| split_plans(asked, brand))).await.transpose()?;
    let previous = OptionFuture::from(asked.settled.compare.map(|window| read_queries(asked, window, &plan)));
    let split = OptionFuture::from(plans.as_ref().map(|plans| read_split(asked, plans)));
    // The split is polled before the whole, because without query conditions its series adds up to the whole.
    let (current, previous, split, whole) = tokio::try_join!(
        read_queries(asked, asked.settled.window, &plan),
        async { previous.await.transpose() },
        async { split.await.transpose() },
        asked.read_whole(false),
    )?;
    Ok(Readings { current, previous, split, whole })
}

async fn read_queries(asked: &Asked, window: Window, plan: &Plan) -> Result<Queries, Error> {
    let each = each_day(asked, window, plan, DailyQueries::default(), |days, date, rows| {
        days.add(date, rows.iter().map(|row| &row.metrics), ENGINE_CEILING);
    });
    let (reading, (days, read)) = tokio::try_join!(asked.read_all(window, &[Dimension::Query], plan), each)?;
    let series = days.visibility(window.start_date, asked.final_days(window).end_date);
    Ok(Queries { reading, read, series })
}

fn answer(asked: &Asked, readings: &Readings, params: &QueryInsightsParams) -> QueryInsightsAnswer {
    let current = Listed::of(&readings.current.reading);
    let previous = readings.previous.as_ref().map(|queries| Listed::of(&queries.reading));
    let distribution = |listed: &Listed<'_>| Distribution::of(listed.rows.iter().map(|(_, metrics)| metrics));
    let (now, before) = (distribution(&current), previous.as_ref().map(distribution));
    let (index, previous_index) = (now.index(), before.as_ref().and_then(Distribution::index));
    let (min_impressions, limit) = (params.min_impressions.0.into(), params.limit.0 as usize);
    QueryInsightsAnswer {
        data: QueryInsights {
            distribution: now.rows(),
            previous_distribution: before.as_ref().map(Distribution::rows),
            visibility: Visibility {
                index,
                previous: previous_index,
                change: index.zip(previous_index).map(|(now, before)| now - before),
                series: readings.current.series.clone(),
                previous_series: readings.previous.as_ref().map(|queries| queries.series.clone()),
            },
            branded_split: readings.split.as_ref().map(SplitReadings::split),
            movers: previous.map(|previous| movers(current.listing(), previous.listing(), min_impressions, limit)),
        },
        meta: QueryInsightsMeta {
            answer: asked.meta(readings.read_at(), !current.rows.is_empty()),
            question: Echo::of(params),
            coverage: QueryCoverage { queries: asked.coverage(&current, false, &readings.whole) },
            thresholds: QueryInsightsThresholds { min_impressions, curve: CurveSource::Static },
        },
    }
}
