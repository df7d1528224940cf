//! The `check` command: whether the service could start with these settings, and reach what they name.

use common::{clock::Clock, random::Random};

use super::{table::table, terminal::Text};
use crate::{
    app::{self, Tried},
    config::Config,
    error::Error,
};

/// Tries the settings, and returns what to print and whether the service can work with them.
pub async fn check(config: &Config, clock: &Clock, random: &Random) -> Result<(Text, bool), Error> {
    let tried = app::try_settings(config, clock, random).await?;
    Ok((drawn(&tried), tried.iter().all(|tried| tried.is_well)))
}

fn drawn(tried: &[Tried]) -> Text {
    let rows = tried.iter().map(|Tried { part, said, is_well }| {
        let outcome = if *is_well { "ok" } else { "FAILED" };
        [(*part).to_owned(), outcome.to_owned(), said.clone()]
    });
    table(["PART", "", ""], rows)
}
