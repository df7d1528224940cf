//! The CTR curve and the position buckets, computed directly from their definitions.

use super::checks::position;
use crate::{
    analytics::case::{Case, Rows, Window},
    support::oracle::Sum,
};

/// Published averages at positions 1 to 20.
pub fn published() -> Vec<f64> {
    let page_one = [0.27, 0.15, 0.10, 0.07, 0.05, 0.035, 0.025, 0.02, 0.015, 0.012];
    let beyond = (1..=10u8).map(|step| 0.012 + (0.005 - 0.012) * f64::from(step) / 10.0);
    page_one.into_iter().chain(beyond).collect()
}

/// A curve: the CTR at positions 1 to 20, and its source.
pub struct Curve {
    pub own: bool,
    pub points: Vec<(f64, bool)>,
}

impl Curve {
    pub fn published() -> Self {
        Self { own: false, points: published().into_iter().map(|ctr| (ctr, false)).collect() }
    }

    /// The curve of the case's property, from its rows of this window, independent of the selected queries.
    pub fn of(case: &Case) -> Self {
        Self::over(case, &[case.counted()])
    }

    /// The same curve from the rows of several windows.
    pub fn over(case: &Case, windows: &[Window]) -> Self {
        let all = case.without_query_conditions();
        let rows = windows.iter().flat_map(|window| all.table("queries", *window));
        let rows: Vec<Sum> =
            rows.filter(|(query, _)| !case.keywords || !case.is_branded(query)).map(|(_, sum)| sum).collect();
        let qualifying = qualifying(&rows);
        if qualifying.iter().take(10).flatten().count() < 5 {
            return Self::published();
        }
        let points = published().into_iter().enumerate().map(|(index, published)| {
            let before = (0..=index).rev().find_map(|at| qualifying[at].map(|ctr| (at, ctr)));
            let after = (index..20).find_map(|at| qualifying[at].map(|ctr| (at, ctr)));
            match (before, after) {
                (Some((from, ctr)), Some((to, _))) if from == to => (ctr, true),
                (Some((from, low)), Some((to, high))) => {
                    (low + (high - low) * (index - from) as f64 / (to - from) as f64, true)
                }
                _ => (published, false),
            }
        });
        Self { own: true, points: points.collect() }
    }

    /// The expected CTR at a position.
    pub fn at(&self, position: f64) -> f64 {
        assert!(position >= 1.0);
        for whole in 1..=20usize {
            let below = position - whole as f64;
            if below == 0.0 {
                return self.points[whole - 1].0;
            }
            if whole < 20 && (0.0..1.0).contains(&below) {
                let (low, high) = (self.points[whole - 1].0, self.points[whole].0);
                return low + (high - low) * below;
            }
        }
        0.0
    }

    pub fn name(&self) -> &'static str {
        if self.own { "own" } else { "static" }
    }
}

/// The CTR of each rank with enough impressions.
fn qualifying(rows: &[Sum]) -> Vec<Option<f64>> {
    let mut ranks = vec![Sum::default(); 20];
    for sum in rows {
        // Rounds half up, in whole numbers: the average is positions ÷ impressions.
        let rank = usize::try_from((2 * sum.positions + sum.impressions) / (2 * sum.impressions)).unwrap();
        if (1..=20).contains(&rank) {
            ranks[rank - 1] = ranks[rank - 1].plus(*sum);
        }
    }
    let ctr = |sum: &Sum| (sum.impressions >= 100).then(|| sum.clicks as f64 / sum.impressions as f64);
    ranks.iter().map(ctr).collect()
}

/// `100 × Σ(impressions × C(position)) ÷ Σ(impressions × C(1))`.
pub fn visibility(rows: &Rows) -> Option<f64> {
    let curve = Curve::published();
    let impressions: u64 = rows.values().map(|sum| sum.impressions).sum();
    let seen: f64 = rows.values().map(|sum| sum.impressions as f64 * curve.at(position(*sum).unwrap())).sum();
    (impressions > 0).then(|| 100.0 * seen / (impressions as f64 * 0.27))
}

pub const BUCKETS: [&str; 4] = ["1-3", "4-10", "11-20", "21+"];

/// The bucket of a row, by its raw average position.
pub fn bucket(sum: &Sum) -> &'static str {
    match (sum.positions, sum.impressions) {
        (positions, impressions) if positions <= 3 * impressions => "1-3",
        (positions, impressions) if positions <= 10 * impressions => "4-10",
        (positions, impressions) if positions <= 20 * impressions => "11-20",
        _ => "21+",
    }
}

/// Queries, clicks and impressions of each bucket.
pub fn buckets(rows: &Rows) -> Vec<(&'static str, u64, Sum)> {
    let tally = |name: &'static str| {
        let inside = rows.values().filter(|sum| bucket(sum) == name);
        inside.fold((name, 0, Sum::default()), |(name, queries, sum), row| (name, queries + 1, sum.plus(*row)))
    };
    BUCKETS.map(tally).to_vec()
}
