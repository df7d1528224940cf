//! Branded, non-branded and anonymised traffic.

use std::sync::Arc;

use analytics::{
    branded::{self, Traffic},
    series::Span,
};
use api::{
    analytics::{BrandedSplit, BrandedTrafficAnswer, BrandedTrafficMeta, BrandedTrafficParams, IdentifiedCoverage},
    models::Window,
    params::Echo,
};
use search_engine::{Condition, Plan, Reading, brand::NOTHING};

use super::{
    Asked, WHOLE, by_time, check_has_queries,
    compared::Days,
    per_window::PerWindow,
    plan_with, predicate,
    prepared::{Prepared, weak},
    requests::Requests,
    search_data::SearchData,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The readings of one window by time: all traffic, branded queries, and identified queries that are not branded.
struct ByTime {
    readings: [Arc<Reading>; 3],
    span: Span,
    counted: Option<Window>,
}

/// The readings of all windows.
pub(super) struct SplitReadings(PerWindow<ByTime>);

impl SplitReadings {
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        self.0.all().flat_map(|rows| &rows.readings)
    }

    pub(super) fn split(&self, is_counted: bool) -> BrandedSplit {
        let traffic = self.0.map(ByTime::traffic);
        branded::split(&traffic.current, traffic.previous.as_ref(), is_counted)
    }
}

impl ByTime {
    fn traffic(&self) -> branded::Window {
        let [total, branded, non_branded] = self.readings.each_ref().map(|reading| {
            let rows = by_time(reading, self.span);
            let counted = rows.iter().filter(|(slot, _)| self.counted.is_some_and(|window| slot.is_in(window)));
            Traffic { whole: counted.map(|(_, metrics)| *metrics).sum(), rows }
        });
        branded::Window { total, branded, non_branded, span: self.span }
    }
}

/// Computes branded traffic.
pub async fn branded_traffic(
    search: &SearchData,
    access: &ReadableProperty,
    params: &BrandedTrafficParams,
) -> Result<Prepared<BrandedTrafficAnswer>, Error> {
    check_has_queries(&params.question.slice)?;
    let brand = predicate::brand(&search.db, access).await?;
    let has_branded_keywords = brand.is_some();
    let brand = brand.as_deref().unwrap_or(NOTHING);
    let asked = Asked::settle_by(search, access, &params.question, params.series.granularity).await?;
    let plans = split_plans(&asked, brand).await?;
    let mut requests = Requests::of(&asked.settled);
    count_split(&asked, &plans, &mut requests);
    requests.check()?;
    let readings = read_split(&asked, &plans).await?;
    let made_of = weak(readings.all());
    let answer = move |asked: &Asked, params: &BrandedTrafficParams| {
        let is_counted = asked.is_counted();
        let data = readings.split(is_counted);
        let has_data = data.total.as_ref().is_some_and(|total| total.impressions > 0);
        let identified = is_counted.then(|| branded::identified(&readings.0.current.traffic()));
        BrandedTrafficAnswer {
            meta: BrandedTrafficMeta {
                answer: asked.meta(readings.all().map(|reading| reading.read_at), has_data),
                question: Echo::of(params),
                has_branded_keywords,
                coverage: IdentifiedCoverage { identified },
            },
            data,
        }
    };
    asked.answer(access, params, made_of, answer)
}

/// Returns the plans of all traffic, of branded queries, and of identified queries that are not branded.
pub(super) async fn split_plans(asked: &Asked, brand: &str) -> Result<[Plan; 3], Error> {
    let predicate = &asked.settled.predicate;
    Ok([
        asked.settled.plan().await?,
        plan_with(predicate, Condition::Branded(brand.to_owned())).await?,
        plan_with(predicate, Condition::NonBranded(brand.to_owned())).await?,
    ])
}

/// Counts the requests of all windows.
pub(super) fn count_split(asked: &Asked, plans: &[Plan; 3], requests: &mut Requests) {
    for days in asked.settled.all_days() {
        for plan in plans {
            requests.rows(&asked.settled, Some(days.series), &[asked.settled.time()], plan);
        }
    }
}

/// Reads all windows.
pub(super) async fn read_split(asked: &Asked, plans: &[Plan; 3]) -> Result<SplitReadings, Error> {
    Ok(SplitReadings(PerWindow::read(&asked.settled, |days| read_by_time(asked, days, plans)).await?))
}

async fn read_by_time(asked: &Asked, days: Days, plans: &[Plan; 3]) -> Result<ByTime, Error> {
    let time = [asked.settled.time()];
    let read = |plan| asked.read(days.series, &time, WHOLE, plan);
    let (total, branded, non_branded) = tokio::try_join!(read(&plans[0]), read(&plans[1]), read(&plans[2]))?;
    Ok(ByTime { readings: [total, branded, non_branded], span: asked.span(days.series), counted: days.counted })
}
