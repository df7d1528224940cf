//! The key that seals stored secrets: the configured one, or one in a file that only its owner can read.
//!
//! While the key is being replaced, the file holds two lines: the new key, then the previous one. Sealing takes a shared
//! lock on the file, replacing the key an exclusive one.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

use common::{
    file_lock, private_files,
    random::Random,
    secrets::{Key, Secrets},
};
use identity::departures::Departures;
use issuer::keys;
use sea_orm::DatabaseConnection;
use store::postgres;

use crate::{
    config::{Config, Secret},
    error::Error,
};

/// The current key, and the one before it if values may still be sealed with it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Keys {
    pub current: Key,
    pub previous: Option<Key>,
}

/// The file of the key in the data folder.
pub(super) struct KeyFile {
    path: PathBuf,
}

/// The secrets of a service with these settings and this database. The first call in a data folder makes the key.
///
/// # Errors
/// The key is malformed or lost, or another process is replacing it.
pub async fn secrets(config: &Config, random: &Random, db: &DatabaseConnection) -> Result<Secrets, Error> {
    if let Some(keys) = configured(config)? {
        return Ok(Secrets::new(keys.current, random.clone()).with_previous(keys.previous));
    }
    let file = KeyFile::of(config);
    private_files::make_folder(&config.data_dir).map_err(|error| file.unusable(&error))?;
    let lock = file.share()?;
    private_files::close_to_others(file.path());
    let keys = match file.read()? {
        Some(keys) => keys,
        None => file.create_for(config, random, db).await?,
    };
    if keys.previous.is_some() {
        tracing::warn!("`sightline secrets rotate` was interrupted; run it again to finish it");
    }
    Ok(Secrets::new(keys.current, random.clone()).with_previous(keys.previous).holding(lock))
}

/// The keys in the settings.
pub(super) fn configured(config: &Config) -> Result<Option<Keys>, Error> {
    let parsed = |name: &str, secret: &Option<Secret>| match secret {
        Some(Secret(digits)) => {
            parse(digits).map(Some).ok_or_else(|| Error::invalid(format!("{name}: must be 64 hex digits")))
        }
        None => Ok(None),
    };
    let current = parsed("secrets.key", &config.secrets.key)?;
    let previous = parsed("secrets.previous_key", &config.secrets.previous_key)?;
    Ok(current.map(|current| Keys { current, previous }))
}

impl KeyFile {
    pub fn of(config: &Config) -> Self {
        Self { path: Path::new(&config.data_dir).join("secrets.key") }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the keys in the file, or `None` if there is no file.
    pub fn read(&self) -> Result<Option<Keys>, Error> {
        let text = match fs::read_to_string(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(self.unusable(&error)),
        };
        let keys: Option<Vec<Key>> = text.split_whitespace().map(parse).collect();
        match keys.as_deref() {
            Some([current]) => Ok(Some(Keys { current: *current, previous: None })),
            Some([current, previous]) => Ok(Some(Keys { current: *current, previous: Some(*previous) })),
            _ => Err(Error::invalid(format!(
                "{}: must hold 64 hex digits, or during a rotation two lines of them",
                self.path.display()
            ))),
        }
    }

    /// Replaces the content of the file. A crash leaves the old content or the new one.
    pub fn write(&self, keys: &Keys) -> Result<(), Error> {
        let beside = self.beside("new");
        let replace = || {
            let mut lines = hex(&keys.current);
            if let Some(previous) = &keys.previous {
                lines = format!("{lines}\n{}\n", hex(previous));
            }
            private_files::write(&beside, &lines)?;
            fs::rename(&beside, &self.path)?;
            private_files::sync_name(&self.path)
        };
        replace().map_err(|error| self.unusable(&error))
    }

    /// Makes the first key, unless the database has known one, or other machines may use it: each would make its own, and could not read
    /// what the others seal.
    pub async fn create_for(&self, config: &Config, random: &Random, db: &DatabaseConnection) -> Result<Keys, Error> {
        if let Err(lost) = self.check_not_lost(db).await {
            // Another process may have made it meanwhile, and sealed with it.
            return self.read()?.ok_or(lost);
        }
        if postgres::is_elsewhere(&config.database_url()) {
            return Err(self.demand());
        }
        self.create(random.bytes())
    }

    /// Refuses a database with sealed values, where the file that sealed them is missing. Every database has one from its first start on,
    /// and a signing key may be older.
    pub async fn check_not_lost(&self, db: &DatabaseConnection) -> Result<(), Error> {
        if !(Departures::has_key(db).await? || keys::exist(db).await?) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "secrets.key: {} is missing, and the database holds values that only its key opens. Put the file back, copy it from another \
             replica, or set secrets.key (SIGHTLINE_SECRETS__KEY) to what was in it. Without the key these values are lost: start with a new \
             database",
            self.path.display()
        )))
    }

    /// The error where a key is missing that must not be made.
    pub fn demand(&self) -> Error {
        Error::invalid(format!(
            "secrets.key: is needed with PostgreSQL on another machine, the same for every replica; `openssl rand -hex 32` makes \
             one (or copy {} from another replica)",
            self.path.display()
        ))
    }

    /// Writes the first key. If another process was faster, its key counts.
    fn create(&self, key: Key) -> Result<Keys, Error> {
        let beside = self.beside(&format!("new-{}", std::process::id()));
        let made = match private_files::give_name(&beside, &hex(&key), &self.path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
            _ => private_files::sync_name(&self.path),
        };
        made.map_err(|error| self.unusable(&error))?;
        self.read()?.ok_or_else(|| Error::internal("the key of stored secrets was not kept"))
    }

    /// Locks the file for sealing, together with other processes. `None` in a folder that cannot be written, where nobody
    /// can replace the key either.
    pub fn share(&self) -> Result<Option<File>, Error> {
        let Ok(lock) = self.lock_file() else { return Ok(None) };
        match file_lock::shared(&lock) {
            Ok(()) => Ok(Some(lock)),
            Err(TryLockError::WouldBlock) => Err(Error::invalid(format!(
                "{}: `sightline secrets rotate` is replacing the key. Start again when it has ended",
                self.path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(self.unusable(&error)),
        }
    }

    /// Locks the file for replacing the key.
    pub fn take(&self) -> Result<File, Error> {
        let lock = self.lock_file().map_err(|error| self.unusable(&error))?;
        match file_lock::alone(&lock) {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(Error::invalid(format!(
                "{}: another process uses the key. Stop `sightline serve` first",
                self.path.display()
            ))),
            Err(TryLockError::Error(error)) => Err(self.unusable(&error)),
        }
    }

    fn lock_file(&self) -> io::Result<File> {
        let path = self.beside("lock");
        private_files::close_to_others(&path);
        private_files::append(&path)
    }

    fn beside(&self, extension: &str) -> PathBuf {
        let mut path = self.path.clone().into_os_string();
        path.push(".");
        path.push(extension);
        path.into()
    }

    fn unusable(&self, error: &io::Error) -> Error {
        Error::invalid(format!("{}: {error}", self.path.display()))
    }
}

fn hex(key: &Key) -> String {
    key.iter().fold(String::with_capacity(64), |digits, byte| digits + &format!("{byte:02x}"))
}

fn parse(digits: &str) -> Option<Key> {
    let bytes = digits.as_bytes();
    if bytes.len() != 64 || !bytes.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut key = [0; 32];
    for (byte, pair) in key.iter_mut().zip(bytes.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[tokio::test]
    async fn no_key_is_made_for_a_database_on_another_machine() {
        let folder = TempDir::new().unwrap();
        let db = test_data::database().await;
        let made = async |config: &Config| secrets(config, &Random::seeded(1), &db).await;
        let mut config = Config { data_dir: folder.path().display().to_string(), ..Config::default() };
        config.database.url = Some("postgres://sightline:hunter2@db.example/sightline".to_owned());
        let refused = made(&config).await.err().unwrap().to_string();
        assert!(refused.contains("secrets.key: is needed") && !refused.contains("hunter2"), "{refused}");
        assert!(KeyFile::of(&config).read().unwrap().is_none());

        fs::write(KeyFile::of(&config).path(), "07".repeat(32)).unwrap();
        assert!(made(&config).await.is_ok(), "a copied key");
        fs::remove_file(KeyFile::of(&config).path()).unwrap();
        config.secrets.key = Some(Secret("07".repeat(32)));
        assert!(made(&config).await.is_ok(), "a key in the settings");
        config.secrets.key = None;
        config.database.url = Some("postgres://sightline@127.0.0.1/sightline".to_owned());
        assert!(made(&config).await.is_ok(), "a server on this machine");
    }
}
