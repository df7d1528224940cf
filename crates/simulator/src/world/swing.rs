//! Changes in the level of a site's traffic, after which it stays for months: some sites lose much, some gain.

use super::rng::{bounded_normal, child, unit};

/// Days from one change to the next.
const LENGTH: u32 = 70;

/// Days that a change takes.
const RAMP: u32 = 14;

/// The level of the site with `key` on day number `day`. The usual level is about 1.
pub(super) fn swing(key: u64, day: i32) -> f64 {
    let shifted = day.unsigned_abs() + u32::try_from(key % u64::from(LENGTH)).unwrap_or_default();
    let (period, age) = (shifted / LENGTH, shifted % LENGTH);
    let now = level(key, period);
    if age >= RAMP {
        return now;
    }
    let before = level(key, period.saturating_sub(1));
    before + (now - before) * f64::from(age + 1) / f64::from(RAMP)
}

fn level(key: u64, period: u32) -> f64 {
    let key = child(key, period.into());
    match unit(key) {
        u if u < 0.12 => 0.2 + 0.25 * unit(child(key, 1)),
        u if u < 0.24 => 1.8 + 1.2 * unit(child(key, 1)),
        _ => (0.08 * bounded_normal(child(key, 1))).exp(),
    }
}
