//! Rows by any dimensions: their readings, and the answer to a question for them.

use analytics::{
    breakdown::to_row,
    coverage::{self, Known},
    page::{Page, Shown},
    table::Paged,
};
use api::{
    analytics::{
        PerformanceQuery, PerformanceQueryAnswer, PerformanceQueryMeta, PerformanceRow, PerformanceRows, RowDimension,
        RowsCoverage,
    },
    models::{Aggregation, TableCoverage, Window},
    params::Echo,
};
use search_engine::{Dimension, ENGINE_CEILING, Reading};

use super::{
    Asked, Listed, PartId, Readings, Wholes, answers::json_len, check_has, check_order, compared::Days,
    per_window::PerWindow, prepared::Prepared, search_data::SearchData,
};
use crate::{error::Error, services::access::ReadableProperty};

/// The most bytes of rows in an answer. The rows beyond are on the next page.
const MAX_BYTES: u64 = 8 << 20;

/// The rows of an answer by the same dimensions for each window, and the divisors of their coverage.
pub(super) struct RowsRead {
    dimensions: Vec<Dimension>,
    windows: PerWindow<PartId>,
    wholes: Wholes,
    pub(super) readings: Readings,
}

impl RowsRead {
    /// Reads the rows by `dimensions` of the days that `counted` names in each window, at most as many as `cap` says.
    pub(super) async fn read(
        asked: &Asked,
        dimensions: &[Dimension],
        counted: fn(Days) -> Option<Window>,
        cap: fn(Window) -> usize,
    ) -> Result<Self, Error> {
        let (plan, slice) = (asked.settled.plan().await?, asked.settled.plan_without_queries().await?);
        let by_page = asked.settled.aggregation_by(dimensions) == Aggregation::ByPage;
        let mut parts = asked.parts();
        let windows =
            PerWindow::of(&asked.settled, |days| parts.rows(counted(days), dimensions, cap(days.series), &plan));
        let wholes = parts.wholes(asked.settled.days().counted, by_page, &slice);
        parts.read().await?;
        Ok(Self { dimensions: dimensions.to_vec(), windows, wholes, readings: parts.finish() })
    }

    /// The rows of each window.
    pub(super) fn windows(&self) -> PerWindow<&Reading> {
        self.windows.map(|id| &*self.readings[*id])
    }

    /// Returns the coverage of these rows, which are read up to a ceiling. Search appearances overlap, so their clicks do not add up to a share.
    pub(super) fn coverage(&self, asked: &Asked, (known, ceiling): (Known, usize), shown: Shown) -> TableCoverage {
        let overlap = self.dimensions.contains(&Dimension::SearchAppearance);
        let whole = (asked.is_counted() && !overlap).then(|| self.readings.whole(self.wholes));
        coverage::coverage(known, ceiling, Some(shown), asked.settled.aggregation_by(&self.dimensions), whole)
    }
}

/// The order in which a question names the dimensions of its rows, and the one in which they are read. Questions that name the same
/// dimensions share their readings.
struct Order {
    named: Vec<RowDimension>,
    /// The dimensions of the readings. The day comes first, because the search engine cuts rows of each day.
    read: Vec<Dimension>,
    /// The place of each named dimension in a reading.
    places: Vec<usize>,
    /// The place of the day among the named dimensions.
    day: Option<usize>,
}

impl Order {
    fn of(named: &[RowDimension]) -> Self {
        let own: Vec<Dimension> = named.iter().copied().map(Dimension::from).collect();
        let mut read = own.clone();
        read.sort_unstable();
        let places = own.iter().filter_map(|one| read.iter().position(|other| one == other)).collect();
        let day = own.iter().position(|one| *one == Dimension::Date);
        Self { named: named.to_vec(), read, places, day }
    }
}

/// Answers a question for rows by any dimensions.
pub async fn query(
    search: &SearchData,
    access: &ReadableProperty,
    query: &PerformanceQuery,
) -> Result<Prepared<PerformanceQueryAnswer>, Error> {
    let (question, order) = (&query.question, Order::of(&query.dimensions.0));
    let search_type = question.slice.search_type;
    order.read.iter().try_for_each(|dimension| check_has(search_type, *dimension, "dimensions"))?;
    check_order(&query.order, question.comparison.is_asked())?;
    let page = Page {
        sort: query.order.sort,
        filters: query.order.metric_filters.clone().unwrap_or_default(),
        offset: query.offset.offset.0 as usize,
        limit: query.limit.0 as usize,
    };
    let asked = Asked::settle(search, access, question).await?;
    let read = RowsRead::read(&asked, &order.read, |days| days.counted, |_| ENGINE_CEILING).await?;
    let origin = read.readings.origin();
    let understood = PerformanceQuery { question: asked.question(), ..query.clone() };
    asked.answer(access, understood, origin, move |asked, query| answer(asked, query, &order, &page, &read))
}

fn answer(
    asked: &Asked,
    query: &PerformanceQuery,
    order: &Order,
    page: &Page,
    read: &RowsRead,
) -> PerformanceQueryAnswer {
    let windows = read.windows();
    let listed = windows.map(|reading| Listed::by(reading, &order.places, order.day));
    let sides = listed.sides();
    let Paged { places, known, mut shown } = sides.page(page);
    if known.capped && order.day.is_some() {
        // The rows that were cut may be of any day.
        shown.exact = Some(false);
    }
    let all = places.iter().map(|place| to_row(&sides.row(*place), &order.named));
    let rows = within(all, MAX_BYTES);
    if rows.len() < places.len() {
        shown.rows = rows.len();
        shown.clicks =
            places[..rows.len()].iter().filter_map(|place| sides.row(*place).now).map(|now| now.clicks).sum();
        shown.more = Some(true);
    }
    let mut meta = asked.meta(read.readings.read_at(), !listed.current.rows.is_empty());
    meta.aggregation = asked.settled.aggregation_by(&order.read);
    PerformanceQueryAnswer {
        data: PerformanceRows { rows },
        meta: PerformanceQueryMeta {
            answer: meta,
            question: Echo::of(query),
            coverage: RowsCoverage { rows: read.coverage(asked, (known, ENGINE_CEILING), shown) },
        },
    }
}

/// Returns the first rows whose JSON takes at most `max_bytes` together, and at least one if there are any.
fn within(rows: impl Iterator<Item = PerformanceRow>, max_bytes: u64) -> Vec<PerformanceRow> {
    let mut bytes = 0;
    let fits = |row: &PerformanceRow| {
        let is_first = bytes == 0;
        // A comma follows.
        bytes += json_len(row) + 1;
        is_first || bytes <= max_bytes
    };
    rows.take_while(fits).collect()
}

#[cfg(test)]
mod tests {
    use common::metrics::Metrics;
    use proptest::prelude::*;

    use super::*;

    fn row(key: &str) -> PerformanceRow {
        let metrics = Metrics::of_row(1.0, 2.0, Some(3.0));
        let keys = [key, "", ""];
        to_row(
            &analytics::table::Row { key: keys, now: Some(&metrics), before: None, presence: None },
            &[RowDimension::Page],
        )
    }

    proptest! {
        #[test]
        fn rows_are_cut_where_their_json_is_too_long(lengths in prop::collection::vec(0..300_usize, 0..40), max in 0..5_000_u64) {
            let rows: Vec<PerformanceRow> = lengths.iter().map(|length| row(&"é\"".repeat(*length))).collect();
            let size = |rows: &[PerformanceRow]| serde_json::to_vec(rows).unwrap().len() as u64;
            let kept = within(rows.clone().into_iter(), max);
            prop_assert_eq!(&kept[..], &rows[..kept.len()]);
            prop_assert!(kept.len() <= 1 || size(&kept) <= max + 1);
            prop_assert!(kept.len() == rows.len() || size(&rows[..=kept.len()]) > max);
            prop_assert!(rows.is_empty() || !kept.is_empty());
        }
    }

    #[test]
    fn dimensions_in_any_order_share_a_reading() {
        let order = Order::of(&[RowDimension::Page, RowDimension::Date, RowDimension::Query]);
        assert_eq!(order.read, [Dimension::Date, Dimension::Query, Dimension::Page]);
        assert_eq!((order.places, order.day), (vec![2, 0, 1], Some(1)));
        let none = Order::of(&[]);
        assert_eq!((none.read, none.places, none.day), (vec![], vec![], None));
    }
}
