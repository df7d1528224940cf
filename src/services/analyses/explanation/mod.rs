//! The explanation of a change in clicks.

mod events;
mod readings;

use std::sync::Arc;

use analytics::{
    coverage,
    ctr_curve::Curve,
    explanation::{self, Pair, PartitionRows},
    page::Shown,
    table::Sides,
};
use api::{
    analytics::{ExplainLimit, ExplainedBrand, ExplainedTable, Explanation, ExplanationCoverage},
    models::{Question, TableCoverage, Window},
};
use search_engine::{Dimension, Reading};

use self::{
    events::Events,
    readings::{BothWindows, ExplanationReadings, PARTITIONS, Plans, cap_of},
};
use super::{Asked, Listed, compared::Compared, requests::Requests, search_data::SearchData, total};
use crate::{error::Error, services::access::ReadableProperty};

/// Everything that an explanation is computed from.
pub struct Material {
    asked: Asked,
    readings: ExplanationReadings,
    /// The annotations of both windows.
    pub events: Events,
    limit: usize,
}

/// An explanation before anything is read for it.
pub struct Planned {
    asked: Asked,
    plans: Plans,
    windows: [Window; 2],
    limit: usize,
}

/// Plans an explanation. `None` if one of the windows has no final day.
///
/// # Errors
/// [`Error::InvalidRequest`] if the question has no comparison window.
pub async fn plan(
    search: &SearchData,
    access: &ReadableProperty,
    question: &Question,
    limit: ExplainLimit,
) -> Result<Option<Planned>, Error> {
    if !question.comparison.is_asked() {
        return Err(Error::invalid(
            "explain: needs a window to compare with; send compare, or compareStart and compareEnd, or leave it out",
        ));
    }
    let asked = Asked::settle(search, access, question).await?;
    let Some(Compared { current, previous, .. }) = asked.settled.compared else { return Ok(None) };
    let plans = Plans::of(&asked, access).await?;
    Ok(Some(Planned { asked, plans, windows: [current, previous], limit: limit.0 as usize }))
}

impl Planned {
    /// Counts the requests of all readings.
    pub(super) fn count(&self, requests: &mut Requests) {
        self.plans.count(&self.asked, self.windows, requests);
    }

    /// Makes all readings.
    pub async fn read(self, search: &SearchData, access: &ReadableProperty) -> Result<Material, Error> {
        let Self { asked, plans, windows, limit } = self;
        let (readings, events) =
            tokio::try_join!(readings::read(&asked, &plans, windows), events::overlapping(search, access, windows))?;
        Ok(Material { asked, readings, events, limit })
    }
}

impl Material {
    /// The readings, always in the same order.
    pub fn readings(&self) -> impl Iterator<Item = &Arc<Reading>> {
        self.readings.all()
    }

    /// Computes the explanation.
    pub fn explanation(&self) -> Explanation {
        let readings = &self.readings;
        let (whole, by_page) = (pair(&readings.totals), pair(&readings.by_page));
        let curve = readings.curve.as_ref().map(|windows| {
            let rows = windows.iter().flat_map(|reading| &reading.rows);
            Curve::of(rows.map(|row| &row.metrics))
        });
        let [queries, pages, countries, devices] = PARTITIONS.map(|partition| match partition {
            Dimension::Query => self.table(partition, whole, curve.as_ref()),
            Dimension::Page => self.table(partition, by_page, None),
            _ => self.table(partition, whole, None),
        });
        let effects = explanation::whole_effects(&whole, queries.as_ref().map(|queries| &queries.effects));
        let (events, events_left_out) = self.events.first(self.limit);
        Explanation {
            clicks_change: whole.clicks_change(),
            effects,
            curve: curve.as_ref().map(Curve::source),
            coverage: ExplanationCoverage {
                queries: self.coverage(Dimension::Query, queries.as_ref()),
                pages: self.coverage(Dimension::Page, pages.as_ref()),
                countries: self.coverage(Dimension::Country, countries.as_ref()),
                devices: self.coverage(Dimension::Device, devices.as_ref()),
            },
            brand: self.brand(&whole),
            queries,
            pages: pages.map(|pages| explanation::counted_otherwise(pages, &whole, &by_page)),
            countries,
            devices,
            events,
            events_left_out,
        }
    }

    /// Computes one partition. `None` if the search type lacks it.
    fn table(&self, partition: Dimension, whole: Pair, curve: Option<&Curve>) -> Option<ExplainedTable> {
        let [current, previous] = self.readings.rows(partition)?.each_ref().map(|reading| Listed::of(reading));
        let rows = PartitionRows { current: current.listing(), previous: previous.listing(), whole, curve };
        Some(explanation::table(&rows, self.limit))
    }

    fn brand(&self, whole: &Pair) -> Option<ExplainedBrand> {
        let [branded, non_branded] = self.readings.brand.as_ref()?.each_ref().map(pair);
        Some(explanation::brand(whole, &branded, &non_branded))
    }

    fn coverage(&self, partition: Dimension, table: Option<&ExplainedTable>) -> TableCoverage {
        let Some((windows, table)) = self.readings.rows(partition).zip(table) else {
            return coverage::unavailable(&self.asked.settled.lacks(partition));
        };
        let sides = [&table.gains, &table.losses];
        let listed = || sides.into_iter().flat_map(|side| &side.rows);
        let left_out = sides.into_iter().map(|side| usize::try_from(side.left_out).unwrap_or_default()).sum::<usize>();
        let shown = Shown {
            rows: listed().count(),
            clicks: listed().filter_map(|row| row.current.as_ref()).map(|metrics| metrics.clicks as f64).sum(),
            matched: Some(listed().count() + left_out),
            more: Some(left_out > 0),
            exact: None,
        };
        let by_page = partition == Dimension::Page;
        let wholes = if by_page { &self.readings.wholes_by_page } else { &self.readings.wholes };
        let [current, previous] = windows.each_ref().map(|reading| Listed::of(reading));
        let known = Sides { current: current.listing(), previous: Some(previous.listing()) }.known();
        self.asked.coverage((known, cap_of(partition)), Some(shown), by_page, wholes)
    }
}

/// Returns the sums of both windows' rows.
fn pair([current, previous]: &BothWindows) -> Pair {
    Pair { now: total(current), before: total(previous) }
}
