//! The readings of an explanation.

use std::sync::Arc;

use api::models::Window;
use futures_util::future::OptionFuture;
use search_engine::{Aggregation, Condition, Dimension, ENGINE_CEILING, Part, Plan, Reading};

use super::super::{Asked, WHOLE, Wholes, growth::curve_plan, plan_with, predicate, requests::Requests};
use crate::{error::Error, services::access::ReadableProperty};

/// The dimensions whose rows are partitions, in the order of the answer.
pub const PARTITIONS: [Dimension; 4] = [Dimension::Query, Dimension::Page, Dimension::Country, Dimension::Device];

/// One reading of the window and one of the comparison window.
pub type BothWindows = [Arc<Reading>; 2];

/// The readings of an explanation.
pub struct ExplanationReadings {
    /// The totals of the question.
    pub totals: BothWindows,
    /// The same totals, counted `byPage`.
    pub by_page: BothWindows,
    /// The rows of each partition that the search type has.
    partitions: [Option<BothWindows>; 4],
    /// The totals of branded and of non-branded queries, if the property has branded keywords.
    pub brand: Option<[BothWindows; 2]>,
    /// The non-branded queries of both windows, to which the site's own curve is fitted.
    pub curve: Option<BothWindows>,
    /// The totals of the property and of the slice: the divisors for the coverage of all partitions except pages.
    pub wholes: Wholes,
    /// The same totals, counted `byPage`.
    pub wholes_by_page: Wholes,
}

impl ExplanationReadings {
    /// All readings, always in the same order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Reading>> {
        let brand = self.brand.iter().flatten().flatten();
        let optional = self.partitions.iter().flatten().flatten().chain(brand).chain(self.curve.iter().flatten());
        let wholes = self.wholes.all().into_iter().chain(self.wholes_by_page.all());
        self.totals.iter().chain(&self.by_page).chain(wholes).chain(optional)
    }

    /// The rows of a partition. `None` if the search type lacks it.
    pub fn rows(&self, partition: Dimension) -> Option<&BothWindows> {
        let place = PARTITIONS.iter().position(|known| *known == partition)?;
        self.partitions[place].as_ref()
    }
}

/// The plans of the readings.
pub struct Plans {
    own: Plan,
    /// The plan without the question's conditions on queries.
    slice: Plan,
    brand: Option<[Plan; 2]>,
    curve: Option<Plan>,
}

impl Plans {
    /// Plans all readings.
    pub async fn of(asked: &Asked, access: &ReadableProperty) -> Result<Self, Error> {
        let settled = &asked.settled;
        let has_queries = settled.has(Dimension::Query);
        Ok(Self {
            own: settled.plan().await?,
            slice: settled.plan_without_queries().await?,
            brand: if has_queries { brand_plans(asked, access).await? } else { None },
            curve: OptionFuture::from(has_queries.then(|| curve_plan(asked, access))).await.transpose()?,
        })
    }

    /// Counts the requests of all readings.
    pub fn count(&self, asked: &Asked, windows: [Window; 2], requests: &mut Requests) {
        let settled = &asked.settled;
        for window in windows {
            let totals = settled.part(window, &[], 1);
            requests.part(totals.clone(), &self.own);
            requests.part(Part { aggregation: Some(Aggregation::ByPage), ..totals.clone() }, &self.own);
            for dimension in PARTITIONS.into_iter().filter(|dimension| settled.has(*dimension)) {
                requests.part(settled.part(window, &[dimension], WHOLE), &self.own);
            }
            self.brand.iter().flatten().for_each(|plan| requests.part(totals.clone(), plan));
            let queries = settled.part(window, &[Dimension::Query], ENGINE_CEILING);
            self.curve.iter().for_each(|plan| requests.part(queries.clone(), plan));
        }
        requests.wholes(settled, Some(windows[0]), false, &self.slice);
        requests.wholes(settled, Some(windows[0]), true, &self.slice);
    }
}

/// Returns the maximum number of rows that a partition reads.
pub fn cap_of(partition: Dimension) -> usize {
    if matches!(partition, Dimension::Query | Dimension::Page) { ENGINE_CEILING } else { WHOLE }
}

/// Makes all readings in parallel.
pub async fn read(asked: &Asked, plans: &Plans, windows: [Window; 2]) -> Result<ExplanationReadings, Error> {
    let (settled, Plans { own, slice, brand, curve }) = (&asked.settled, plans);
    let partition = |dimension| {
        let part = settled.has(dimension).then(|| settled.part(windows[0], &[dimension], cap_of(dimension)));
        read_if(asked, windows, part, Some(own))
    };
    let totals = settled.part(windows[0], &[], 1);
    let counted_by_page = Part { aggregation: Some(Aggregation::ByPage), ..totals.clone() };
    let [queries, pages, countries, devices] = PARTITIONS.map(partition);
    let [branded, non_branded] = [0, 1].map(|kind| {
        let plan = brand.as_ref().map(|plans: &[Plan; 2]| &plans[kind]);
        read_if(asked, windows, Some(totals.clone()), plan)
    });
    let curve_part = Some(settled.part(windows[0], &[Dimension::Query], ENGINE_CEILING));
    let found = tokio::try_join!(
        read_both(asked, windows, totals.clone(), own),
        read_both(asked, windows, counted_by_page, own),
        queries,
        pages,
        countries,
        devices,
        branded,
        non_branded,
        read_if(asked, windows, curve_part, curve.as_ref()),
        asked.read_wholes(windows[0], false, slice),
        asked.read_wholes(windows[0], true, slice),
    )?;
    let (totals, by_page, queries, pages, countries, devices, branded, non_branded, curve, wholes, wholes_by_page) =
        found;
    let partitions = [queries, pages, countries, devices];
    let brand = branded.zip(non_branded).map(|(branded, non_branded)| [branded, non_branded]);
    Ok(ExplanationReadings { totals, by_page, partitions, brand, curve, wholes, wholes_by_page })
}

/// Returns the plans of branded queries and of identified queries that are not branded, if the property has branded keywords.
async fn brand_plans(asked: &Asked, access: &ReadableProperty) -> Result<Option<[Plan; 2]>, Error> {
    let Some(brand) = predicate::brand(&asked.search.db, access).await? else { return Ok(None) };
    let predicate = &asked.settled.predicate;
    let branded = plan_with(predicate, Condition::Branded(brand.clone())).await?;
    Ok(Some([branded, plan_with(predicate, Condition::NonBranded(brand)).await?]))
}

/// Reads a part of the question in both windows, if there is such a part and a plan.
async fn read_if(
    asked: &Asked,
    windows: [Window; 2],
    part: Option<Part>,
    plan: Option<&Plan>,
) -> Result<Option<BothWindows>, Error> {
    let wanted = part.zip(plan);
    OptionFuture::from(wanted.map(|(part, plan)| read_both(asked, windows, part, plan))).await.transpose()
}

/// Reads a part of the question in both windows.
async fn read_both(asked: &Asked, windows: [Window; 2], part: Part, plan: &Plan) -> Result<BothWindows, Error> {
    let [current, previous] = windows.map(|window| {
        let part = Part { start: window.start_date, end: window.end_date, ..part.clone() };
        async move { Box::pin(asked.search.read(&asked.settled.site, &part, plan)).await }
    });
    Ok(tokio::try_join!(current, previous)?.into())
}
