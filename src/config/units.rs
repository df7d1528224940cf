//! Sizes and times in a readable form: `256MiB`, `6h`, or a plain number of bytes or seconds.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

/// Seconds of a minute.
pub(super) const MINUTE: u64 = 60;
/// Seconds of an hour.
pub(super) const HOUR: u64 = 60 * MINUTE;
/// Seconds of a day.
pub(super) const DAY: u64 = 24 * HOUR;

const SIZES: [(&str, u64); 3] = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
const TIMES: [(&str, u64); 4] = [("s", 1), ("m", MINUTE), ("h", HOUR), ("d", DAY)];

/// A number of bytes. Accepts the units `KiB`, `MiB` and `GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(extend("format" = BYTES))]
pub struct Bytes(pub u64);

/// A number of seconds. Accepts the units `s`, `m`, `h` and `d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[schemars(extend("format" = SECONDS))]
pub struct Seconds(pub u64);

impl Seconds {
    /// The same time as a [`std::time::Duration`].
    #[must_use]
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_secs(self.0)
    }
}

/// The format of [`Bytes`] in a schema.
pub(super) const BYTES: &str = "bytes";
/// The format of [`Seconds`] in a schema.
pub(super) const SECONDS: &str = "seconds";

/// Returns how a person writes a number of `format`: `21600` seconds as `6h`.
pub(super) fn written(number: u64, format: &str) -> Option<String> {
    let units: &[(&str, u64)] = match format {
        BYTES => &SIZES,
        SECONDS => &TIMES,
        _ => return None,
    };
    let fits = |(_, size): &&(&str, u64)| number > 0 && number.is_multiple_of(*size);
    units.iter().rev().find(fits).map(|(unit, size)| format!("{}{unit}", number / size))
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(u64),
    Text(String),
}

fn read<'de, D: Deserializer<'de>>(from: D, units: &[(&str, u64)]) -> Result<u64, D::Error> {
    let refuse = || de::Error::custom("not a number with a unit");
    match Written::deserialize(from).map_err(|_| refuse())? {
        Written::Number(number) => Ok(number),
        Written::Text(text) => parse(text.trim(), units).ok_or_else(refuse),
    }
}

fn parse(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = (text[..digits].parse::<u64>().ok()?, text[digits..].trim());
    let factor = match unit {
        "" => 1,
        unit => units.iter().find(|(name, _)| *name == unit)?.1,
    };
    number.checked_mul(factor)
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from, &SIZES).map(Self)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        read(from, &TIMES).map(Self)
    }
}
