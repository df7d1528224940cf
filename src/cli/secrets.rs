//! The `secrets` command, for operators: the key that seals stored secrets.

use clap::Subcommand;
use common::random::Random;

use super::terminal::Text;
use crate::{
    app::{self, Resealed},
    config::Config,
    error::Error,
};

/// Commands for operators about the key of stored secrets.
#[derive(Debug, Subcommand)]
pub enum SecretsCommand {
    /// Replace the key, and seal every stored secret with the new one.
    Rotate,
}

/// Runs `secrets …` and returns the text to print.
pub async fn secrets(command: &SecretsCommand, config: &Config, random: &Random) -> Result<Text, Error> {
    let SecretsCommand::Rotate = command;
    let Resealed { count, key_file } = app::rotate_secrets(config, random).await?;
    let then = match key_file {
        Some(path) => format!("The new key is in {}.", path.display()),
        None => "Remove secrets.previous_key from the settings now.".to_owned(),
    };
    Ok(Text::line(format!("resealed: {count}")).and(then))
}
