//! Queries that appeared, disappeared and moved between two windows.
//!
//! The outer join of both windows' rows. A query in one window only is new or lost if the other window's list is complete.
//! It is unknown if that list was truncated, because it may be below the cut. Tools that fill in zeros invent moves.

use std::cmp::Ordering;

use api::{analytics::QueryMovers, models::Presence};
use common::metrics::Metrics;

use super::{
    page::{Page, Shown},
    table::{Row, Sides},
};

/// The clicks and impressions of one side of a row.
fn size(side: Option<&Metrics>) -> (f64, f64) {
    side.map_or((0.0, 0.0), |metrics| (metrics.clicks, metrics.impressions))
}

/// Descending by impressions, then clicks, in the only window that has the query.
fn by_size(a: &Row<'_>, b: &Row<'_>) -> Ordering {
    let ((x, more), (y, other)) = (size(a.now.or(a.before)), size(b.now.or(b.before)));
    other.total_cmp(&more).then(y.total_cmp(&x)).then_with(|| a.key.cmp(b.key))
}

/// Descending by the change of clicks, then of impressions, up or down.
fn by_move(a: &Row<'_>, b: &Row<'_>) -> Ordering {
    let moved = |row: &Row<'_>| {
        let (now, before) = (size(row.now), size(row.before));
        ((now.0 - before.0).abs(), (now.1 - before.1).abs())
    };
    let (own, others) = (moved(a), moved(b));
    others.0.total_cmp(&own.0).then(others.1.total_cmp(&own.1)).then_with(|| a.key.cmp(b.key))
}

/// The movers among queries with at least `min_impressions` in one of the windows, and the part of them that is shown. Each list is
/// one page.
#[must_use]
pub fn movers(sides: Sides<'_>, min_impressions: u64, page: &Page) -> (QueryMovers, Shown) {
    let least = min_impressions as f64;
    let is_large = |row: &Row<'_>| size(row.now).1.max(size(row.before).1) >= least;
    let rows: Vec<Row<'_>> = sides.rows().filter(is_large).collect();
    let previous_capped = sides.previous.is_some_and(|previous| previous.capped);
    let page_of = |presence, own: fn(&Row<'_>, &Row<'_>) -> Ordering| {
        let of = rows.iter().filter(|row| row.presence == Some(presence));
        let found = page.of(of.filter(|row| row.now != row.before).copied().collect(), Row::values, own);
        let clicks = found.rows.iter().map(|row| size(row.now).0).sum();
        let shown = page.shown(&found, clicks, sides.current.capped, previous_capped);
        (found.rows.iter().map(Row::to_api).collect(), shown)
    };
    let (new, came) = page_of(Presence::New, by_size);
    let (lost, went) = page_of(Presence::Lost, by_size);
    let (unknown, hidden) = page_of(Presence::Unknown, by_size);
    let (moving, moved) = page_of(Presence::Both, by_move);
    (QueryMovers { new, lost, unknown, moving }, came.and(went).and(hidden).and(moved))
}

#[cfg(test)]
mod tests {
    use api::analytics::TableRow;

    use super::*;
    use crate::listing::Listing;

    fn row(key: &'static str, clicks: f64, impressions: f64) -> (&'static str, Metrics) {
        (key, Metrics::of_row(clicks, impressions, Some(4.0)))
    }

    fn keys(rows: &[TableRow]) -> Vec<&str> {
        rows.iter().map(|row| row.key.as_str()).collect()
    }

    const NOW: [(&str, f64, f64); 4] =
        [("up", 9.0, 90.0), ("same", 5.0, 50.0), ("fresh", 1.0, 30.0), ("small", 0.0, 9.0)];
    const BEFORE: [(&str, f64, f64); 4] =
        [("same", 5.0, 50.0), ("up", 2.0, 40.0), ("old", 2.0, 20.0), ("older", 1.0, 25.0)];

    fn found(now_capped: bool, before_capped: bool) -> QueryMovers {
        let (now, before) = (NOW.map(|(k, c, i)| row(k, c, i)), BEFORE.map(|(k, c, i)| row(k, c, i)));
        let current = Listing { rows: &now, capped: now_capped };
        let previous = Some(Listing { rows: &before, capped: before_capped });
        movers(Sides { current, previous }, 10, &Page::first(9)).0
    }

    #[test]
    fn complete_lists_tell_what_came_went_and_moved() {
        let movers = found(false, false);
        assert_eq!((keys(&movers.new), keys(&movers.lost)), (vec!["fresh"], vec!["older", "old"]));
        assert_eq!((keys(&movers.moving), movers.unknown.len()), (vec!["up"], 0));
        assert_eq!(movers.lost[0].clicks, None, "a lost query has no numbers of its own");
    }

    #[test]
    fn a_list_that_was_cut_makes_absence_unknown() {
        let movers = found(true, true);
        assert!(movers.new.is_empty() && movers.lost.is_empty());
        assert_eq!(keys(&movers.unknown), ["fresh", "older", "old"]);
        assert!(movers.unknown.iter().all(|row| row.presence == Some(Presence::Unknown)));
        assert_eq!(keys(&found(false, true).lost), ["older", "old"], "the current list is complete");
    }
}
