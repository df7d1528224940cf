//! The simulated search engine beside the service, or alone.

use std::time::Duration;

use common::clock::Clock;
use simulator::{Settings, Simulator};

use crate::{
    config::{self, Config},
    error::Error,
};

/// Starts the simulated search engine, if no other is configured.
pub(crate) async fn beside(config: &Config, clock: &Clock) -> Result<Option<Simulator>, Error> {
    if !config.simulates_search_engine() {
        return Ok(None);
    }
    alone(&config.simulator, clock).await.map(Some)
}

/// Starts the simulated search engine.
///
/// # Errors
/// [`Error::InvalidRequest`] names the setting that cannot be used.
pub async fn alone(config: &config::Simulator, clock: &Clock) -> Result<Simulator, Error> {
    let settings = Settings {
        listen: config.listen,
        seed: config.seed,
        sites: config.sites,
        today: config.today,
        latency: Duration::from_millis(config.latency_ms),
        faults: config.fail.clone(),
        conflicts: config.conflicts.iter().copied().collect(),
    };
    let started = simulator::start(settings, clock.clone()).await;
    started.map_err(|error| Error::invalid(format!("simulator.listen: {} cannot be bound: {error}", config.listen)))
}
