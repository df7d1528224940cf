//! Copies of a `SQLite` database: made while it is used, verified, and put in the place of a database that is not there.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use common::private_files;
use sea_orm::{
    ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DbBackend, DbErr, FromQueryResult, Statement,
};
use sqlx::sqlite::SqliteConnectOptions;

use crate::{
    Error,
    database::{self, beside},
    locks, schema,
};

/// Copies the database of `db` to the new file `to`, as it is at one moment, and verifies the copy. Others read and write meanwhile.
/// Returns the size of the copy in bytes.
///
/// # Errors
/// [`Error::Refused`] if `to` is there or cannot be written, or if the copy is damaged. A file that is not whole never has the name `to`.
pub async fn write(db: &DatabaseConnection, to: &Path) -> Result<u64, Error> {
    let new = NewFile::at(to, "")?;
    new.make(|path| private_files::options().create_new(true).write(true).open(path))?;
    let path = new.path.to_str().ok_or_else(|| Error::refused(format!("{}: the name is not UTF-8", to.display())))?;
    // It takes an empty file, which has the rights that it was made with, for a new one.
    let copy = Statement::from_sql_and_values(DbBackend::Sqlite, "VACUUM INTO ?", [path.into()]);
    db.execute_raw(copy).await.map_err(|error| new.cannot_be_written(&error))?;
    new.finish().await
}

/// Verifies the copy `from` and puts it in the place of the database at `url`, which is not there. Returns the path of the database.
///
/// # Errors
/// [`Error::Refused`] if `from` is no whole database of a version that this program knows, if there is a database at `url`, or if a process
/// serves it. Nothing is changed then.
///
/// A file that root restores belongs to the owner of the folder, who is the service's user.
pub async fn restore(from: &Path, url: &str) -> Result<PathBuf, Error> {
    let Some(to) = database::file_of(url) else {
        return Err(Error::refused("database.url: it names no SQLite file"));
    };
    verify(from).await?;
    // SQLite would read files that a former database left beside it as parts of this one.
    for ending in ["", "-wal", "-shm", "-journal"] {
        let there = beside(&to, ending);
        if there.exists() {
            return Err(Error::refused(format!(
                "database.url: {} is there, and a restore replaces no database. Stop the service, and move {} and the files beside it \
                 away first",
                there.display(),
                to.display()
            )));
        }
    }
    let _alone = locks::claim(url)?;
    let new = NewFile::at(&to, "database.url: ")?;
    let mut target = new.make(private_files::make)?;
    let copied = File::open(from).and_then(|mut from| io::copy(&mut from, &mut target));
    copied.map_err(|error| new.cannot_be_written(&error))?;
    new.finish().await?;
    Ok(to)
}

/// A file that gets its name when it is whole.
struct NewFile<'a> {
    named: &'a Path,
    /// Its path until then.
    path: PathBuf,
    /// The setting that messages name before the path, or nothing.
    setting: &'static str,
}

impl<'a> NewFile<'a> {
    fn at(named: &'a Path, setting: &'static str) -> Result<Self, Error> {
        if named.exists() {
            return Err(Error::refused(format!("{setting}{}: the file is there; name a new one", named.display())));
        }
        Ok(Self { named, path: beside(named, ".partial"), setting })
    }

    /// Makes the file, empty and private. One that an attempt left is removed.
    fn make(&self, make: impl FnOnce(&Path) -> io::Result<File>) -> Result<File, Error> {
        let _ = fs::remove_file(&self.path);
        make(&self.path).map_err(|error| self.cannot_be_written(&error))
    }

    /// Verifies the file, and gives it its name. Returns its size in bytes.
    async fn finish(self) -> Result<u64, Error> {
        let synced = File::open(&self.path).and_then(|file| file.sync_all().and_then(|()| file.metadata()));
        let bytes = synced.map_err(|error| self.cannot_be_written(&error))?.len();
        if let Err(error) = verify(&self.path).await {
            let _ = fs::remove_file(&self.path);
            return Err(error);
        }
        fs::rename(&self.path, self.named).map_err(|error| self.cannot_be_written(&error))?;
        private_files::sync_name(self.named).map_err(|error| self.cannot_be_written(&error))?;
        Ok(bytes)
    }

    fn cannot_be_written(&self, error: &dyn std::fmt::Display) -> Error {
        let _ = fs::remove_file(&self.path);
        Error::refused(format!("{}{}: the file cannot be written: {error}", self.setting, self.named.display()))
    }
}

/// A row of `PRAGMA integrity_check`.
#[derive(FromQueryResult)]
struct Found {
    integrity_check: String,
}

/// Reads the whole file, which nobody writes to.
///
/// # Errors
/// [`Error::Refused`] if it is no `SQLite` database, is damaged, holds nothing of Sightline, or is of a version that is unknown here.
async fn verify(file: &Path) -> Result<(), Error> {
    let refused = |why: &dyn std::fmt::Display| Error::refused(format!("{}: {why}", file.display()));
    let metadata = fs::metadata(file).map_err(|error| refused(&format!("the file cannot be read: {error}")))?;
    if !metadata.is_file() {
        return Err(refused(&"this is no file"));
    }
    let no_database = |error: DbErr| refused(&format!("this is no whole SQLite database: {error}"));
    let db = open(file).await.map_err(no_database)?;
    let ask = |sql: &str| Statement::from_string(DbBackend::Sqlite, sql);
    let found = Found::find_by_statement(ask("PRAGMA integrity_check(1)")).one(&db).await.map_err(no_database)?;
    if let Some(found) = found.filter(|found| found.integrity_check != "ok") {
        return Err(refused(&format!("the database is damaged: {}", found.integrity_check)));
    }
    if db.query_one_raw(ask("PRAGMA foreign_key_check")).await?.is_some() {
        return Err(refused(&"the database is damaged: a row refers to one that is not there"));
    }
    if schema::is_unused(&db).await? {
        return Err(refused(&"the database holds nothing of Sightline"));
    }
    schema::lacks(&db).await.map_err(|error| refused(&error))?;
    Ok(db.close().await?)
}

/// Opens a file as it is: nothing is written, neither to it nor beside it.
async fn open(file: &Path) -> Result<DatabaseConnection, DbErr> {
    let file = file.to_owned();
    let mut options = ConnectOptions::new("sqlite::memory:");
    options
        .sqlx_logging(false)
        .max_connections(1)
        .map_sqlx_sqlite_opts(move |_| SqliteConnectOptions::new().filename(&file).read_only(true).immutable(true));
    Database::connect(options).await
}
