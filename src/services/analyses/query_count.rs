//! Daily unique queries.

use std::sync::Arc;

use api::analytics::{QueryCount, QueryCountAnswer, QueryCountCoverage, QueryCountMeta, QueryCountParams};

use super::{
    Asked, check_has_queries,
    daily::each_day,
    rendered::{MadeOf, RenderedAnswer, key},
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
    let asked = Asked::settle_alone(search, access, &params.window, &params.slice).await?;
    let (window, nothing) = (asked.settled.window, (DailyQueries::default(), Distinct::default()));
    let plan = asked.settled.plan().await?;
    let counted = each_day(&asked, window, &plan, nothing, |(days, distinct), date, rows| {
        days.add(date, rows.iter().map(|row| &row.metrics), ENGINE_CEILING);
        for row in rows {
            distinct.add(&row.keys[1]);
        }
    });
    let ((days, distinct), read) = counted.await?;
    let key = key("query count", access.property().id, params)?;
    let made_of = MadeOf { readings: read.readings, freshness: asked.freshness };
    let answer = move || {
        let series = days.counts(window.start_date, asked.final_days(window).end_date);
        let capped = series.iter().filter(|day| day.capped).count();
        QueryCountAnswer {
            meta: QueryCountMeta {
                answer: asked.meta(read.read_at, distinct.count() > 0),
                coverage: QueryCountCoverage { days: series.len() as u64, days_capped: capped as u64 },
            },
            data: QueryCount { unique_queries: distinct.count(), series },
        }
    };
    search.answers.rendered(key, made_of, answer).await
}
