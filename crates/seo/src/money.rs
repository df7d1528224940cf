//! Exact amounts. Providers write money as JSON numbers; it is never added as a floating-point number.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Digits after the point that are kept.
const PLACES: usize = 6;

/// Millionths of a US dollar, or of a provider's unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Hash, Serialize, Deserialize)]
pub struct Amount(pub i64);

impl Amount {
    /// Nothing.
    pub const ZERO: Self = Self(0);

    /// The amount of a JSON number, or of a number in a JSON string, rounded to millionths.
    #[must_use]
    pub fn of(value: &Value) -> Option<Self> {
        Self::parse(&text(value)?, PLACES)
    }

    /// The amount of a JSON number that counts hundredths, such as cents.
    #[must_use]
    pub fn of_hundredths(value: &Value) -> Option<Self> {
        Self::parse(&text(value)?, PLACES - 2)
    }

    /// The decimal number `text` times ten to the power of `places`, rounded half away from zero.
    fn parse(text: &str, places: usize) -> Option<Self> {
        let (negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let plain = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        if whole.is_empty() || !plain(whole) || !plain(fraction) {
            return None;
        }
        let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(places).collect();
        let amount: i64 = format!("{whole}{kept}").parse().ok()?;
        let up = fraction.as_bytes().get(places).is_some_and(|digit| *digit >= b'5');
        let amount = amount.checked_add(i64::from(up))?;
        Some(Self(if negative { -amount } else { amount }))
    }

    /// The sum. Amounts near the end of the range stay there.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// The difference. Amounts near the end of the range stay there.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }

    /// The floating-point number nearest to the amount, for the wire.
    #[must_use]
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

/// The decimal digits of a number. A floating-point number is printed as the shortest decimal that reads back as the same number,
/// which is what the provider wrote.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) if number.is_f64() => Some(number.as_f64()?.to_string()),
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => Some(text.trim().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_read_to_the_last_digit() {
        let read = |text: &str| Amount::of(&serde_json::from_str(text).unwrap()).map(|amount| amount.0);
        let cases = [
            ("0.0101", Some(10_100)),
            ("0.02003", Some(20_030)),
            ("41.87", Some(41_870_000)),
            ("49.989899999999999", Some(49_989_900)),
            ("1e-5", Some(10)),
            ("0.0000005", Some(1)),
            ("0.0000004", Some(0)),
            ("-3.5", Some(-3_500_000)),
            ("148210", Some(148_210_000_000)),
            ("\"1.87\"", Some(1_870_000)),
            ("1e30", None),
            ("null", None),
            ("\"a lot\"", None),
            ("[]", None),
        ];
        for (text, amount) in cases {
            assert_eq!(read(text), amount, "{text}");
        }
        assert_eq!(Amount::of_hundredths(&json!(187)), Some(Amount(1_870_000)));
        assert_eq!(Amount::of_hundredths(&json!(0.5)), Some(Amount(5_000)));
    }

    #[test]
    fn a_thousand_small_costs_add_up_exactly() {
        let cost = Amount::of(&json!(0.0101)).unwrap();
        let sum = (0..1_000).fold(Amount::ZERO, |sum, _| sum.plus(cost));
        assert_eq!(sum, Amount(10_100_000));
        assert!((Amount(41_870_000).minus(sum).to_f64() - 31.77).abs() < f64::EPSILON);
        assert_eq!(Amount(i64::MAX).plus(cost), Amount(i64::MAX));
    }
}
