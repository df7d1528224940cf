//! Settings of the simulated search engine.

use std::net::{Ipv4Addr, SocketAddr};
use std::str::FromStr;
use std::time::Duration;

use chrono::NaiveDate;
use serde::{Deserialize, Deserializer};

use super::fault::Fault;

/// Settings of the simulated search engine. Every setting has a default.
#[derive(Debug, Clone, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// The address to listen on. Port 0 selects any free port. Default `127.0.0.1:0`.
    pub listen: SocketAddr,
    /// The seed of the simulated data. Default 7.
    pub seed: u64,
    /// The current Pacific day, always at noon. Absent: the clock's time.
    pub today: Option<NaiveDate>,
    /// The least time from a request to its response. In configuration `latency_ms`. Default none.
    #[serde(rename = "latency_ms", deserialize_with = "millis")]
    pub latency: Duration,
    /// Faults to inject. In configuration `fail`: a list of `KIND:RATE`, or one text separated by commas.
    #[serde(rename = "fail", deserialize_with = "faults")]
    pub faults: Vec<Fault>,
    /// Choices where descriptions of the real engine contradict each other.
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

/// Choices where descriptions of the real engine contradict each other. Written as the names below, separated by commas. An
/// omitted name, or `none`, selects the other behaviour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Conflicts {
    /// `snake_case_metadata`: metadata is spelled `first_incomplete_date`. Otherwise `firstIncompleteDate`.
    pub snake_case_metadata: bool,
    /// `zero_filled_dates`: rows grouped by date alone include days without impressions. Otherwise those days are omitted.
    pub zero_filled_dates: bool,
    /// `reject_old_start`: a start date more than 16 months ago returns 400. Otherwise it is moved to 16 months ago.
    pub reject_old_start: bool,
    /// `object_errors` and `array_errors`: the bodies of provider B's refusals. Otherwise they are as measured.
    pub error_bodies: ErrorBodies,
}

/// The shape of provider B's refusals.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ErrorBodies {
    /// `["Error", TEXT]` for a missing or wrong key, otherwise `{"error": TEXT}`.
    #[default]
    Measured,
    /// Always `{"error": TEXT}`, as documented.
    Objects,
    /// Always `["Error", TEXT]`.
    Arrays,
}

/// The error for an unknown name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not one of snake_case_metadata, zero_filled_dates, reject_old_start, object_errors, array_errors, none"
)]
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
                "object_errors" => conflicts.error_bodies = ErrorBodies::Objects,
                "array_errors" => conflicts.error_bodies = ErrorBodies::Arrays,
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
