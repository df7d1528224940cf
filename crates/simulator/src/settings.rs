//! Settings of the simulated search engine.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use chrono::NaiveDate;
use serde::{Deserialize, Serialize};

use super::fault::Fault;

/// Settings of the simulated search engine. Every setting has a default.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address to listen on. Port 0 selects any free port. Default `127.0.0.1:0`.
    pub listen: SocketAddr,
    /// The seed of the simulated data. Default 7.
    pub seed: u64,
    /// The number of sites of the account `network`, at most 10,000. With 0 there is no such account. Default 0.
    pub sites: u32,
    /// The current Pacific day, always at noon. Absent: the clock's time.
    pub today: Option<NaiveDate>,
    /// The least time from a request to its response. Default none.
    pub latency: Duration,
    /// Faults to inject.
    pub faults: Vec<Fault>,
    /// Choices where descriptions of the real engine contradict each other.
    pub conflicts: Conflicts,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            seed: 7,
            sites: 0,
            today: None,
            latency: Duration::ZERO,
            faults: Vec::new(),
            conflicts: Conflicts::default(),
        }
    }
}

/// A choice where descriptions of the real engine contradict each other. Its name is that of the variant in snake case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conflict {
    /// Sets [`Conflicts::snake_case_metadata`].
    SnakeCaseMetadata,
    /// Sets [`Conflicts::zero_filled_dates`].
    ZeroFilledDates,
    /// Sets [`Conflicts::reject_old_start`].
    RejectOldStart,
    /// Selects [`ErrorBodies::Objects`].
    ObjectErrors,
    /// Selects [`ErrorBodies::Arrays`].
    ArrayErrors,
    /// Selects nothing.
    None,
}

/// Choices where descriptions of the real engine contradict each other. An omitted one selects the other behaviour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Conflicts {
    /// True: metadata is spelled `first_incomplete_date`. Otherwise `firstIncompleteDate`.
    pub snake_case_metadata: bool,
    /// True: rows grouped by date alone include days without impressions. Otherwise those days are omitted.
    pub zero_filled_dates: bool,
    /// True: a start date more than 16 months ago returns 400. Otherwise it is moved to 16 months ago.
    pub reject_old_start: bool,
    /// The bodies of provider B's refusals.
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

impl FromIterator<Conflict> for Conflicts {
    fn from_iter<I: IntoIterator<Item = Conflict>>(chosen: I) -> Self {
        let mut conflicts = Self::default();
        for conflict in chosen {
            match conflict {
                Conflict::SnakeCaseMetadata => conflicts.snake_case_metadata = true,
                Conflict::ZeroFilledDates => conflicts.zero_filled_dates = true,
                Conflict::RejectOldStart => conflicts.reject_old_start = true,
                Conflict::ObjectErrors => conflicts.error_bodies = ErrorBodies::Objects,
                Conflict::ArrayErrors => conflicts.error_bodies = ErrorBodies::Arrays,
                Conflict::None => {}
            }
        }
        conflicts
    }
}
