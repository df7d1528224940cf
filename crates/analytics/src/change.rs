//! Metrics in the API's format, and the difference between two windows.
//!
//! Every difference is current minus previous. `percent = 100 × (current − previous) ÷ previous`, undefined for a baseline
//! of zero. CTR differs in fractions, position in ranks (negative is an improvement).

use api::{
    analytics::Totals,
    models::{AbsoluteChange, Change, CountChange, Metrics as ApiMetrics},
};
use common::metrics::Metrics;

/// A count in the API's format. Sums of counts are whole and never negative. Rounding only removes floating-point error.
#[must_use]
pub fn count(value: f64) -> u64 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "rounded and clamped to the range of u64"
    )]
    let whole = value.max(0.0).round() as u64;
    whole
}

/// The four metrics in the API's format.
#[must_use]
pub fn to_api(metrics: &Metrics) -> ApiMetrics {
    ApiMetrics {
        clicks: count(metrics.clicks),
        impressions: count(metrics.impressions),
        ctr: metrics.ctr(),
        position: metrics.position(),
    }
}

/// The metrics of a whole question, in the window and in the comparison window.
#[must_use]
pub fn totals(current: &Metrics, previous: Option<&Metrics>) -> Totals {
    let now = to_api(current);
    Totals {
        clicks: now.clicks,
        impressions: now.impressions,
        ctr: now.ctr,
        position: now.position,
        previous: previous.map(to_api),
        change: previous.map(|previous| change(current, previous)),
    }
}

/// Current minus previous.
#[must_use]
pub fn change(current: &Metrics, previous: &Metrics) -> Change {
    Change {
        clicks: count_change(current.clicks, previous.clicks),
        impressions: count_change(current.impressions, previous.impressions),
        ctr: difference(current.ctr(), previous.ctr()),
        position: difference(current.position(), previous.position()),
    }
}

/// Current minus previous, for a count.
#[must_use]
pub fn count_change(current: f64, previous: f64) -> CountChange {
    let absolute = current - previous;
    #[expect(clippy::cast_possible_truncation, reason = "counts are far below 2^52")]
    let whole = absolute.round() as i64;
    CountChange { absolute: Some(whole), percent: (previous > 0.0).then(|| 100.0 * absolute / previous) }
}

fn difference(current: Option<f64>, previous: Option<f64>) -> AbsoluteChange {
    AbsoluteChange { absolute: current.zip(previous).map(|(a, b)| a - b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_over_a_zero_baseline_is_undefined() {
        let change = change(&Metrics::of_row(3.0, 10.0, Some(2.0)), &Metrics::zero());
        assert_eq!(change.clicks, CountChange { absolute: Some(3), percent: None });
        assert_eq!(change.ctr.absolute, None);
        assert_eq!(change.position.absolute, None);
    }

    #[test]
    fn every_difference_is_current_minus_previous() {
        let change = change(&Metrics::of_row(5.0, 100.0, Some(3.0)), &Metrics::of_row(10.0, 50.0, Some(4.0)));
        assert_eq!(change.clicks, CountChange { absolute: Some(-5), percent: Some(-50.0) });
        assert_eq!(change.impressions, CountChange { absolute: Some(50), percent: Some(100.0) });
        assert_eq!(change.position.absolute, Some(-1.0));
        assert!((change.ctr.absolute.unwrap() + 0.15).abs() < 1e-12);
    }
}
