//! Takes the place of the demo in a program that is built without the feature `demo`: it has no simulated search engine and no demo
//! people.

#![expect(clippy::unused_async, reason = "the functions of the demo are async")]

use common::clock::Clock;
use sea_orm::DatabaseConnection;

use crate::{
    config::{self, Config},
    error::Error,
    handlers::App,
};

/// True if the program has the demo.
pub(crate) const IS_BUILT_IN: bool = false;

/// The simulated search engine. There is none.
pub enum Simulator {}

impl Simulator {
    /// The root URL.
    #[must_use]
    pub fn url(&self) -> String {
        match *self {}
    }

    /// Stops it.
    pub async fn shutdown(self) {
        match self {}
    }
}

/// Refuses settings that need the demo.
pub(crate) async fn beside(config: &Config, _: &Clock) -> Result<Option<Simulator>, Error> {
    if config.simulates_search_engine() {
        return Err(Error::invalid(format!("search_engine.client_id: {ABSENT}. Name a client at a search engine")));
    }
    if config.identity.demo_sign_in == Some(true) {
        return Err(Error::invalid(format!("identity.demo_sign_in: {ABSENT}. Remove the setting")));
    }
    Ok(None)
}

/// Refuses to start a simulated search engine.
///
/// # Errors
/// Always [`Error::InvalidRequest`].
pub async fn alone(_: &config::Simulator, _: &Clock) -> Result<Simulator, Error> {
    Err(Error::invalid(ABSENT))
}

/// Creates nothing.
pub(crate) async fn seed(_: &App, _: &DatabaseConnection, _: &reqwest::Client) -> Result<(), Error> {
    Ok(())
}

const ABSENT: &str = "this program was built without its demo (the feature `demo`)";
