//! Queries that appeared, disappeared and moved between two windows.
//!
//! The outer join of both windows' rows. A query in one window only is new or lost if the other window's list is complete.
//! It is unknown if that list was truncated, because it may be below the cut. Tools that fill in zeros invent moves.

use std::cmp::Ordering;

use api::{
    analytics::{QueryMovers, TableRow},
    models::Presence,
};

use super::{
    metrics::Metrics,
    page::{Page, Shown, Values},
    table::{self, Listing},
};

/// A query with its metrics in each window.
struct Pair<'r> {
    key: &'r str,
    now: Option<&'r Metrics>,
    before: Option<&'r Metrics>,
}

impl<'r> Pair<'r> {
    /// Descending by impressions, then clicks, in the only window that has the query.
    fn by_size(&self, other: &Self) -> Ordering {
        let size = |pair: &Self| pair.now.or(pair.before).map_or((0.0, 0.0), |m| (m.impressions, m.clicks));
        let (own, others) = (size(self), size(other));
        others.0.total_cmp(&own.0).then(others.1.total_cmp(&own.1)).then_with(|| self.key.cmp(other.key))
    }

    /// Absolute changes of clicks and impressions.
    fn moved(&self) -> (f64, f64) {
        let of = |metrics: Option<&Metrics>| metrics.map_or((0.0, 0.0), |m| (m.clicks, m.impressions));
        let (now, before) = (of(self.now), of(self.before));
        ((now.0 - before.0).abs(), (now.1 - before.1).abs())
    }

    fn by_move(&self, other: &Self) -> Ordering {
        let (own, others) = (self.moved(), other.moved());
        others.0.total_cmp(&own.0).then(others.1.total_cmp(&own.1)).then_with(|| self.key.cmp(other.key))
    }

    fn changed(&self) -> bool {
        self.now.zip(self.before).is_some_and(|(now, before)| now != before)
    }

    /// The larger of both windows' impressions.
    fn impressions(&self) -> f64 {
        self.now.into_iter().chain(self.before).map(|metrics| metrics.impressions).fold(0.0, f64::max)
    }

    fn values(&self) -> Values<'r> {
        let compared = self.now.zip(self.before).map(|(now, before)| (*now, *before));
        Values { key: self.key, own: self.now.copied(), compared }
    }

    fn row(&self, presence: Presence) -> TableRow {
        table::compared(self.key, self.now, self.before, presence)
    }
}

/// The movers among queries with at least `min_impressions` in one of the windows. Each list is one page.
#[must_use]
pub fn movers<'r>(
    current: Listing<'r>,
    previous: Listing<'r>,
    min_impressions: u64,
    page: &Page,
) -> (QueryMovers, Shown) {
    let joined = table::join(current, previous);
    let kept = current.rows.iter().zip(&joined.before).map(|((key, now), place)| Pair {
        key,
        now: Some(now),
        before: place.map(|place| &previous.rows[place as usize].1),
    });
    let gone = joined.gone.iter().map(|place| {
        let (key, before) = &previous.rows[*place as usize];
        Pair { key, now: None, before: Some(before) }
    });
    let large = kept.chain(gone).filter(|pair| pair.impressions() >= min_impressions as f64);
    let (mut both, one): (Vec<Pair<'r>>, Vec<Pair<'r>>) = large.partition(|p| p.now.is_some() && p.before.is_some());
    let (mut new, mut lost): (Vec<Pair<'_>>, Vec<Pair<'_>>) = one.into_iter().partition(|pair| pair.now.is_some());
    let mut unknown = Vec::new();
    if previous.capped {
        unknown.append(&mut new);
    }
    if current.capped {
        unknown.append(&mut lost);
    }
    both.retain(Pair::changed);
    let mut shown = Shown::default();
    let mut matched = 0;
    let mut listed = |pairs: Vec<Pair<'r>>, own: fn(&Pair<'r>, &Pair<'r>) -> Ordering, presence| {
        let found = page.of(pairs, Pair::values, own);
        let of_window = Shown::of(found.rows.iter().filter_map(|pair| pair.now));
        shown = Shown::rows(shown.rows + of_window.rows, shown.clicks + of_window.clicks);
        matched += found.matched;
        found.rows.iter().map(|pair| pair.row(presence)).collect()
    };
    let movers = QueryMovers {
        new: listed(new, Pair::by_size, Presence::New),
        lost: listed(lost, Pair::by_size, Presence::Lost),
        unknown: listed(unknown, Pair::by_size, Presence::Unknown),
        moving: listed(both, Pair::by_move, Presence::Both),
    };
    (movers, page.said(shown, matched, current.capped, previous.capped))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        movers(
            Listing { rows: &now, capped: now_capped },
            Listing { rows: &before, capped: before_capped },
            10,
            &Page::first(9),
        )
        .0
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
