//! The simulated search engine beside the service, or alone.

use std::time::Duration;

use common::clock::Clock;
use simulator::{Fault, Settings, Simulator};

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
    let started = simulator::start(settings(config)?, clock.clone()).await;
    started.map_err(|error| Error::invalid(format!("simulator.listen: {} cannot be bound: {error}", config.listen)))
}

fn settings(config: &config::Simulator) -> Result<Settings, Error> {
    let fault = |text: &String| -> Result<Fault, Error> {
        text.parse().map_err(|error| Error::invalid(format!("simulator.fail: {text}: {error}")))
    };
    let conflicts = config.conflicts.join(",");
    Ok(Settings {
        listen: config.listen,
        seed: config.seed,
        today: config.today,
        latency: Duration::from_millis(config.latency_ms),
        faults: config.fail.iter().map(fault).collect::<Result<_, _>>()?,
        conflicts: conflicts.parse().map_err(|error| Error::invalid(format!("simulator.conflicts: {error}")))?,
    })
}
