//! Branded, non-branded and anonymised traffic.

use analytics::{
    branded::{self, Traffic},
    series::Span,
};
use api::{
    analytics::{BrandedSplit, BrandedTrafficAnswer, BrandedTrafficMeta, BrandedTrafficParams, IdentifiedCoverage},
    models::Window,
    params::Echo,
};
use search_engine::{Condition, Plan, brand::NOTHING};

use super::{
    Asked, PartId, Parts, Readings, WHOLE, by_time, check_has_queries, per_window::PerWindow, plan_with, predicate,
    prepared::Prepared, search_data::SearchData,
};
use crate::{error::Error, services::access::ReadableProperty};

/// One window by time: all traffic, branded queries, and identified queries that are not branded.
struct ByTime {
    parts: [PartId; 3],
    span: Span,
    counted: Option<Window>,
}

/// The split of all windows.
pub(super) struct Split(PerWindow<ByTime>);

impl Split {
    /// Declares the parts of all windows.
    pub(super) fn declare(asked: &Asked, plans: &[Plan; 3], parts: &mut Parts<'_>) -> Self {
        let time = [asked.settled.time()];
        Self(PerWindow::of(&asked.settled, |days| ByTime {
            parts: plans.each_ref().map(|plan| parts.rows(days.series, &time, WHOLE, plan)),
            span: asked.span(days.series),
            counted: days.counted,
        }))
    }

    pub(super) fn split(&self, readings: &Readings, is_counted: bool) -> BrandedSplit {
        let traffic = self.0.map(|window| window.traffic(readings));
        branded::split(&traffic.current, traffic.previous.as_ref(), is_counted)
    }
}

impl ByTime {
    fn traffic(&self, readings: &Readings) -> branded::Window {
        let [total, branded, non_branded] = self.parts.map(|id| {
            let rows = by_time(&readings[id], self.span);
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
    let mut parts = asked.parts();
    let split = Split::declare(&asked, &plans, &mut parts);
    parts.read().await?;
    let readings = parts.finish();
    let origin = readings.origin();
    let answer = move |asked: &Asked, params: &BrandedTrafficParams| {
        let is_counted = asked.is_counted();
        let data = split.split(&readings, is_counted);
        let has_data = data.total.as_ref().is_some_and(|total| total.impressions > 0);
        let identified = is_counted.then(|| branded::identified(&split.0.current.traffic(&readings)));
        BrandedTrafficAnswer {
            meta: BrandedTrafficMeta {
                answer: asked.meta(readings.read_at(), has_data),
                question: Echo::of(params),
                has_branded_keywords,
                coverage: IdentifiedCoverage { identified },
            },
            data,
        }
    };
    let understood = BrandedTrafficParams { question: asked.question(), ..params.clone() };
    asked.answer(access, understood, origin, answer)
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
