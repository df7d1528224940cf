//! The expected CTR of a position.
//!
//! The published curve is an average of CTR studies for positions 1 to 10, linear from there to 0.5 % at 20, and 0 beyond.
//! Such studies disagree by a factor of two at position 1, so a property with enough data is compared with its own curve: by
//! rounded position `Σ clicks ÷ Σ impressions` of its non-branded queries (brand terms are clicked far more at every
//! position). A position qualifies with 100 impressions, and the property's curve is used if at least five of the positions
//! 1 to 10 qualify.

use api::analytics::{CtrCurve, CurvePoint, CurveSource, PositionCtr};
use common::metrics::Metrics;

use super::change::count;

/// The number of positions of a curve.
const POSITIONS: usize = 20;

/// The number of positions on page one.
const PAGE_ONE: usize = 10;

/// The published CTRs of page one.
const PUBLISHED: [f64; PAGE_ONE] = [0.27, 0.15, 0.10, 0.07, 0.05, 0.035, 0.025, 0.02, 0.015, 0.012];

/// The published CTR of position 20.
const LAST: f64 = 0.005;

/// The minimum impressions of a position to use its own CTR.
const MIN_IMPRESSIONS: f64 = 100.0;

/// The minimum number of qualifying positions on page one.
const MIN_POSITIONS: usize = 5;

/// A CTR for every position.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    source: CurveSource,
    points: [(f64, CurveSource); POSITIONS],
}

impl Curve {
    /// The published curve.
    #[must_use]
    pub fn published() -> Self {
        let tail = |index: usize| {
            let steps = (index + 1 - PAGE_ONE) as f64 / (POSITIONS - PAGE_ONE) as f64;
            PUBLISHED[PAGE_ONE - 1] + (LAST - PUBLISHED[PAGE_ONE - 1]) * steps
        };
        let point = |index: usize| PUBLISHED.get(index).copied().unwrap_or_else(|| tail(index));
        Self { source: CurveSource::Static, points: std::array::from_fn(|index| (point(index), CurveSource::Static)) }
    }

    /// The curve of these non-branded queries if there is enough data, otherwise the published one. It is linear between two
    /// qualifying positions. Before the first and after the last it follows the published one.
    pub fn of<'m>(queries: impl IntoIterator<Item = &'m Metrics>) -> Self {
        let own: Vec<(usize, f64)> = samples(queries)
            .iter()
            .enumerate()
            .filter(|(_, sample)| sample.sum.impressions >= MIN_IMPRESSIONS)
            .filter_map(|(index, sample)| Some((index, sample.sum.ctr()?)))
            .collect();
        let mut curve = Self::published();
        if own.iter().filter(|(index, _)| *index < PAGE_ONE).count() < MIN_POSITIONS {
            return curve;
        }
        curve.source = CurveSource::Own;
        for pair in own.windows(2) {
            let ((from, low), (to, high)) = (pair[0], pair[1]);
            for index in from..=to {
                let part = (index - from) as f64 / (to - from) as f64;
                curve.points[index] = (low + (high - low) * part, CurveSource::Own);
            }
        }
        curve
    }

    /// The expected CTR at an average position: linear between whole positions, 0 beyond the last.
    #[must_use]
    pub fn at(&self, position: f64) -> f64 {
        let place = position.max(1.0) - 1.0;
        if place > (POSITIONS - 1) as f64 {
            return 0.0;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 19")]
        let index = place.floor() as usize;
        let (low, high) = (self.points[index].0, self.points.get(index + 1).map_or(0.0, |point| point.0));
        low + (high - low) * (place - index as f64)
    }

    /// The source of the curve.
    #[must_use]
    pub fn source(&self) -> CurveSource {
        self.source
    }

    /// The curve in the API's format.
    #[must_use]
    pub fn to_api(&self) -> CtrCurve {
        let points = (1..).zip(&self.points);
        CtrCurve {
            source: self.source,
            points: points
                .map(|(position, (ctr, source))| CurvePoint { position, ctr: *ctr, source: *source })
                .collect(),
        }
    }
}

/// The queries at a whole position.
#[derive(Clone, Copy)]
struct Sample {
    queries: u64,
    sum: Metrics,
}

/// Returns the queries at each position.
fn samples<'m>(queries: impl IntoIterator<Item = &'m Metrics>) -> [Sample; POSITIONS] {
    let mut samples = [Sample { queries: 0, sum: Metrics::zero() }; POSITIONS];
    for query in queries {
        if let Some(index) = query.position().and_then(rounded) {
            samples[index].queries += 1;
            samples[index].sum += *query;
        }
    }
    samples
}

/// Returns the CTR of these queries by their rounded position, from 1 to 20, with the size of each sample.
pub fn by_position<'m>(queries: impl IntoIterator<Item = &'m Metrics>) -> Vec<PositionCtr> {
    let position = |(position, Sample { queries, sum }): (u32, Sample)| PositionCtr {
        position,
        queries,
        clicks: count(sum.clicks),
        impressions: count(sum.impressions),
        ctr: sum.ctr(),
    };
    (1..).zip(samples(queries)).map(position).collect()
}

/// The index of the nearest whole position. Halves round up to the larger position.
fn rounded(position: f64) -> Option<usize> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions are at least 1")]
    let whole = (position + 0.5).floor().max(1.0) as usize;
    (whole <= POSITIONS).then_some(whole - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn query(position: f64, impressions: f64, ctr: f64) -> Metrics {
        Metrics::of_row(impressions * ctr, impressions, Some(position))
    }

    #[test]
    fn each_position_has_its_queries_and_their_ctr() {
        let queries = [query(1.2, 100.0, 0.3), query(0.9, 50.0, 0.0), query(2.5, 10.0, 0.5), query(21.0, 9.0, 0.0)];
        let found = by_position(&queries);
        let of = |position: usize| {
            let row = &found[position - 1];
            (row.queries, row.clicks, row.impressions, row.ctr)
        };
        assert_eq!((found.len(), found[0].position, found[19].position), (20, 1, 20));
        assert_eq!(of(1), (2, 30, 150, Some(0.2)));
        assert_eq!((of(2), of(3)), ((0, 0, 0, None), (1, 5, 10, Some(0.5))), "halves round up");
        assert_eq!(found.iter().map(|row| row.queries).sum::<u64>(), 3, "positions beyond 20 are left out");
    }

    #[test]
    fn the_published_curve_is_linear_between_its_points_and_ends_at_20() {
        let curve = Curve::published();
        for (position, ctr) in [
            (1.0, 0.27),
            (1.5, 0.21),
            (3.0, 0.10),
            (10.0, 0.012),
            (15.0, 0.0085),
            (19.5, 0.00535),
            (20.0, 0.005),
            (20.0001, 0.0),
            (90.0, 0.0),
        ] {
            assert!((curve.at(position) - ctr).abs() < 1e-12, "{position}: {}", curve.at(position));
        }
    }

    #[test]
    fn five_positions_of_page_one_make_a_curve_of_its_own() {
        let four: Vec<Metrics> = [1.0, 2.0, 3.4, 9.6, 15.0].map(|p| query(p, 100.0, 0.2)).into();
        assert_eq!(Curve::of(&four).source(), CurveSource::Static, "9.6 is position 10, 15 is not page one");
        let five: Vec<Metrics> = [1.0, 2.0, 3.4, 6.0, 9.6].map(|p| query(p, 100.0, 0.2)).into();
        assert_eq!(Curve::of(&five).source(), CurveSource::Own);
        let thin: Vec<Metrics> = [1.0, 2.0, 3.4, 6.0, 9.6].map(|p| query(p, 99.0, 0.2)).into();
        assert_eq!(Curve::of(&thin).source(), CurveSource::Static, "99 impressions are not enough");
    }

    #[test]
    fn gaps_are_linear_and_the_ends_are_published() {
        let ctrs = [(2.0, 0.4), (3.0, 0.3), (5.0, 0.1), (6.0, 0.08), (8.0, 0.04)];
        let rows: Vec<Metrics> = ctrs.map(|(p, ctr)| query(p, 1_000.0, ctr)).into();
        let (own, published) = (Curve::of(&rows), Curve::published());
        for (position, ctr) in [(2.0, 0.4), (4.0, 0.2), (7.0, 0.06), (7.5, 0.05), (8.0, 0.04)] {
            assert!((own.at(position) - ctr).abs() < 1e-12, "{position}");
        }
        for position in [1.0, 9.0, 10.0, 18.0] {
            assert!((own.at(position) - published.at(position)).abs() < 1e-12, "{position}");
        }
        let sources: Vec<CurveSource> = own.to_api().points.iter().map(|point| point.source).collect();
        assert!(sources[1..8].iter().all(|source| *source == CurveSource::Own));
        assert_eq!((sources[0], sources[8]), (CurveSource::Static, CurveSource::Static));
    }

    proptest! {
        #[test]
        fn every_expectation_is_a_share(rows in prop::collection::vec((1.0_f64..30.0, 1.0_f64..900.0, 0.0_f64..1.0), 0..80), at in 0.0_f64..40.0) {
            let rows: Vec<Metrics> = rows.into_iter().map(|(p, i, c)| query(p, i, c)).collect();
            prop_assert!((0.0..=1.0).contains(&Curve::of(&rows).at(at)));
        }
    }
}
