//! Branded, non-branded and anonymised traffic.

use std::sync::Arc;

use api::{
    analytics::{BrandedSplit, BrandedTrafficAnswer, BrandedTrafficMeta, BrandedTrafficParams, IdentifiedCoverage},
    models::Window,
    params::Echo,
};
use futures_util::future::OptionFuture;

use super::{
    Asked, WHOLE, check_has_queries, plan_with, predicate,
    rendered::{MadeOf, RenderedAnswer},
    search_data::SearchData,
};
use crate::{
    analytics::branded::{self, Traffic},
    error::Error,
    search_engine::{Condition, Dimension, Plan, Reading},
    services::access::ReadableProperty,
};

/// The readings of one window by day: all traffic, branded queries, and identified queries that are not branded.
struct Days {
    readings: [Arc<Reading>; 3],
    window: Window,
}

/// The readings of both windows.
pub(super) struct SplitReadings {
    current: Days,
    previous: Option<Days>,
}

impl SplitReadings {
    pub(super) fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        self.current.readings.iter().chain(self.previous.iter().flat_map(|days| &days.readings))
    }

    pub(super) fn split(&self) -> BrandedSplit {
        branded::split(&self.current.traffic(), self.previous.as_ref().map(Days::traffic).as_ref())
    }
}

impl Days {
    fn traffic(&self) -> branded::Window {
        let [total, branded, non_branded] = self.readings.each_ref().map(|reading| {
            let days = reading.rows.iter().filter_map(|row| Some((row.key().parse().ok()?, row.metrics)));
            Traffic { whole: super::total(reading), days: days.collect() }
        });
        branded::Window { total, branded, non_branded, start: self.window.start_date, end: self.window.end_date }
    }
}

/// Computes branded traffic.
pub async fn branded_traffic(
    search: &SearchData,
    access: &ReadableProperty,
    params: &BrandedTrafficParams,
) -> Result<Arc<RenderedAnswer<BrandedTrafficAnswer>>, Error> {
    check_has_queries(&params.question.slice)?;
    let brand = predicate::needed_brand(&search.db, access).await?;
    let asked = Asked::settle(search, access, &params.question).await?;
    let readings = read_split(&asked, &split_plans(&asked, &brand).await?).await?;
    let params = BrandedTrafficParams { question: asked.settled.question.clone() };
    let key = asked.settled.key("branded traffic", access, &params)?;
    let made_of = MadeOf::new(readings.all(), asked.freshness);
    let answer = move || {
        let data = readings.split();
        BrandedTrafficAnswer {
            meta: BrandedTrafficMeta {
                answer: asked.meta(readings.all().map(|reading| reading.read_at), data.total.impressions > 0),
                question: Echo::of(&params),
                coverage: IdentifiedCoverage { identified: branded::identified(&readings.current.traffic()) },
            },
            data,
        }
    };
    search.answers.rendered(key, made_of, answer).await
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

/// Reads both windows.
pub(super) async fn read_split(asked: &Asked, plans: &[Plan; 3]) -> Result<SplitReadings, Error> {
    let previous = OptionFuture::from(asked.settled.compare.map(|window| read_days(asked, window, plans)));
    let (current, previous) =
        tokio::try_join!(read_days(asked, asked.settled.window, plans), async { previous.await.transpose() })?;
    Ok(SplitReadings { current, previous })
}

async fn read_days(asked: &Asked, window: Window, plans: &[Plan; 3]) -> Result<Days, Error> {
    let read = |plan| asked.read(window, &[Dimension::Date], WHOLE, plan);
    let (total, branded, non_branded) = tokio::try_join!(read(&plans[0]), read(&plans[1]), read(&plans[2]))?;
    Ok(Days { readings: [total, branded, non_branded], window: asked.final_days(window) })
}
