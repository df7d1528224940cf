//! Sizes and times in a readable form: `256MiB`, `6h`, or a plain number of bytes or seconds.

use serde::{Deserialize, Deserializer, Serialize, de};

/// A number of bytes. Accepts the units `KiB`, `MiB` and `GiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Bytes(pub u64);

/// A number of seconds. Accepts the units `s`, `m`, `h` and `d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Seconds(pub u64);

impl Seconds {
    /// The same time as a [`std::time::Duration`].
    #[must_use]
    pub fn duration(self) -> std::time::Duration {
        std::time::Duration::from_secs(self.0)
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(u64),
    Text(String),
}

fn read<'de, D: Deserializer<'de>>(from: D, units: &[(&str, u64)], allowed: &str) -> Result<u64, D::Error> {
    let refuse = || de::Error::custom(format!("expected {allowed}"));
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
        let units = [("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)];
        read(from, &units, "a number of bytes such as 1048576 or 256MiB").map(Self)
    }
}

impl<'de> Deserialize<'de> for Seconds {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let units = [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)];
        read(from, &units, "a time such as 90s, 30m or 6h, or 90d").map(Self)
    }
}
