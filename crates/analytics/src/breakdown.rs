//! Rows by several dimensions.

use api::analytics::{MAX_DIMENSIONS, PerformanceRow, RowDimension, RowKeys};
use common::metrics::Metrics;

use super::{change::to_api, table::Row};

/// The values of a row's dimensions, in the order of the question. Those behind its dimensions are empty.
pub type Keys<'r> = [&'r str; MAX_DIMENSIONS];

/// Sorts rows by clicks, impressions and keys, best first. If the key at `day` is a date, days come first, the oldest at the top.
pub fn sort(rows: &mut [(Keys<'_>, Metrics)], day: Option<usize>) {
    rows.sort_unstable_by(|(a, left), (b, right)| {
        let by_day = day.map(|day| a[day].cmp(b[day]));
        let by_clicks = right.clicks.total_cmp(&left.clicks);
        let by_size = by_clicks.then(right.impressions.total_cmp(&left.impressions));
        by_day.map_or(by_size, |by_day| by_day.then(by_size)).then_with(|| a.cmp(b))
    });
}

/// The row in the API's format.
#[must_use]
pub fn to_row(row: &Row<'_, Keys<'_>>, dimensions: &[RowDimension]) -> PerformanceRow {
    let own = row.now.map(to_api);
    PerformanceRow {
        keys: RowKeys(dimensions.iter().copied().zip(row.key.map(str::to_owned)).collect()),
        clicks: own.as_ref().map(|own| own.clicks),
        impressions: own.as_ref().map(|own| own.impressions),
        ctr: own.as_ref().and_then(|own| own.ctr),
        position: own.as_ref().and_then(|own| own.position),
        previous: row.before.map(to_api),
        change: row.change(),
        presence: row.presence,
    }
}

#[cfg(test)]
mod tests {
    use api::models::Presence;

    use super::*;
    use crate::{listing::Listing, page::Page, table::Sides};

    fn row(keys: Keys<'static>, clicks: f64, impressions: f64) -> (Keys<'static>, Metrics) {
        (keys, Metrics::of_row(clicks, impressions, Some(2.0)))
    }

    #[test]
    fn rows_come_by_clicks_then_impressions_then_keys_and_days_before_them() {
        let mut rows = [
            row(["b", "2026-11-02", ""], 9.0, 9.0),
            row(["a", "2026-11-01", ""], 1.0, 20.0),
            row(["c", "2026-11-01", ""], 1.0, 30.0),
            row(["b", "2026-11-01", ""], 1.0, 20.0),
        ];
        let order = |rows: &[(Keys<'static>, Metrics)]| rows.iter().map(|(keys, _)| keys[0]).collect::<String>();
        sort(&mut rows, None);
        assert_eq!(order(&rows), "bcab");
        sort(&mut rows, Some(1));
        assert_eq!(order(&rows), "cabb");
        assert_eq!(rows[3].0[1], "2026-11-02");
    }

    #[test]
    fn a_row_is_the_same_in_both_windows_if_all_its_keys_are() {
        let now = [row(["q", "p", ""], 5.0, 9.0), row(["q", "other", ""], 1.0, 9.0)];
        let before = [row(["q", "p", ""], 2.0, 9.0), row(["p", "q", ""], 1.0, 9.0)];
        let listing = |rows| Listing { rows, capped: false };
        let sides = Sides { current: listing(&now), previous: Some(listing(&before)) };
        let dimensions = [RowDimension::Query, RowDimension::Page];
        let places = sides.page(&Page::first(9)).places;
        let rows: Vec<PerformanceRow> = places.iter().map(|place| to_row(&sides.row(*place), &dimensions)).collect();
        let said: Vec<_> =
            rows.iter().map(|row| (row.keys.0[0].1.as_str(), row.keys.0[1].1.as_str(), row.presence)).collect();
        let [both, new, lost] = [Presence::Both, Presence::New, Presence::Lost].map(Some);
        assert_eq!(said, [("q", "p", both), ("q", "other", new), ("p", "q", lost)]);
        assert_eq!(rows[0].keys.0.iter().map(|(dimension, _)| *dimension).collect::<Vec<_>>(), dimensions);
    }
}
