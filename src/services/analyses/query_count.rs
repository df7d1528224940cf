//! Daily unique queries.

use std::sync::Arc;

use api::{
    analytics::{QueryCount, QueryCountAnswer, QueryCountCoverage, QueryCountMeta, QueryCountParams, QueryCountPoint},
    models::Window,
    params::Echo,
};
use futures_util::future::OptionFuture;

use super::{
    Asked, check_has_queries,
    daily::{DaysRead, each_day},
    rendered::{MadeOf, RenderedAnswer},
    search_data::SearchData,
};
use crate::{
    analytics::{
        change::count_change,
        daily_queries::{DailyQueries, Distinct},
    },
    error::Error,
    search_engine::{ENGINE_CEILING, Plan},
    services::access::ReadableProperty,
};

/// Computes the daily counts.
pub async fn query_count(
    search: &SearchData,
    access: &ReadableProperty,
    params: &QueryCountParams,
) -> Result<Arc<RenderedAnswer<QueryCountAnswer>>, Error> {
    check_has_queries(&params.question.slice)?;
    let asked = Asked::settle(search, access, &params.question).await?;
    let plan = asked.settled.plan().await?;
    let previous = OptionFuture::from(asked.settled.compare.map(|window| count(&asked, window, &plan)));
    let (current, previous) =
        tokio::try_join!(count(&asked, asked.settled.window, &plan), async { previous.await.transpose() })?;
    let params = QueryCountParams { question: asked.settled.question.clone() };
    let key = asked.settled.key("query count", access, &params)?;
    let readings = [&current].into_iter().chain(&previous).flat_map(|counted| counted.read.readings.iter().cloned());
    let made_of = MadeOf { readings: readings.collect(), freshness: asked.freshness };
    search.answers.rendered(key, made_of, move || answer(&asked, current, previous, &params)).await
}

/// The queries of one window.
struct Counted {
    unique: u64,
    series: Vec<QueryCountPoint>,
    read: DaysRead,
}

impl Counted {
    fn days(&self) -> u64 {
        self.series.len() as u64
    }

    fn days_capped(&self) -> u64 {
        self.series.iter().filter(|day| day.capped).count() as u64
    }
}

async fn count(asked: &Asked, window: Window, plan: &Plan) -> Result<Counted, Error> {
    let nothing = (DailyQueries::default(), Distinct::default());
    let counted = each_day(asked, window, plan, nothing, |(days, distinct), date, rows| {
        days.add(date, rows.iter().map(|row| &row.metrics), ENGINE_CEILING);
        for row in rows {
            distinct.add(&row.keys[1]);
        }
    });
    let ((days, distinct), read) = counted.await?;
    let series = days.counts(window.start_date, asked.final_days(window).end_date);
    Ok(Counted { unique: distinct.count(), series, read })
}

fn answer(asked: &Asked, current: Counted, previous: Option<Counted>, params: &QueryCountParams) -> QueryCountAnswer {
    let read_at = [&current].into_iter().chain(&previous).filter_map(|counted| counted.read.read_at);
    QueryCountAnswer {
        meta: QueryCountMeta {
            answer: asked.meta(read_at, current.unique > 0),
            question: Echo::of(params),
            coverage: QueryCountCoverage {
                days: current.days(),
                days_capped: current.days_capped(),
                previous_days: previous.as_ref().map(Counted::days),
                previous_days_capped: previous.as_ref().map(Counted::days_capped),
            },
        },
        data: QueryCount {
            unique_queries: current.unique,
            previous: previous.as_ref().map(|previous| previous.unique),
            change: previous.as_ref().map(|previous| count_change(current.unique as f64, previous.unique as f64)),
            series: current.series,
            previous_series: previous.map(|previous| previous.series),
        },
    }
}
