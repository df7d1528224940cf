//! How the simulated search engine is set up.

use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer};

use super::fault::Fault;

/// Settings of the simulated search engine; every one has a default.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Where to listen. Port 0 is any free port. Default `127.0.0.1:0`.
    pub listen: SocketAddr,
    /// What the simulated world grows from. Default 7.
    pub seed: u64,
    /// The Pacific day the simulator believes it is (then always noon); absent = the clock's.
    pub today: Option<NaiveDate>,
    /// How long every answer is held back. In configuration `latency_ms`. Default none.
    #[serde(rename = "latency_ms", deserialize_with = "millis")]
    pub latency: Duration,
    /// Trouble to make. In configuration `fail`: a list of `KIND:RATE`, or one text with commas between.
    #[serde(rename = "fail", deserialize_with = "faults")]
    pub faults: Vec<Fault>,
    /// Which side to take where descriptions of the real engine contradict each other.
    pub conflicts: Conflicts,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            seed: 7,
            today: None,
            latency: Duration::ZERO,
            faults: Vec::new(),
            conflicts: Conflicts::default(),
        }
    }
}

fn millis<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    u64::deserialize(deserializer).map(Duration::from_millis)
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

fn faults<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Fault>, D::Error> {
    let texts = match OneOrMany::deserialize(deserializer)? {
        OneOrMany::One(text) => text.split(',').map(str::to_owned).collect(),
        OneOrMany::Many(texts) => texts,
    };
    let texts = texts.iter().filter(|text| !text.trim().is_empty());
    texts.map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
}

/// Points on which descriptions of the real engine contradict each other. Written as a comma list of the names below; a name
/// that is left out, and `none`, mean the other behaviour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Conflicts {
    /// `snake_case_metadata`: metadata is spelled `first_incomplete_date`. Otherwise `firstIncompleteDate`.
    pub snake_case_metadata: bool,
    /// `zero_filled_dates`: rows grouped by date alone include days without impressions. Otherwise those are left out.
    pub zero_filled_dates: bool,
    /// `reject_old_start`: a start more than 16 months ago is 400. Otherwise it is moved to 16 months ago.
    pub reject_old_start: bool,
}

/// A name that is no conflict's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is none of snake_case_metadata, zero_filled_dates, reject_old_start, none")]
pub struct UnknownConflict(String);

impl FromStr for Conflicts {
    type Err = UnknownConflict;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut conflicts = Self::default();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            match name {
                "snake_case_metadata" => conflicts.snake_case_metadata = true,
                "zero_filled_dates" => conflicts.zero_filled_dates = true,
                "reject_old_start" => conflicts.reject_old_start = true,
                "none" => {}
                unknown => return Err(UnknownConflict(unknown.to_owned())),
            }
        }
        Ok(conflicts)
    }
}

impl TryFrom<String> for Conflicts {
    type Error = UnknownConflict;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}
