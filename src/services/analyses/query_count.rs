//! Daily unique queries.

use std::sync::Arc;

use api::{
    analytics::{QueryCount, QueryCountAnswer, QueryCountCoverage, QueryCountMeta, QueryCountParams},
    models::Question,
    params::Echo,
};

use super::{
    Asked, check_has_queries,
    daily::each_day,
    rendered::{MadeOf, RenderedAnswer},
    search_data::SearchData,
};
use crate::{
    analytics::daily_queries::{DailyQueries, Distinct},
    error::Error,
    search_engine::ENGINE_CEILING,
    services::access::ReadableProperty,
};

/// Computes the daily counts.
pub async fn query_count(
    search: &SearchData,
    access: &ReadableProperty,
    params: &QueryCountParams,
) -> Result<Arc<RenderedAnswer<QueryCountAnswer>>, Error> {
    check_has_queries(&params.slice)?;
    let question = Question::alone(params.window, params.slice.clone(), params.ignored.clone());
    let asked = Asked::settle(search, access, &question).await?;
    let (window, nothing) = (asked.settled.window, (DailyQueries::default(), Distinct::default()));
    let plan = asked.settled.plan().await?;
    let counted = each_day(&asked, window, &plan, nothing, |(days, distinct), date, rows| {
        days.add(date, rows.iter().map(|row| &row.metrics), ENGINE_CEILING);
        for row in rows {
            distinct.add(&row.keys[1]);
        }
    });
    let ((days, distinct), read) = counted.await?;
    let params = QueryCountParams { window: asked.settled.question.window, ..params.clone() };
    let key = asked.settled.key("query count", access, &params)?;
    let made_of = MadeOf { readings: read.readings, freshness: asked.freshness };
    let answer = move || {
        let series = days.counts(window.start_date, asked.final_days(window).end_date);
        let capped = series.iter().filter(|day| day.capped).count();
        QueryCountAnswer {
            meta: QueryCountMeta {
                answer: asked.meta(read.read_at, distinct.count() > 0),
                question: Echo::of(&params),
                coverage: QueryCountCoverage { days: series.len() as u64, days_capped: capped as u64 },
            },
            data: QueryCount { unique_queries: distinct.count(), series },
        }
    };
    search.answers.rendered(key, made_of, answer).await
}
