//! The data folder and the database of the settings.

use std::fs::File;

use common::{private_files, urls::without_credentials};
use store::{
    database::{self, OpenDatabase},
    locks, schema,
};

use crate::{config::Config, error::Error};

/// Opens the configured database of a service that starts, and applies pending migrations if `database.migrate` says so.
///
/// # Errors
/// The database cannot be opened, lacks migrations that are not to be applied, or belongs to another version.
pub async fn open_database(config: &Config) -> Result<OpenDatabase, Error> {
    let (opened, _alone) = open_alone(config).await?;
    if config.database.migrate {
        schema::migrate(&opened.writer).await?;
    } else {
        schema::check(&opened.writer).await?;
    }
    Ok(opened)
}

/// Opens the database of a service for a command. In a wrong folder, or with other settings, it makes none, and it applies no migrations.
///
/// # Errors
/// There is no database of a service, it lacks migrations, or it belongs to another version.
pub async fn open_existing_database(config: &Config) -> Result<OpenDatabase, Error> {
    check_for_database(config)?;
    let opened = connect(config).await?;
    if schema::is_unused(&opened.writer).await? {
        let found = format!("{} holds nothing of Sightline", without_credentials(&config.database_url()));
        return Err(no_database(&found));
    }
    match schema::lacks(&opened.writer).await? {
        None => Ok(opened),
        Some(missing) => Err(Error::invalid(format!(
            "database.url: the schema of this database is of an older version: it lacks the migration {missing}. This command applies none. \
             Start the service of this version, or run `sightline migrate`, and run the command again"
        ))),
    }
}

/// Refuses settings whose database is a file that is not there.
///
/// # Errors
/// Names the file.
pub fn check_for_database(config: &Config) -> Result<(), Error> {
    let missing = database::missing_file(&config.database_url());
    missing.map_or(Ok(()), |file| Err(no_database(&format!("there is none at {}", file.display()))))
}

fn no_database(found: &str) -> Error {
    Error::invalid(format!(
        "database.url: this command needs the database of a service, and {found}. Run it in the folder of the service, or set data_dir or \
         database.url as they are set there (SIGHTLINE_DATA_DIR, SIGHTLINE_DATABASE__URL). A new service gets its database by `sightline \
         serve` or `sightline migrate`"
    ))
}

/// Opens the configured database and applies pending migrations.
///
/// # Errors
/// As [`open_database`].
pub async fn migrate(config: &Config) -> Result<(), Error> {
    let (opened, _alone) = open_alone(config).await?;
    Ok(schema::migrate(&opened.writer).await?)
}

/// Opens the configured database as it is. Waits while another process opens or migrates it.
///
/// # Errors
/// It cannot be opened.
pub async fn connect(config: &Config) -> Result<OpenDatabase, Error> {
    Ok(open_alone(config).await?.0)
}

/// Opens the configured database, and keeps other processes from doing so as long as the second value lives.
async fn open_alone(config: &Config) -> Result<(OpenDatabase, Option<File>), Error> {
    make_data_folder(config)?;
    let url = config.database_url();
    let alone = locks::to_open(&url).await?;
    let opened = database::open(&url, config.database.max_connections).await;
    let opened = opened.map_err(|error| {
        let store::Error::Database(error) = error else { return error.into() };
        // The driver's message repeats the URL, which may contain a password.
        let reason = match database::missing_file(&url) {
            Some(_) if !url.contains("mode=rwc") => {
                "the file does not exist; `?mode=rwc` at the end of the URL makes it".to_owned()
            }
            _ => error.to_string().replace(&url, "…"),
        };
        Error::invalid(format!("database.url: {} cannot be opened: {reason}", without_credentials(&url)))
    })?;
    Ok((opened, alone))
}

/// Creates the folder of the default database, if it does not exist.
pub fn make_data_folder(config: &Config) -> Result<(), Error> {
    if config.database.url.is_none() {
        let made = private_files::make_folder(&config.data_dir);
        made.map_err(|error| Error::invalid(format!("data_dir: {} cannot be a folder: {error}", config.data_dir)))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_folder_that_is_a_file_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let config = Config { data_dir: file.path().display().to_string(), ..Config::default() };
        let said = make_data_folder(&config).unwrap_err().to_string();
        assert!(said.starts_with("data_dir: ") && said.contains("cannot be a folder"), "{said}");
    }
}
