//! Clicks, impressions and position, and the only code that adds them.
//!
//! `ctr = Σ clicks / Σ impressions`; `position = Σ (position × impressions) / Σ impressions`. Without impressions both are
//! undefined (`None`), never 0. CTRs and positions are never averaged, because the search engine's help pages on aggregation
//! define both as ratios of sums.
//!
//! Clicks, impressions and the sum of positions are whole numbers, so that sums are exact in any order. The sum of a
//! window's days equals, to the last bit, the search engine's own total for the window.

use std::ops::{Add, AddAssign, Mul, Sub};

/// A generous upper bound of the relative error from a division, a multiplication and decimal formatting.
const NOISE: f64 = 1e-13;

/// Additive measures of a set of disjoint rows with one aggregation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Metrics {
    /// Clicks, a count.
    pub clicks: f64,
    /// Impressions, a count.
    pub impressions: f64,
    /// Σ position × impressions. Positions start at 1. `None` if the search engine gives no position (discover, googleNews).
    pub weighted_position: Option<f64>,
}

impl Metrics {
    /// The metrics of one upstream row, in which `position` is an impression-weighted average.
    #[must_use]
    pub fn of_row(clicks: f64, impressions: f64, position: Option<f64>) -> Self {
        Self { clicks, impressions, weighted_position: position.map(|p| without_noise(p * impressions)) }
    }

    /// Returns whether every measure is a whole number, so that sums are exact.
    #[must_use]
    pub fn are_whole(&self) -> bool {
        let measures = [self.clicks, self.impressions, self.weighted_position.unwrap_or_default()];
        measures.iter().all(|measure| measure.fract() == 0.0)
    }

    /// The neutral element of addition.
    #[must_use]
    pub fn zero() -> Self {
        Self { clicks: 0.0, impressions: 0.0, weighted_position: Some(0.0) }
    }

    /// Clicks ÷ impressions, 0..1.
    #[must_use]
    pub fn ctr(&self) -> Option<f64> {
        (self.impressions > 0.0).then(|| self.clicks / self.impressions)
    }

    /// Impression-weighted average position, at least 1. The limit removes floating-point error after a subtraction.
    #[must_use]
    pub fn position(&self) -> Option<f64> {
        self.weighted_position.filter(|_| self.impressions > 0.0).map(|sum| (sum / self.impressions).max(1.0))
    }
}

/// The sum of positions from their average. An impression's position is a whole number (the search engine's bulk export has
/// the sum as an integer), so only the division and the multiplication make it a fraction. Averages that were rounded
/// upstream are kept as they are.
fn without_noise(sum: f64) -> f64 {
    let whole = sum.round();
    if (sum - whole).abs() <= NOISE * whole { whole } else { sum }
}

impl Add for Metrics {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            clicks: self.clicks + other.clicks,
            impressions: self.impressions + other.impressions,
            weighted_position: self.weighted_position.zip(other.weighted_position).map(|(a, b)| a + b),
        }
    }
}

impl AddAssign for Metrics {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Metrics {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        self + other * -1.0
    }
}

/// Scales every measure. Inclusion-exclusion over filter terms multiplies by +1 or −1.
impl Mul<f64> for Metrics {
    type Output = Self;

    fn mul(self, factor: f64) -> Self {
        Self {
            clicks: self.clicks * factor,
            impressions: self.impressions * factor,
            weighted_position: self.weighted_position.map(|sum| sum * factor),
        }
    }
}

impl std::iter::Sum for Metrics {
    fn sum<I: Iterator<Item = Self>>(rows: I) -> Self {
        rows.fold(Self::zero(), Add::add)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rows() -> impl Strategy<Value = Metrics> {
        let row = (0_u32..1_000, 0_u32..1_000, 1_u32..100);
        row.prop_map(|(clicks, more, position)| {
            Metrics::of_row(f64::from(clicks), f64::from(clicks + more), Some(f64::from(position)))
        })
    }

    proptest! {
        #[test]
        fn merging_is_associative_and_commutative(a in rows(), b in rows(), c in rows()) {
            prop_assert_eq!((a + b) + c, a + (b + c));
            prop_assert_eq!(a + b, b + a);
            prop_assert_eq!(a + Metrics::zero(), a);
            prop_assert_eq!((a + b) - b, a);
        }

        #[test]
        fn position_is_never_below_1_and_undefined_without_impressions(a in rows(), b in rows()) {
            let merged = a + b;
            prop_assert_eq!(merged.position().is_some(), merged.impressions > 0.0);
            prop_assert!(merged.position().is_none_or(|position| position >= 1.0));
            prop_assert!(merged.ctr().is_none_or(|ctr| (0.0..=1.0).contains(&ctr)));
        }
    }

    proptest! {
        #[test]
        fn sums_of_days_are_the_whole_to_the_last_bit(days in prop::collection::vec((1_u32..1_000_000, 0_u32..100_000_000), 1..40)) {
            // Days with this many impressions, at positions of at least 1.
            let days: Vec<(f64, f64)> =
                days.into_iter().map(|(seen, more)| (f64::from(seen), f64::from(seen) + f64::from(more))).collect();
            let (seen, positions) = days.iter().fold((0.0, 0.0), |(a, b), (seen, positions)| (a + seen, b + positions));
            let row = |(seen, positions): &(f64, f64)| Metrics::of_row(0.0, *seen, Some(positions / seen));
            let (sum, whole) = (days.iter().map(row).sum::<Metrics>(), row(&(seen, positions)));
            prop_assert!(sum.are_whole());
            prop_assert_eq!(sum, whole);
            prop_assert_eq!(sum.position(), Some(positions / seen));
        }
    }

    #[test]
    fn an_average_that_was_rounded_upstream_is_kept() {
        let rounded = Metrics::of_row(1.0, 3.0, Some(10.1));
        assert!(!rounded.are_whole());
        assert_eq!(rounded.position(), Some(10.1 * 3.0 / 3.0));
        assert!(!Metrics { clicks: 0.5, ..Metrics::zero() }.are_whole());
        assert!(Metrics::of_row(1.0, 10.0, None).are_whole());
    }

    #[test]
    fn what_has_no_position_leaves_the_sum_without_one() {
        let feed = Metrics::of_row(1.0, 10.0, None);
        assert_eq!((feed + Metrics::of_row(1.0, 10.0, Some(2.0))).position(), None);
        assert_eq!(Metrics::zero().position(), None);
    }
}
