//! Queries within striking distance: the possible gain from a better position or a better snippet.
//!
//! Only queries in the band of positions with enough impressions are considered. A query is a `rank` opportunity if its
//! position is worse than the target and `gain = impressions × max(0, C(target) − ctr)` is above 0. It is a `snippet`
//! opportunity if it is on page one and `gain = impressions × (C(position) − ctr)` is above 0. C is the property's own CTR
//! curve or the published one. The gain is a heuristic for sorting: it assumes that impressions stay the same and that the
//! query gets an average CTR.

use std::{
    cmp::Ordering,
    collections::{HashMap, HashSet},
};

use api::analytics::{GrowthThresholds, OpportunityKind};
use common::metrics::Metrics;

use super::ctr_curve::Curve;

/// An opportunity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Opportunity<'r> {
    /// The query.
    pub query: &'r str,
    /// Its metrics.
    pub metrics: Metrics,
    /// The kind of gain.
    pub kind: OpportunityKind,
    /// The CTR that the curve predicts.
    pub expected_ctr: f64,
    /// The additional clicks at that CTR.
    pub gain: f64,
}

/// The opportunities among `queries`, by gain descending, then by query and kind.
pub fn opportunities<'r>(
    queries: impl IntoIterator<Item = (&'r str, Metrics)>,
    curve: &Curve,
    thresholds: &GrowthThresholds,
    only: Option<OpportunityKind>,
) -> Vec<Opportunity<'r>> {
    let kinds =
        [OpportunityKind::Rank, OpportunityKind::Snippet].into_iter().filter(|kind| only.is_none_or(|o| o == *kind));
    let kinds: Vec<OpportunityKind> = kinds.collect();
    let mut found: Vec<Opportunity<'r>> = queries
        .into_iter()
        .flat_map(|(query, metrics)| {
            kinds.iter().filter_map(move |kind| opportunity(query, metrics, *kind, curve, thresholds))
        })
        .collect();
    found.sort_unstable_by(Opportunity::by_gain);
    found
}

impl Opportunity<'_> {
    /// By gain descending, then by query and kind.
    #[must_use]
    pub fn by_gain(&self, other: &Self) -> Ordering {
        let by_gain = other.gain.total_cmp(&self.gain);
        by_gain.then_with(|| self.query.cmp(other.query)).then_with(|| self.kind.cmp(&other.kind))
    }
}

fn opportunity<'r>(
    query: &'r str,
    metrics: Metrics,
    kind: OpportunityKind,
    curve: &Curve,
    thresholds: &GrowthThresholds,
) -> Option<Opportunity<'r>> {
    let (position, ctr) = (metrics.position()?, metrics.ctr()?);
    let in_band = (thresholds.min_position..=thresholds.max_position).contains(&position);
    if !in_band || metrics.impressions < thresholds.min_impressions as f64 {
        return None;
    }
    let target = thresholds.target_position as f64;
    let expected_ctr = match kind {
        OpportunityKind::Rank => (position > target).then(|| curve.at(target))?,
        OpportunityKind::Snippet => (position <= thresholds.page_one_position as f64).then(|| curve.at(position))?,
    };
    let gain = metrics.impressions * (expected_ctr - ctr);
    (gain > 0.0).then_some(Opportunity { query, metrics, kind, expected_ctr, gain })
}

/// For each query found, the page (query, URL, metrics) with the most impressions, then the most clicks, then the first URL.
pub fn best_pages<'r>(
    pages: impl IntoIterator<Item = (&'r str, &'r str, &'r Metrics)>,
    found: &[Opportunity<'_>],
) -> HashMap<&'r str, &'r str> {
    let wanted: HashSet<&str> = found.iter().map(|opportunity| opportunity.query).collect();
    let mut best: HashMap<&str, (&str, &Metrics)> = HashMap::new();
    for (query, url, own) in pages.into_iter().filter(|(query, ..)| wanted.contains(query)) {
        let better = best.get(query).is_none_or(|(other, theirs)| {
            let by_size = own.impressions.total_cmp(&theirs.impressions).then(own.clicks.total_cmp(&theirs.clicks));
            by_size.then_with(|| other.cmp(&url)).is_gt()
        });
        if better {
            best.insert(query, (url, own));
        }
    }
    best.into_iter().map(|(query, (url, _))| (query, url)).collect()
}

#[cfg(test)]
mod tests {
    use OpportunityKind::{Rank, Snippet};
    use api::analytics::CurveSource;

    use super::*;

    const DEFAULTS: GrowthThresholds = GrowthThresholds {
        min_position: 4.0,
        max_position: 20.0,
        min_impressions: 100,
        target_position: 3,
        page_one_position: 10,
        curve: CurveSource::Static,
        branded_excluded: true,
    };

    fn kinds(clicks: f64, impressions: f64, position: f64) -> Vec<(OpportunityKind, f64)> {
        let row = [("shoes", Metrics::of_row(clicks, impressions, Some(position)))];
        let found = opportunities(row, &Curve::published(), &DEFAULTS, None);
        found.iter().map(|opportunity| (opportunity.kind, opportunity.gain)).collect()
    }

    #[test]
    fn the_band_includes_its_bounds() {
        let kinds = |position| kinds(0.0, 100.0, position).into_iter().map(|(kind, _)| kind).collect::<Vec<_>>();
        assert_eq!(kinds(3.9999), []);
        assert_eq!(kinds(4.0), [Rank, Snippet]);
        assert_eq!(kinds(10.0), [Rank, Snippet]);
        assert_eq!(kinds(10.0001), [Rank]);
        assert_eq!(kinds(20.0), [Rank]);
        assert_eq!(kinds(20.0001), []);
    }

    #[test]
    fn gains_are_what_the_curve_expects_less_what_came() {
        let found = kinds(4.0, 200.0, 5.0);
        assert!((found[0].1 - 200.0 * (0.10 - 0.02)).abs() < 1e-9);
        assert!((found[1].1 - 200.0 * (0.05 - 0.02)).abs() < 1e-9);
        assert!(kinds(40.0, 200.0, 5.0).is_empty(), "clicked more than expected even at the target");
        assert!(kinds(0.0, 99.0, 5.0).is_empty(), "too few impressions");
    }

    #[test]
    fn the_page_of_a_query_has_the_most_impressions() {
        let row = |clicks, impressions| Metrics::of_row(clicks, impressions, Some(8.0));
        let found = opportunities([("shoes", row(0.0, 500.0))], &Curve::published(), &DEFAULTS, None);
        let (small, large, clicked) = (row(9.0, 10.0), row(1.0, 90.0), row(2.0, 90.0));
        let pages =
            [("shoes", "/a", &small), ("shoes", "/d", &clicked), ("shoes", "/b", &large), ("shoes", "/c", &clicked)];
        assert_eq!(best_pages(pages, &found), HashMap::from([("shoes", "/c")]));
        assert!(best_pages([("boots", "/a", &small)], &found).is_empty());
    }

    #[test]
    fn the_largest_gain_comes_first_then_the_query_then_rank() {
        let row = |impressions| Metrics::of_row(0.0, impressions, Some(4.0));
        let rows = [("b", row(100.0)), ("a", row(100.0)), ("c", row(500.0))];
        let found = opportunities(rows, &Curve::published(), &DEFAULTS, None);
        let order: Vec<_> = found.iter().map(|o| (o.query, o.kind)).collect();
        assert_eq!(order, [("c", Rank), ("c", Snippet), ("a", Rank), ("b", Rank), ("a", Snippet), ("b", Snippet)]);
        let only = opportunities(rows, &Curve::published(), &DEFAULTS, Some(Snippet));
        assert!(only.len() == 3 && only.iter().all(|o| o.kind == Snippet));
    }
}
