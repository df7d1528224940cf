//! Prices of plans, as an operator writes them: `2900 EUR month`.

use std::{fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest amount. Every client reads it exactly, also one that keeps numbers as 64-bit floats.
const MAX_AMOUNT: u64 = 1_000_000_000_000;

/// Currencies of ISO 4217 that have no minor unit in use.
const WITHOUT_MINOR_UNIT: [&str; 17] = [
    "BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI", "VND", "VUV", "XAF", "XOF",
    "XPF",
];
/// Currencies of ISO 4217 whose minor unit is a thousandth.
const OF_THOUSANDTHS: [&str; 7] = ["BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"];

/// The price of a plan for one interval.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
pub struct Price {
    /// The amount in the currency's minor unit, such as cents.
    pub amount_minor: u64,
    /// The code of the currency in ISO 4217.
    pub currency: String,
    /// The time that the amount pays for.
    pub interval: Interval,
}

/// The time that an amount pays for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interval {
    /// A month.
    Month,
    /// A year.
    Year,
}

impl Interval {
    /// The name in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Month => "month",
            Self::Year => "year",
        }
    }
}

/// Returns an amount in the currency's major unit, such as `29.00`.
#[must_use]
pub fn in_major_unit(amount_minor: u64, currency: &str) -> String {
    let places = match currency {
        none if WITHOUT_MINOR_UNIT.contains(&none) => return amount_minor.to_string(),
        three if OF_THOUSANDTHS.contains(&three) => 3,
        _ => 2,
    };
    let unit = 10_u64.pow(places);
    let (major, minor, width) = (amount_minor / unit, amount_minor % unit, usize::try_from(places).unwrap_or(2));
    format!("{major}.{minor:0width$}")
}

impl FromStr for Price {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let price = || {
            let mut words = text.split_whitespace();
            let (amount, currency, interval) = (words.next()?, words.next()?, words.next()?);
            let digits = amount.bytes().all(|byte| byte.is_ascii_digit());
            let amount_minor = amount.parse().ok().filter(|amount| digits && *amount <= MAX_AMOUNT)?;
            let is_code = currency.len() == 3 && currency.bytes().all(|byte| byte.is_ascii_uppercase());
            let interval = [Interval::Month, Interval::Year].into_iter().find(|one| one.name() == interval)?;
            (is_code && words.next().is_none()).then(|| Self { amount_minor, currency: currency.to_owned(), interval })
        };
        price().ok_or("not a price")
    }
}

impl fmt::Display for Price {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.amount_minor, self.currency, self.interval.name())
    }
}

impl TryFrom<String> for Price {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Price> for String {
    fn from(price: Price) -> Self {
        price.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_price_is_read_in_minor_units_and_shown_in_the_major_unit() {
        for (text, major) in [
            ("2900 EUR month", "29.00"),
            ("29005 USD year", "290.05"),
            ("0 EUR month", "0.00"),
            ("7 GBP month", "0.07"),
            ("3500 JPY month", "3500"),
            ("3500 XPF month", "3500"),
            ("9500 KWD year", "9.500"),
            ("1000000000000 EUR year", "10000000000.00"),
        ] {
            let price: Price = text.parse().unwrap();
            assert_eq!(
                (price.to_string().as_str(), in_major_unit(price.amount_minor, &price.currency).as_str()),
                (text, major)
            );
        }
        assert_eq!("  2900  EUR\tmonth ".parse::<Price>().unwrap().to_string(), "2900 EUR month");
    }

    #[test]
    fn an_invalid_price_is_refused() {
        for text in [
            "",
            "2900",
            "2900 EUR",
            "29.00 EUR month",
            "-1 EUR month",
            "+1 EUR month",
            "2900 eur month",
            "2900 EURO month",
            "2900 EUR week",
            "2900 EUR month extra",
            "1000000000001 EUR year",
            "99999999999999999999 EUR year",
        ] {
            assert!(text.parse::<Price>().is_err(), "{text}");
        }
    }
}
