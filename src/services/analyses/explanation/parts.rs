//! The parts of an explanation.

use api::models::Window;
use futures_util::future::OptionFuture;
use search_engine::{Condition, Dimension, ENGINE_CEILING, Plan};

use super::super::{Asked, PartId, Parts, WHOLE, Wholes, growth::curve_plan, plan_with, predicate, question::Settled};
use crate::{error::Error, services::access::ReadableProperty};

/// The dimensions whose rows are partitions, in the order of the answer.
pub const PARTITIONS: [Dimension; 4] = [Dimension::Query, Dimension::Page, Dimension::Country, Dimension::Device];

/// A part of the window and one of the comparison window.
pub type BothWindows = [PartId; 2];

/// The parts of an explanation.
pub struct ExplanationParts {
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

impl ExplanationParts {
    /// The rows of a partition. `None` if the search type lacks it.
    pub fn rows(&self, partition: Dimension) -> Option<&BothWindows> {
        let place = PARTITIONS.iter().position(|known| *known == partition)?;
        self.partitions[place].as_ref()
    }
}

/// The plans of the parts.
pub struct Plans {
    own: Plan,
    /// The plan without the question's conditions on queries.
    slice: Plan,
    brand: Option<[Plan; 2]>,
    curve: Option<Plan>,
}

impl Plans {
    /// Plans all parts.
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

    /// Declares all parts.
    pub fn declare(&self, settled: &Settled, windows: [Window; 2], parts: &mut Parts<'_>) -> ExplanationParts {
        let totals = windows.map(|window| parts.totals(window, false, &self.own));
        let by_page = windows.map(|window| parts.totals(window, true, &self.own));
        let partitions = PARTITIONS.map(|partition| {
            let is_there = settled.has(partition);
            is_there.then(|| windows.map(|window| parts.rows(window, &[partition], cap_of(partition), &self.own)))
        });
        let of_brand = |plan: &Plan, parts: &mut Parts<'_>| windows.map(|window| parts.totals(window, false, plan));
        let brand = self.brand.as_ref().map(|plans| plans.each_ref().map(|plan| of_brand(plan, parts)));
        let curve = self.curve.as_ref();
        let curve = curve.map(|plan| windows.map(|window| parts.all_rows(window, &[Dimension::Query], plan)));
        let wholes = parts.wholes(Some(windows[0]), false, &self.slice);
        let wholes_by_page = parts.wholes(Some(windows[0]), true, &self.slice);
        ExplanationParts { totals, by_page, partitions, brand, curve, wholes, wholes_by_page }
    }
}

/// Returns the maximum number of rows that a partition reads.
pub fn cap_of(partition: Dimension) -> usize {
    if matches!(partition, Dimension::Query | Dimension::Page) { ENGINE_CEILING } else { WHOLE }
}

/// Returns the plans of branded queries and of identified queries that are not branded, if the property has branded keywords.
async fn brand_plans(asked: &Asked, access: &ReadableProperty) -> Result<Option<[Plan; 2]>, Error> {
    let Some(brand) = predicate::brand(&asked.search.db, access).await? else { return Ok(None) };
    let predicate = &asked.settled.predicate;
    let branded = plan_with(predicate, Condition::Branded(brand.clone())).await?;
    Ok(Some([branded, plan_with(predicate, Condition::NonBranded(brand)).await?]))
}
