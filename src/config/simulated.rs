//! Settings of the simulated search engine and providers.

use std::{collections::HashSet, net::SocketAddr};

use api::models::{FIRST_DAY, LAST_DAY};
use chrono::NaiveDate;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
#[cfg(feature = "demo")]
pub use simulator::{Conflict, Fault};

use super::check::{Refusal, allow, require};

/// A fault of the simulator, which this program was built without.
#[cfg(not(feature = "demo"))]
pub type Fault = String;
/// A choice of the simulator, which this program was built without.
#[cfg(not(feature = "demo"))]
pub type Conflict = String;

/// The simulated search engine and providers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Simulator {
    /// Address of the simulator inside `serve`. Port 0 takes any free port.
    #[schemars(extend("x-allowed" = "an IP address and a port, such as `127.0.0.1:8081`"))]
    pub listen: SocketAddr,
    /// Seed of all simulated data.
    pub seed: u64,
    /// Sites of the demo person `network`. With 0 there is no such person. See [Many sites](SELF-HOSTING.md#many-sites).
    #[schemars(range(min = 0, max = 10_000))]
    pub sites: u32,
    /// Current day of the simulator.
    #[schemars(extend("x-allowed" = "a day such as `2026-03-01`, from 1900 to 2200", "x-default" = "today in America/Los_Angeles"))]
    pub today: Option<NaiveDate>,
    /// Least time from a request to its answer, in milliseconds.
    pub latency_ms: u64,
    /// Faults to produce, each with the share of requests that it affects. All but `invalid_grant` act on the simulated providers too.
    #[schemars(with = "Vec<String>", extend("x-allowed" = "`KIND:RATE`, each kind once: `quota403`, `permission403`, `rate429`, \
        `error500`, `error200`, `invalid_grant`, `slow` or `truncated`, and a rate from 0 to 1"))]
    pub fail: Vec<Fault>,
    /// Choices where descriptions of the real ones disagree. `object_errors` or `array_errors` gives all refusals of provider B one shape.
    #[schemars(with = "Vec<String>", extend("x-allowed" = "`snake_case_metadata`, `zero_filled_dates`, `reject_old_start`, \
        `object_errors`, `array_errors` or `none`"))]
    pub conflicts: Vec<Conflict>,
}

impl Default for Simulator {
    fn default() -> Self {
        let listen = SocketAddr::from(([127, 0, 0, 1], 0));
        Self { listen, seed: 7, sites: 0, today: None, latency_ms: 0, fail: Vec::new(), conflicts: Vec::new() }
    }
}

impl Simulator {
    pub(super) fn check(&self) -> Result<(), Refusal> {
        require(self.today.is_none_or(|today| (FIRST_DAY..=LAST_DAY).contains(&today)), "simulator.today")?;
        let mut kinds = HashSet::new();
        for fault in self.fail.iter().map(ToString::to_string) {
            let kind = fault.split(':').next().unwrap_or_default().to_owned();
            allow(!kinds.contains(&kind), "simulator.fail", format!("one rate for {kind}"))?;
            kinds.insert(kind);
        }
        Ok(())
    }
}
