//! Queries by position: buckets, their sums, and the visibility index.
//!
//! Buckets apply to the raw impression-weighted average, never to a rounded one: (0,3], (3,10], (10,20], (20,∞). The bounds
//! are the ones that rank trackers use for position distributions.
//!
//! `index = 100 × Σ(impressions × C(position)) ÷ Σ(impressions × C(1))`, where C is the published CTR curve
//! ([`Curve::published`]). Rank trackers define visibility as the sum of CTR at the rank × search volume, divided by the
//! same sum at rank 1. This index uses impressions instead of volume.

use std::sync::LazyLock;

use api::analytics::{BucketCount, BucketRow, BucketTally, PositionBucket};
use common::metrics::Metrics;

use super::{change::count, ctr_curve::Curve};

/// The bucket of an average position.
#[must_use]
pub fn bucket(position: f64) -> PositionBucket {
    match position {
        p if p <= 3.0 => PositionBucket::Top3,
        p if p <= 10.0 => PositionBucket::Top10,
        p if p <= 20.0 => PositionBucket::Top20,
        _ => PositionBucket::Beyond,
    }
}

/// The sums of the queries in one bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct Sum {
    queries: u64,
    clicks: f64,
    impressions: f64,
}

/// Queries by bucket. Each query is added once. A query without a position is in no bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Distribution {
    sums: [Sum; 4],
    expected: f64,
}

impl Distribution {
    /// The distribution of these queries.
    pub fn of<'m>(queries: impl IntoIterator<Item = &'m Metrics>) -> Self {
        let mut found = Self::default();
        for query in queries {
            found.add(query);
        }
        found
    }

    /// Counts a query.
    pub fn add(&mut self, query: &Metrics) {
        static PUBLISHED: LazyLock<Curve> = LazyLock::new(Curve::published);
        let Some(position) = query.position() else { return };
        let sum = &mut self.sums[bucket(position) as usize];
        sum.queries += 1;
        sum.clicks += query.clicks;
        sum.impressions += query.impressions;
        self.expected += query.impressions * PUBLISHED.at(position) / PUBLISHED.at(1.0);
    }

    /// The number of queries in all buckets.
    #[must_use]
    pub fn queries(&self) -> u64 {
        self.sums.iter().map(|sum| sum.queries).sum()
    }

    /// The visibility index, 0 to 100. Undefined without impressions.
    #[must_use]
    pub fn index(&self) -> Option<f64> {
        let impressions: f64 = self.sums.iter().map(|sum| sum.impressions).sum();
        (impressions > 0.0).then(|| (100.0 * self.expected / impressions).min(100.0))
    }

    /// The number of queries in each bucket.
    #[must_use]
    pub fn counts(&self) -> Vec<BucketCount> {
        self.buckets().map(|(bucket, sum)| BucketCount { bucket, queries: sum.queries }).collect()
    }

    /// The sums of each bucket.
    #[must_use]
    pub fn tallies(&self) -> Vec<BucketTally> {
        let tally = |(bucket, sum): (PositionBucket, Sum)| BucketTally {
            bucket,
            queries: sum.queries,
            clicks: count(sum.clicks),
            impressions: count(sum.impressions),
        };
        self.buckets().map(tally).collect()
    }

    /// The sums of each bucket, and its share of all buckets.
    #[must_use]
    pub fn rows(&self) -> Vec<BucketRow> {
        let share = |of: fn(&Sum) -> f64, sum: &Sum| {
            let whole: f64 = self.sums.iter().map(of).sum();
            (whole > 0.0).then(|| of(sum) / whole)
        };
        let row = |(bucket, sum): (PositionBucket, Sum)| BucketRow {
            bucket,
            queries: sum.queries,
            clicks: count(sum.clicks),
            impressions: count(sum.impressions),
            queries_share: share(|sum| sum.queries as f64, &sum),
            clicks_share: share(|sum| sum.clicks, &sum),
            impressions_share: share(|sum| sum.impressions, &sum),
        };
        self.buckets().map(row).collect()
    }

    fn buckets(&self) -> impl Iterator<Item = (PositionBucket, Sum)> {
        PositionBucket::ALL.into_iter().zip(self.sums)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn bounds_belong_to_the_better_bucket_and_are_not_rounded() {
        use PositionBucket::{Beyond, Top3, Top10, Top20};
        let table = [
            (1.0, Top3),
            (3.0, Top3),
            (3.0001, Top10),
            (3.4, Top10),
            (10.0, Top10),
            (10.0001, Top20),
            (20.0, Top20),
            (20.0001, Beyond),
            (400.0, Beyond),
        ];
        for (position, expected) in table {
            assert_eq!(bucket(position), expected, "{position}");
        }
    }

    #[test]
    fn visibility_is_100_where_everything_ranks_first_and_0_beyond_20() {
        let at = |position| Distribution::of(&[Metrics::of_row(0.0, 50.0, Some(position))]).index().unwrap();
        assert!((at(1.0) - 100.0).abs() < 1e-9);
        assert!((at(2.0) - 100.0 * 0.15 / 0.27).abs() < 1e-9);
        assert!(at(20.5).abs() < f64::EPSILON);
        assert_eq!(Distribution::default().index(), None);
    }

    fn queries() -> impl Strategy<Value = Vec<Metrics>> {
        let query = (0_u32..50, 1_u32..5_000, 1.0_f64..80.0);
        let of = |(clicks, impressions, position): (u32, u32, f64)| {
            Metrics::of_row(f64::from(clicks.min(impressions)), f64::from(impressions), Some(position))
        };
        prop::collection::vec(query.prop_map(of), 0..60)
    }

    proptest! {
        #[test]
        fn buckets_partition_the_queries(queries in queries()) {
            let rows = Distribution::of(&queries).rows();
            let whole: Metrics = queries.iter().copied().sum();
            prop_assert_eq!(rows.iter().map(|row| row.queries).sum::<u64>(), queries.len() as u64);
            prop_assert_eq!(rows.iter().map(|row| row.clicks).sum::<u64>(), count(whole.clicks));
            prop_assert_eq!(rows.iter().map(|row| row.impressions).sum::<u64>(), count(whole.impressions));
            if !queries.is_empty() {
                let shares: f64 = rows.iter().filter_map(|row| row.queries_share).sum();
                prop_assert!((shares - 1.0).abs() < 1e-9);
            }
        }

        #[test]
        fn the_index_is_between_0_and_100(queries in queries()) {
            let index = Distribution::of(&queries).index();
            prop_assert_eq!(index.is_some(), !queries.is_empty());
            prop_assert!(index.is_none_or(|index| (0.0..=100.0).contains(&index)));
        }
    }
}
