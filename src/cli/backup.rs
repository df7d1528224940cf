//! The `backup` and `restore` commands, for operators: copies of the `SQLite` database.

use std::path::PathBuf;

use clap::Args;
use store::backup;

use super::terminal::Text;
use crate::{app, config::Config, error::Error};

/// Options of `backup`.
#[derive(Debug, Args)]
pub struct Backup {
    /// The file to write. It must not be there.
    pub file: PathBuf,
}

/// Options of `restore`.
#[derive(Debug, Args)]
pub struct Restore {
    /// A file that `backup` wrote.
    pub file: PathBuf,
}

/// Runs `backup` and returns the text to print. The schema stays as it is.
pub async fn backup(options: &Backup, config: &Config) -> Result<Text, Error> {
    check_for_sqlite(config, "pg_dump")?;
    app::check_for_database(config)?;
    let db = app::connect(config).await?.writer;
    let bytes = backup::write(&db, &options.file).await?;
    let said = Text::line(format!("wrote {} ({bytes} bytes) and verified it", options.file.display()));
    if config.secrets.key.is_some() {
        return Ok(said);
    }
    Ok(said.and(format!("{}/secrets.key is not in it: keep a copy apart from the backups", config.data_dir)))
}

/// Runs `restore` and returns the text to print.
pub async fn restore(options: &Restore, config: &Config) -> Result<Text, Error> {
    check_for_sqlite(config, "pg_restore")?;
    app::make_data_folder(config)?;
    let database = backup::restore(&options.file, &config.database_url()).await?;
    let said = Text::line(format!("restored {} from {} and verified it", database.display(), options.file.display()));
    let key = PathBuf::from(&config.data_dir).join("secrets.key");
    if config.secrets.key.is_some() || key.exists() {
        return Ok(said);
    }
    Ok(said.and(format!("before you start the service, put the key that it had into {}", key.display())))
}

fn check_for_sqlite(config: &Config, program: &str) -> Result<(), Error> {
    if config.database_url().starts_with("sqlite:") {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "database.url: this command copies an SQLite file; for PostgreSQL use `{program}`, as docs/OPERATING.md says"
    )))
}
