//! The explanation of a change in clicks.

mod events;
mod readings;

use std::sync::Arc;

use api::{
    analytics::{
        DayCounts, ExplainLimit, ExplainedBrand, ExplainedDays, ExplainedTable, Explanation, ExplanationCoverage,
    },
    models::{Question, TableCoverage, Window},
};
use chrono::NaiveDate;

use self::{
    events::Events,
    readings::{BothWindows, PARTITIONS, Readings},
};
use super::{Asked, Listed, question::lacks, search_data::SearchData, total};
use crate::{
    analytics::{
        ctr_curve::Curve,
        explanation::{self, Pair, Rows},
        table,
    },
    compute::beside,
    error::Error,
    search_engine::{Dimension, Reading},
    services::access::PropertyAccess,
};

/// Everything that an explanation is computed from.
pub struct Material {
    asked: Asked,
    windows: [Window; 2],
    readings: Readings,
    /// The annotations of both windows.
    pub events: Events,
    limit: usize,
}

/// Explains the change in clicks between the two windows of a question.
pub async fn explain(
    search: &SearchData,
    access: &PropertyAccess,
    question: &Question,
    limit: ExplainLimit,
) -> Result<Explanation, Error> {
    let material = read(search, access, question, limit).await?;
    beside(move || material.explanation()).await
}

/// Makes all readings of an explanation.
///
/// # Errors
/// [`Error::InvalidRequest`] if the question has no comparison window.
pub async fn read(
    search: &SearchData,
    access: &PropertyAccess,
    question: &Question,
    limit: ExplainLimit,
) -> Result<Material, Error> {
    let missing = || {
        Error::invalid(
            "explain: needs a window to compare with; send compare, or compareStart and compareEnd, or leave it out",
        )
    };
    if !question.comparison.is_asked() {
        return Err(missing());
    }
    let asked = Asked::settle(search, access, question).await?;
    let windows = [asked.settled.window, asked.settled.compare.ok_or_else(missing)?];
    let (readings, events) =
        tokio::try_join!(readings::read(&asked, access, windows), events::overlapping(search, access, windows))?;
    Ok(Material { asked, windows, readings, events, limit: limit.0 as usize })
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
            days: self.days(),
            brand: self.brand(&whole),
            queries,
            pages: pages.map(|pages| explanation::counted_otherwise(pages, &whole, &by_page)),
            countries,
            devices,
            events,
            events_left_out,
            coverage: self.coverage(),
        }
    }

    /// Computes one partition. `None` if the search type lacks it.
    fn table(&self, partition: Dimension, whole: Pair, curve: Option<&Curve>) -> Option<ExplainedTable> {
        let [current, previous] = self.readings.rows(partition)?.each_ref().map(|reading| Listed::of(reading));
        let rows = Rows { current: current.listing(), previous: previous.listing(), whole, curve };
        Some(explanation::table(&rows, self.limit))
    }

    fn brand(&self, whole: &Pair) -> Option<ExplainedBrand> {
        let [branded, non_branded] = self.readings.brand.as_ref()?.each_ref().map(pair);
        Some(explanation::brand(whole, &branded, &non_branded))
    }

    fn days(&self) -> ExplainedDays {
        let [current, previous] = self.windows.map(|window| days(window, self.asked.freshness.last_final_date));
        ExplainedDays { current, previous }
    }

    fn coverage(&self) -> ExplanationCoverage {
        let [queries, pages, countries, devices] = PARTITIONS.map(|partition| self.coverage_of(partition));
        ExplanationCoverage { queries, pages, countries, devices }
    }

    fn coverage_of(&self, partition: Dimension) -> TableCoverage {
        let Some([current, _]) = self.readings.rows(partition) else {
            return table::unavailable(&lacks(self.asked.settled.search_type, partition));
        };
        let by_page = partition == Dimension::Page;
        let whole = if by_page { &self.readings.whole_by_page } else { &self.readings.whole };
        self.asked.coverage(&Listed::of(current), by_page, whole)
    }
}

/// Returns the sums of both windows' rows.
fn pair([current, previous]: &BothWindows) -> Pair {
    Pair { now: total(current), before: total(previous) }
}

/// Counts the days of a window that are final, and those that are not.
fn days(window: Window, last_final: NaiveDate) -> DayCounts {
    let all = (window.end_date - window.start_date).num_days() + 1;
    let not_final = (window.end_date - last_final).num_days().clamp(0, all);
    let count = |days: i64| u32::try_from(days).unwrap_or_default();
    DayCounts { counted: count(all - not_final), not_final: count(not_final) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_that_are_not_final_are_counted_apart() {
        let day = |n: u32| NaiveDate::from_ymd_opt(2026, 11, n).unwrap();
        let cases = [((1, 7), 18, (7, 0)), ((13, 21), 18, (6, 3)), ((18, 18), 18, (1, 0)), ((19, 20), 18, (0, 2))];
        for ((start, end), last_final, expected) in cases {
            let found = days(Window { start_date: day(start), end_date: day(end) }, day(last_final));
            assert_eq!((found.counted, found.not_final), expected, "{start} to {end}");
        }
    }
}
