//! Counter-based randomness: every number is a pure function of its key, so numbers need neither an order nor storage.
//!
//! The mixing function is the finaliser of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
//! 2014).

/// The step between two states of splitmix64: 2^64 divided by the golden ratio, made odd.
pub(crate) const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// Scrambles `z` so that neighbouring inputs give unrelated outputs.
#[inline]
pub(crate) const fn mix(z: u64) -> u64 {
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The key of axis or index `k` below `key`.
#[inline]
pub(crate) const fn child(key: u64, k: u64) -> u64 {
    mix(key ^ mix(k.wrapping_add(STEP)))
}

/// The key of a name below `key`.
pub(crate) fn named(key: u64, name: &str) -> u64 {
    name.bytes().fold(key, |key, byte| child(key, u64::from(byte)))
}

/// A number in `[0, 1)` from an already mixed key.
#[inline]
pub(crate) fn unit(key: u64) -> f64 {
    (key >> 11) as f64 / (1u64 << 53) as f64
}

/// A standard normal number (Box and Muller's transform).
pub(crate) fn normal(key: u64) -> f64 {
    let radius = (-2.0 * unit(child(key, 1)).max(1e-12).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(child(key, 2))).cos()
}

/// A cheap, bounded approximation of [`normal`]: the scaled sum of four uniform numbers (mean 0, variance 1, within ±3.5).
#[inline]
pub(crate) fn bounded_normal(key: u64) -> f64 {
    let sum = (key & 0xFFFF) + (key >> 16 & 0xFFFF) + (key >> 32 & 0xFFFF) + (key >> 48);
    (sum as f64 / 65_536.0 - 2.0) * 3f64.sqrt()
}

/// A Poisson number: by inversion for means up to 40, by the normal approximation above.
#[inline]
pub(crate) fn poisson(mean: f64, key: u64) -> u32 {
    // The chance of at least one event is below the mean, so one comparison settles most keys of rare queries.
    let above = unit(key);
    if above >= mean {
        return 0;
    }
    if mean > 40.0 {
        return count(mean + mean.sqrt() * normal(key));
    }
    let target = 1.0 - above;
    let mut chance = (-mean).exp();
    let mut total = chance;
    let mut events = 0;
    while target > total && events < 400 {
        events += 1;
        chance *= mean / f64::from(events);
        total += chance;
    }
    events
}

/// `value` rounded to a count, never negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of one query on one day fit easily"
)]
pub(crate) fn count(value: f64) -> u32 {
    value.max(0.0).round() as u32
}

/// An index below `length` for a fraction in `[0, 1)`.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the fraction is within [0, 1)")]
pub(crate) fn index(fraction: f64, length: usize) -> usize {
    ((fraction * length as f64) as usize).min(length.saturating_sub(1))
}
