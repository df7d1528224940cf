//! Unique queries by day, week or month.

use analytics::{
    change::count_change,
    query_periods::{Distinct, QueryPeriods},
    series::Slot,
};
use api::{
    analytics::{QueryCount, QueryCountAnswer, QueryCountCoverage, QueryCountMeta, QueryCountParams, QueryCountPoint},
    params::Echo,
};
use search_engine::{ENGINE_CEILING, Plan};

use super::{
    Asked, check_has_queries,
    compared::Days,
    daily::{DaysRead, each_day},
    per_window::PerWindow,
    prepared::Prepared,
    search_data::SearchData,
};
use crate::{error::Error, services::access::ReadableProperty};

/// Computes the counts.
pub async fn query_count(
    search: &SearchData,
    access: &ReadableProperty,
    params: &QueryCountParams,
) -> Result<Prepared<QueryCountAnswer>, Error> {
    check_has_queries(&params.question.slice)?;
    let asked = Asked::settle(search, access, &params.question).await?.by(params.series.granularity.into())?;
    let plan = asked.settled.plan().await?;
    let mut parts = asked.parts();
    asked.settled.all_days().for_each(|days| parts.weeks(asked.days_of_series(days.series), &plan));
    parts.check()?;
    let counted = PerWindow::read(&asked.settled, |days| count(&asked, days, &plan)).await?;
    let readings = counted.all().flat_map(|counted| counted.read.readings.iter().cloned()).collect();
    let understood = QueryCountParams { question: asked.question(), ..params.clone() };
    asked.answer(access, understood, readings, move |asked, params| answer(asked, counted, params))
}

/// The queries of one window.
struct Counted {
    unique: u64,
    days: u64,
    days_capped: u64,
    rows: u64,
    series: Vec<QueryCountPoint>,
    read: DaysRead,
}

async fn count(asked: &Asked, days: Days, plan: &Plan) -> Result<Counted, Error> {
    let span = asked.span(days.series);
    let nothing = (QueryPeriods::new(span), Distinct::default(), days.counted);
    let counted = each_day(asked, days.series, plan, nothing, |(periods, distinct, counted), date, rows| {
        periods.add(date, rows.iter().map(|row| (&*row.keys[1], &row.metrics)), ENGINE_CEILING);
        if counted.is_some_and(|window| Slot::day(date).is_in(window)) {
            for row in rows {
                distinct.add(&row.keys[1]);
            }
        }
    });
    let ((mut periods, distinct, _), read) = counted.await?;
    periods.close();
    Ok(Counted {
        unique: distinct.count(),
        days: span.days().count() as u64,
        days_capped: periods.days_capped(),
        rows: periods.rows(),
        series: periods.counts(),
        read,
    })
}

fn answer(asked: &Asked, counted: PerWindow<Counted>, params: &QueryCountParams) -> QueryCountAnswer {
    let read_at = counted.all().filter_map(|counted| counted.read.read_at);
    let (current, previous) = (&counted.current, counted.previous.as_ref());
    let unique_queries = asked.is_counted().then_some(current.unique);
    let change = counted.compared().map(|(now, before)| count_change(now.unique as f64, before.unique as f64));
    QueryCountAnswer {
        meta: QueryCountMeta {
            answer: asked.meta(read_at, current.unique > 0),
            question: Echo::of(params),
            coverage: QueryCountCoverage {
                rows_known: current.rows,
                days: current.days,
                days_capped: current.days_capped,
                previous_days: previous.map(|previous| previous.days),
                previous_days_capped: previous.map(|previous| previous.days_capped),
            },
        },
        data: QueryCount {
            unique_queries,
            previous: previous.map(|previous| previous.unique),
            change,
            previous_series: previous.map(|previous| previous.series.clone()),
            series: counted.current.series,
        },
    }
}
