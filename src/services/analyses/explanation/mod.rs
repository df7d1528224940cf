//! The explanation of a change in clicks.

mod events;
mod parts;

use analytics::{
    change::count,
    coverage,
    ctr_curve::Curve,
    explanation::{self, Pair, PartitionRows},
    headline::{self, Facts},
    page::Shown,
    table::Sides,
};
use api::{
    analytics::{ExplainLimit, ExplainedHeadline, ExplainedTable, Explanation, ExplanationCoverage},
    models::{self, Question, TableCoverage, Window},
};
use common::names::pages as page_names;
use search_engine::{Dimension, label};

pub(super) use self::events::Events;
use self::parts::{BothWindows, ExplanationParts, PARTITIONS, Plans, cap_of};
use super::{Asked, Listed, Parts, Readings, compared::Compared, search_data::SearchData, total, usual::Judged};
use crate::{error::Error, services::access::ReadableProperty};

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
    /// Declares the parts.
    pub(super) fn declare(self, parts: &mut Parts<'_>) -> Declared {
        let Self { asked, plans, windows, limit } = self;
        let parts = plans.declare(&asked.settled, windows, parts);
        Declared { asked, parts, windows, limit }
    }
}

/// An explanation whose parts are declared.
pub struct Declared {
    asked: Asked,
    parts: ExplanationParts,
    windows: [Window; 2],
    limit: usize,
}

impl Declared {
    /// Reads the annotations of both windows.
    pub async fn events(&self, search: &SearchData, access: &ReadableProperty) -> Result<Events, Error> {
        events::overlapping(search, access, self.windows).await
    }

    /// Computes the explanation, and its headline about `site`.
    pub(in crate::services::analyses) fn explanation(
        &self,
        site: &str,
        readings: &Readings,
        judged: Option<&Judged>,
        events: &Events,
    ) -> Explanation {
        let mut explanation = self.split(readings, events);
        let [window, _] = self.windows;
        let whole = pair(readings, self.parts.totals);
        let facts = Facts {
            site,
            clicks: [count(whole.now.clicks), count(whole.before.clicks)],
            window,
            usual: judged.and_then(|judged| judged.usual.clicks_of(window)),
            unusual: judged.and_then(|judged| judged.unusual),
            searched: self.asked.settled.search_type.has(models::Dimension::Query),
            name: &|dimension, key| match dimension {
                models::Dimension::Country => label(Dimension::Country, key).unwrap_or(key).to_owned(),
                models::Dimension::Device => label(Dimension::Device, key).unwrap_or(key).to_owned(),
                _ => match page_names::name_on(site, key).as_str() {
                    "/" => "Home page".to_owned(),
                    name => name.to_owned(),
                },
            },
        };
        explanation.headline = headline::headline(&explanation, &facts);
        explanation
    }

    /// Computes the explanation, apart from its headline.
    fn split(&self, readings: &Readings, events: &Events) -> Explanation {
        let parts = &self.parts;
        let (whole, by_page) = (pair(readings, parts.totals), pair(readings, parts.by_page));
        let curve = parts.curve.map(|windows| {
            let rows = windows.into_iter().flat_map(|id| &readings[id].rows);
            Curve::of(rows.map(|row| &row.metrics))
        });
        let [queries, pages, countries, devices] = PARTITIONS.map(|partition| match partition {
            Dimension::Query => self.table(readings, partition, whole, curve.as_ref()),
            Dimension::Page => self.table(readings, partition, by_page, None),
            _ => self.table(readings, partition, whole, None),
        });
        let effects = explanation::whole_effects(&whole, queries.as_ref().map(|queries| &queries.effects));
        let (events, events_left_out) = events.first(self.limit);
        Explanation {
            clicks_change: whole.clicks_change(),
            headline: ExplainedHeadline::default(),
            effects,
            curve: curve.as_ref().map(Curve::source),
            coverage: ExplanationCoverage {
                queries: self.coverage(readings, Dimension::Query, queries.as_ref()),
                pages: self.coverage(readings, Dimension::Page, pages.as_ref()),
                countries: self.coverage(readings, Dimension::Country, countries.as_ref()),
                devices: self.coverage(readings, Dimension::Device, devices.as_ref()),
            },
            brand: parts.brand.map(|[branded, non_branded]| {
                explanation::brand(&whole, &pair(readings, branded), &pair(readings, non_branded))
            }),
            queries,
            pages: pages.map(|pages| explanation::counted_otherwise(pages, &whole, &by_page)),
            countries,
            devices,
            events,
            events_left_out,
        }
    }

    /// Computes one partition. `None` if the search type lacks it.
    fn table(
        &self,
        readings: &Readings,
        partition: Dimension,
        whole: Pair,
        curve: Option<&Curve>,
    ) -> Option<ExplainedTable> {
        let [current, previous] = self.parts.rows(partition)?.map(|id| Listed::of(&readings[id]));
        let rows = PartitionRows { current: current.listing(), previous: previous.listing(), whole, curve };
        Some(explanation::table(&rows, self.limit))
    }

    fn coverage(&self, readings: &Readings, partition: Dimension, table: Option<&ExplainedTable>) -> TableCoverage {
        let Some((windows, table)) = self.parts.rows(partition).zip(table) else {
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
        let whole = readings.whole(if by_page { self.parts.wholes_by_page } else { self.parts.wholes });
        let [current, previous] = windows.map(|id| Listed::of(&readings[id]));
        let known = Sides { current: current.listing(), previous: Some(previous.listing()) }.known();
        self.asked.coverage((known, cap_of(partition)), Some(shown), by_page, whole)
    }
}

/// Returns the sums of both windows' rows.
fn pair(readings: &Readings, [current, previous]: BothWindows) -> Pair {
    Pair { now: total(&readings[current]), before: total(&readings[previous]) }
}
