//! The `keys` command, for operators: the signing key of the embedded issuer.

use clap::Subcommand;
use common::{clock::Clock, random::Random};
use issuer::keys::{
    KeysError,
    rotation::{Former, rotate},
};

use super::{check_embedded, terminal::Text};
use crate::{app, config::Config, error::Error};

/// Signing-key commands for operators.
#[derive(Debug, Subcommand)]
pub enum KeysCommand {
    /// Make a new signing key. Tokens that the old one signed stay valid until they expire.
    Rotate {
        /// The old key leaked: delete it, so that every token that it signed becomes invalid.
        #[arg(long)]
        discard_old: bool,
    },
}

/// Runs `keys …` and returns the text to print.
pub async fn keys(command: &KeysCommand, config: &Config, clock: &Clock, random: &Random) -> Result<Text, Error> {
    check_embedded(config)?;
    let KeysCommand::Rotate { discard_old } = command;
    let db = app::open_existing_database(config).await?.writer;
    let secrets = app::secrets(config, random, &db).await?;
    let former = if *discard_old { Former::Deleted } else { Former::Published };
    let rotated = rotate(&db, &secrets, former, clock.now()).await.map_err(|error| match error {
        KeysError::Database(error) => Error::from(error),
        other => Error::invalid(other.to_string()),
    })?;
    let key = rotated.ok_or_else(|| Error::invalid("keys rotate: another process has just replaced the key"))?;
    let (id, at) = (key.id, key.signs_from.format("%Y-%m-%d %H:%M:%S UTC"));
    let then = match former {
        Former::Published => format!("It signs from {at}. Tokens that the old key signed stay valid until they expire."),
        Former::Deleted => "The old keys are deleted. Restart the service to refuse their tokens at once; otherwise it may accept them \
                            for 15 minutes."
            .to_owned(),
    };
    Ok(Text::line(format!("new key: {id}")).and(then))
}
