//! The place of the file of a `SQLite` database, which somebody may move, delete or replace while it is open. A process keeps on writing to a file that was moved or deleted, and
//! nobody finds what it writes.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::database;

/// The place of a file that this process has opened.
#[derive(Debug, Clone)]
pub struct DatabaseFile {
    path: PathBuf,
    opened: Identity,
}

/// The device and the number of a file there. Both are zero where a system has none.
type Identity = (u64, u64);

impl DatabaseFile {
    /// Returns the place of the file of the database at `url`, which has just been opened. Databases in memory and on `PostgreSQL` have none.
    #[must_use]
    pub fn of(url: &str) -> Option<Self> {
        let path = database::file_of(url)?;
        let opened = identity(&path).ok()?;
        Some(Self { path, opened })
    }

    /// Returns the folder of the file.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.path.parent()
    }

    /// Returns whether the same file is there. What cannot be found out counts as unchanged.
    #[must_use]
    pub fn is_kept(&self) -> bool {
        match identity(&self.path) {
            Ok(found) => found == self.opened,
            Err(error) => error.kind() != io::ErrorKind::NotFound,
        }
    }
}

fn identity(path: &Path) -> io::Result<Identity> {
    let found = fs::metadata(path)?;
    #[cfg(unix)]
    return Ok((std::os::unix::fs::MetadataExt::dev(&found), std::os::unix::fs::MetadataExt::ino(&found)));
    #[cfg(not(unix))]
    Ok((0, 0))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_moved_deleted_or_replaced_is_not_kept() {
        let folder = tempfile::tempdir().unwrap();
        let (path, moved) = (folder.path().join("own.db"), folder.path().join("moved.db"));
        let url = format!("sqlite://{}", path.display());
        assert!(DatabaseFile::of(&url).is_none(), "there is no file");
        assert!(DatabaseFile::of("sqlite::memory:").is_none() && DatabaseFile::of("postgres://127.0.0.1/x").is_none());
        fs::write(&path, "one").unwrap();
        let place = DatabaseFile::of(&url).unwrap();
        assert!(place.is_kept() && place.folder() == Some(folder.path()));
        fs::write(&path, "other content").unwrap();
        assert!(place.is_kept());
        fs::rename(&path, &moved).unwrap();
        assert!(!place.is_kept(), "moved");
        fs::write(&path, "two").unwrap();
        assert!(!place.is_kept(), "replaced");
        fs::rename(&moved, &path).unwrap();
        assert!(place.is_kept(), "it has come back");
        fs::remove_file(&path).unwrap();
        assert!(!place.is_kept(), "deleted");
    }
}
