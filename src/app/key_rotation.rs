//! Replaces the key of stored secrets and seals them again, so that nothing is lost wherever the process is killed.
//!
//! Three steps: the file gets the new key beside the old one, one transaction seals every value with the new key, the file
//! gets the new key alone. Between any two of them a service opens everything, and the command continues where it ended.

use std::{fs::File, path::PathBuf};

use common::{private_files, random::Random, secrets::Secrets};
use identity::departures;
use issuer::keys;
use sea_orm::DatabaseConnection;
use store::{database, locks, transaction::Transaction};

use super::{
    data,
    key_file::{self, KeyFile, Keys},
};
use crate::{
    config::Config,
    error::Error,
    services::{integrations, privacy::pending, replays, search_accounts, sharing},
};

/// The result of a rotation.
#[derive(Debug, PartialEq, Eq)]
pub struct Resealed {
    /// The number of values that were sealed again.
    pub count: u64,
    /// The file of the new key. `None` if the settings hold it.
    pub key_file: Option<PathBuf>,
}

/// Replaces the key of stored secrets. With a configured key, reseals the values of `secrets.previous_key`.
///
/// # Errors
/// Another process uses the key or serves the file, or a value cannot be opened. Nothing is changed then.
pub async fn rotate_secrets(config: &Config, random: &Random) -> Result<Resealed, Error> {
    data::check_for_database(config)?;
    let _claim = locks::claim(&config.database_url())?;
    let db = data::open_existing_database(config).await?.writer;
    if let Some(keys) = key_file::configured(config)? {
        if keys.previous.is_none() {
            return Err(Error::invalid(
                "secrets.previous_key: must hold the old key. The key is in the settings: put a new one into secrets.key \
                 (`openssl rand -hex 32`) and the old one into secrets.previous_key, and run this command again",
            ));
        }
        let count = reseal(&db, &secrets(&keys, random)).await?;
        return Ok(Resealed { count, key_file: None });
    }
    let rotation = Rotation::prepare(config, random, &db).await?;
    let keys = rotation.begin(&db, random).await?;
    let count = reseal(&db, &secrets(&keys, random)).await?;
    rotation.finish(&keys)?;
    Ok(Resealed { count, key_file: Some(rotation.file.path().to_owned()) })
}

/// A rotation of the key in the file. Other processes cannot seal as long as it lives.
struct Rotation {
    file: KeyFile,
    found: Keys,
    _lock: File,
}

impl Rotation {
    async fn prepare(config: &Config, random: &Random, db: &DatabaseConnection) -> Result<Self, Error> {
        let file = KeyFile::of(config);
        private_files::make_folder(&config.data_dir).map_err(Error::internal)?;
        let lock = file.take()?;
        let found = match file.read()? {
            Some(keys) => keys,
            None => file.create_for(config, random, db).await?,
        };
        Ok(Self { file, found, _lock: lock })
    }

    /// Puts a new key beside the old one. A rotation that was interrupted after this step continues with its own new key.
    async fn begin(&self, db: &DatabaseConnection, random: &Random) -> Result<Keys, Error> {
        if self.found.previous.is_some() {
            return Ok(self.found);
        }
        check(db, &secrets(&self.found, random)).await?;
        let keys = Keys { current: random.bytes(), previous: Some(self.found.current) };
        self.file.write(&keys)?;
        Ok(keys)
    }

    /// Drops the old key.
    fn finish(&self, keys: &Keys) -> Result<(), Error> {
        self.file.write(&Keys { current: keys.current, previous: None })
    }
}

fn secrets(keys: &Keys, random: &Random) -> Secrets {
    Secrets::new(keys.current, random.clone()).with_previous(keys.previous)
}

/// Fails if a stored value cannot be opened, so that a wrong key is noticed before anything is changed.
async fn check(db: &DatabaseConnection, secrets: &Secrets) -> Result<(), Error> {
    let tx = database::begin(db).await?;
    let checked = reseal_all(&tx, secrets).await;
    tx.rollback().await?;
    checked.map(|_| ())
}

async fn reseal(db: &DatabaseConnection, secrets: &Secrets) -> Result<u64, Error> {
    let tx = database::begin(db).await?;
    let count = reseal_all(&tx, secrets).await?;
    tx.commit().await?;
    Ok(count)
}

/// Every place where values are sealed to be kept. Cookies are not among them: attempts to sign in live for ten minutes, and a known
/// browser (`crates/issuer/src/accounts/devices.rs`) is known again after its next sign-in.
async fn reseal_all(tx: &Transaction, secrets: &Secrets) -> Result<u64, Error> {
    let mut count = keys::reseal(tx, secrets).await?;
    count += search_accounts::reseal(tx, secrets).await?;
    count += integrations::reseal(tx, secrets).await?;
    count += sharing::reseal(tx, secrets).await?;
    count += replays::reseal(tx, secrets).await?;
    count += departures::reseal(tx, secrets).await?;
    count += pending::reseal(tx, secrets).await?;
    Ok(count)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use entity::{search_account, signing_key};
    use issuer::keys::rotation::{Former, rotate};
    use sea_orm::EntityTrait as _;
    use test_data::noon;

    use super::*;
    use crate::{
        config::Secret,
        services::search_accounts::{Connection, connect, refresh_token},
    };

    /// A data folder with a sealed refresh token and a sealed signing key.
    struct Folder {
        config: Config,
        random: Random,
        _data: tempfile::TempDir,
    }

    impl Folder {
        async fn new(key: Option<&str>) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let data_dir = folder.path().join("data").to_string_lossy().into_owned();
            let mut config = Config { data_dir, ..Config::default() };
            config.secrets.key = key.map(|key| Secret(key.to_owned()));
            let random = Random::seeded(1);
            let db = data::open_database(&config).await.unwrap().writer;
            let secrets = key_file::secrets(&config, &random, &db).await.unwrap();
            let base_url = "http://127.0.0.1";
            let departures = departures::Departures::new([1; 32]);
            crate::demo::world::people(&db, &departures, &random, base_url, noon()).await.unwrap();
            let owner = entity::user::Entity::find().one(&db).await.unwrap().unwrap().id;
            let connection = Connection { subject: "s".into(), email: None, refresh_token: Some("granted".into()) };
            connect(&db, &secrets, &random, noon(), owner, &connection).await.unwrap();
            rotate(&db, &secrets, Former::Published, noon()).await.unwrap();
            db.close().await.unwrap();
            Self { config, random, _data: folder }
        }

        fn file(&self) -> KeyFile {
            KeyFile::of(&self.config)
        }

        fn text(&self) -> String {
            fs::read_to_string(self.file().path()).unwrap()
        }

        /// Everything that is sealed, as stored.
        async fn sealed(&self) -> Vec<Vec<u8>> {
            let db = data::open_database(&self.config).await.unwrap().writer;
            let accounts = search_account::Entity::find().all(&db).await.unwrap();
            let keys = signing_key::Entity::find().all(&db).await.unwrap();
            let sealed = accounts.into_iter().filter_map(|row| row.refresh_token);
            let sealed = sealed.chain(keys.into_iter().map(|row| row.sealed)).collect::<Vec<_>>();
            db.close().await.unwrap();
            assert_eq!(sealed.len(), 2);
            sealed
        }

        /// A service that starts now opens everything.
        async fn opens(&self) -> bool {
            let db = data::open_database(&self.config).await.unwrap().writer;
            let secrets = key_file::secrets(&self.config, &self.random, &db).await.unwrap();
            let account = search_account::Entity::find().one(&db).await.unwrap().unwrap();
            let is_open = refresh_token(&secrets, &account).is_ok_and(|token| token.as_deref() == Some("granted"));
            is_open && check(&db, &secrets).await.is_ok()
        }

        async fn rotate(&self) -> Result<Resealed, Error> {
            rotate_secrets(&self.config, &self.random).await
        }
    }

    #[tokio::test]
    async fn every_secret_is_sealed_again_with_a_new_key() {
        let folder = Folder::new(None).await;
        let (key, before) = (folder.text(), folder.sealed().await);
        let key_file = Some(folder.file().path().to_owned());
        assert_eq!(folder.rotate().await.unwrap(), Resealed { count: 2, key_file });
        assert!(folder.text() != key && folder.text().len() == 64);
        assert!(folder.sealed().await.iter().zip(&before).all(|(now, before)| now != before));
        assert!(folder.opens().await);
        let old = Keys { current: folder.file().read().unwrap().unwrap().current, previous: None };
        fs::write(folder.file().path(), &key).unwrap();
        assert!(!folder.opens().await, "the old key opens nothing any more");
        folder.file().write(&old).unwrap();
        assert_eq!(folder.rotate().await.unwrap().count, 2, "again, with another key");
        assert!(folder.opens().await);
    }

    #[tokio::test]
    async fn a_killed_rotation_loses_nothing_and_can_be_finished() {
        for steps in 0..=3 {
            let folder = Folder::new(None).await;
            let key = folder.text();
            let db = data::open_database(&folder.config).await.unwrap().writer;
            let rotation = Rotation::prepare(&folder.config, &folder.random, &db).await.unwrap();
            let mut keys = rotation.found;
            if steps >= 1 {
                keys = rotation.begin(&db, &folder.random).await.unwrap();
            }
            if steps >= 2 {
                assert_eq!(reseal(&db, &secrets(&keys, &folder.random)).await.unwrap(), 2);
            }
            if steps >= 3 {
                // Killed while the file is written: the new content is beside the file, incomplete.
                fs::write(folder.file().path().with_extension("key.new"), &key[..20]).unwrap();
            }
            db.close().await.unwrap();
            drop(rotation);

            assert!(folder.opens().await, "a service starts after {steps} steps");
            let left = folder.rotate().await.unwrap().count;
            assert_eq!(left, if steps >= 2 { 0 } else { 2 }, "after {steps} steps");
            assert!(folder.text().len() == 64 && folder.text() != key);
            assert!(folder.opens().await, "{steps}");
        }
    }

    #[tokio::test]
    async fn a_wrong_key_changes_nothing_and_is_named() {
        let folder = Folder::new(None).await;
        let (key, before) = (folder.text(), folder.sealed().await);
        let other = "ab".repeat(32);
        fs::write(folder.file().path(), &other).unwrap();
        let error = folder.rotate().await.unwrap_err().to_string();
        assert!(error.contains("signing_key") && error.contains("nothing was changed"), "{error}");
        assert_eq!((folder.text(), folder.sealed().await), (other, before));
        fs::write(folder.file().path(), "not a key").unwrap();
        let error = folder.rotate().await.unwrap_err().to_string();
        assert!(error.contains("secrets.key") && error.contains("64 hex digits"), "{error}");
        fs::write(folder.file().path(), &key).unwrap();
        assert!(folder.opens().await);
    }

    #[tokio::test]
    async fn a_configured_key_is_replaced_through_the_settings() {
        let (old, new) = ("01".repeat(32), "02".repeat(32));
        let mut folder = Folder::new(Some(&old)).await;
        let error = folder.rotate().await.unwrap_err().to_string();
        assert!(error.contains("secrets.previous_key"), "{error}");

        let before = folder.sealed().await;
        folder.config.secrets.key = Some(Secret(new.clone()));
        folder.config.secrets.previous_key = Some(Secret("03".repeat(32)));
        assert!(folder.rotate().await.unwrap_err().to_string().contains("nothing was changed"));
        assert_eq!(folder.sealed().await, before);

        folder.config.secrets.previous_key = Some(Secret(old));
        assert!(folder.opens().await, "a service opens both before the command has run");
        assert_eq!(folder.rotate().await.unwrap(), Resealed { count: 2, key_file: None });
        folder.config.secrets.previous_key = None;
        assert!(folder.opens().await);
        assert!(!folder.file().path().exists());
    }

    #[tokio::test]
    async fn the_key_is_not_replaced_under_a_process_that_seals_with_it() {
        let folder = Folder::new(None).await;
        let db = data::open_database(&folder.config).await.unwrap().writer;
        let secrets = key_file::secrets(&folder.config, &folder.random, &db).await.unwrap();
        let error = folder.rotate().await.unwrap_err().to_string();
        assert!(error.contains("sightline serve"), "{error}");
        drop(secrets);
        let rotation = Rotation::prepare(&folder.config, &folder.random, &db).await.unwrap();
        let error = key_file::secrets(&folder.config, &folder.random, &db).await.unwrap_err().to_string();
        assert!(error.contains("secrets rotate"), "{error}");
        drop(rotation);
        assert!(folder.rotate().await.is_ok());
    }
}
