//! The order of the property list.

use std::cmp::{Ordering, Reverse};

use api::{
    params::{Metric, Sort, SortBy},
    properties::{Headline, TrackedProperty},
};
use common::names::sites;

use super::ListedProperty;

/// Sorts entries by a metric of their headlines. Those without the value come last, and equal ones keep their order.
pub fn by_metric(entries: &mut [TrackedProperty], sort: Sort) {
    let value = |entry: &TrackedProperty| entry.headline.as_ref().and_then(|headline| value(headline, sort));
    entries.sort_by(|a, b| match (value(a), value(b)) {
        (Some(a), Some(b)) => turned(a.total_cmp(&b), sort.descending),
        (a, b) => b.is_some().cmp(&a.is_some()),
    });
}

/// Sorts properties by name, favourites among the others.
pub fn by_name(listed: &mut [ListedProperty], descending: bool) {
    let name = |listed: &ListedProperty| sites::name(&listed.property.site_url);
    if descending { listed.sort_by_cached_key(|one| Reverse(name(one))) } else { listed.sort_by_cached_key(name) }
}

fn turned(ordering: Ordering, descending: bool) -> Ordering {
    if descending { ordering.reverse() } else { ordering }
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn value(headline: &Headline, sort: Sort) -> Option<f64> {
    let (current, change) = (&headline.current, headline.change.as_ref());
    match sort.by {
        SortBy::Metric(Metric::Clicks) => Some(current.clicks as f64),
        SortBy::Metric(Metric::Impressions) => Some(current.impressions as f64),
        SortBy::Metric(Metric::Ctr) => current.ctr,
        SortBy::Metric(Metric::Position) => current.position,
        SortBy::Change(Metric::Clicks) => change?.clicks.absolute.map(|change| change as f64),
        SortBy::Change(Metric::Impressions) => change?.impressions.absolute.map(|change| change as f64),
        SortBy::Change(Metric::Ctr) => change?.ctr.absolute,
        SortBy::Change(Metric::Position) => change?.position.absolute,
        SortBy::ChangePercent(Metric::Clicks) => change?.clicks.percent,
        SortBy::ChangePercent(Metric::Impressions) => change?.impressions.percent,
        SortBy::ChangePercent(Metric::Ctr | Metric::Position) => None,
    }
}
