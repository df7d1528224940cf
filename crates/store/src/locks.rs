//! Locks on the file of a `SQLite` database. Each is a file beside it, under one path whatever name the database is opened by. Databases in
//! memory and on `PostgreSQL` have none.

use std::{
    fs::{File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use common::{file_lock, private_files};
use sqlx::sqlite::SqliteConnectOptions;
use tokio::task::spawn_blocking;

use crate::{Error, database::beside};

/// Locks the file at `url` for the process that serves it, as long as the value lives. What replicas share on `PostgreSQL`, such as the refresh
/// of a grant, a process with a file does alone.
///
/// # Errors
/// [`Error::Refused`] if another process serves the file.
pub fn claim(url: &str) -> Result<Option<File>, Error> {
    let Some((named, lock)) = lock(url, ".lock")? else { return Ok(None) };
    match file_lock::alone(&lock) {
        Ok(()) => Ok(Some(lock)),
        Err(TryLockError::WouldBlock) => Err(Error::refused(format!(
            "database.url: another process serves {}, and an SQLite file has one. Stop that process, or use PostgreSQL for several",
            named.display()
        ))),
        Err(TryLockError::Error(error)) => Err(unusable(&named, &error)),
    }
}

/// Locks the file at `url` for a process that opens it and may apply migrations, as long as the value lives. Waits while another process
/// does. A file that is opened for the first time refuses other connections until its log is set up.
///
/// # Errors
/// [`Error::Refused`] if the file of the lock cannot be opened.
pub async fn to_open(url: &str) -> Result<Option<File>, Error> {
    let Some((named, lock)) = lock(url, ".opening")? else { return Ok(None) };
    let locked = spawn_blocking(move || lock.lock().map(|()| lock)).await.map_err(Error::broken)?;
    locked.map(Some).map_err(|error| unusable(&named, &error))
}

/// The name of the database's file, and the file of one of its locks.
fn lock(url: &str, ending: &str) -> Result<Option<(PathBuf, File)>, Error> {
    if !url.starts_with("sqlite:") || url.contains(":memory:") {
        return Ok(None);
    }
    let options: SqliteConnectOptions =
        url.parse().map_err(|error| Error::refused(format!("database.url: {error}")))?;
    let named = options.get_filename();
    let opened = resolved(named).map(|path| beside(&path, ending)).and_then(|path| {
        let lock = private_files::append(&path)?;
        private_files::close_to_others(&path);
        Ok(lock)
    });
    opened.map(|lock| Some((named.to_owned(), lock))).map_err(|error| unusable(named, &error))
}

fn unusable(named: &Path, error: &io::Error) -> Error {
    Error::refused(format!("database.url: {} cannot be opened: {error}", named.display()))
}

/// Returns the one path of a file that may have several names, or that is not there yet.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    if path.exists() {
        return path.canonicalize();
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(folder.canonicalize()?.join(path.file_name().unwrap_or_default()))
}
