//! Stored grants, as the client of the search engine uses them.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::Utc;
use common::{clock::Clock, secrets::Secrets};
use entity::search_account;
use sea_orm::{DatabaseConnection, DbBackend, EntityTrait as _, QuerySelect as _, sea_query::LockType};
use search_engine::{Account, Grants, LockedGrant, SearchEngineError, SiteUrl};
use secrecy::{ExposeSecret as _, SecretString};
use store::{database, transaction::Transaction};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use super::{disconnection, mark_refused, others, refresh_token, replace_refresh_token};
use crate::error::{Disconnection, Error};

/// The share of a pool's connections that refreshes may hold. They hold them while the search engine answers.
const SHARE: u32 = 4;

/// The grants in the database.
pub struct StoredGrants {
    db: DatabaseConnection,
    /// Reads without waiting for writes.
    reader: DatabaseConnection,
    secrets: Secrets,
    clock: Clock,
    /// Permits to hold a connection.
    permits: Arc<Semaphore>,
}

impl StoredGrants {
    /// Grants in `db`, whose pool has `connections`. `reader` reads the same database.
    #[must_use]
    pub fn new(
        db: DatabaseConnection,
        reader: DatabaseConnection,
        connections: u32,
        secrets: Secrets,
        clock: Clock,
    ) -> Self {
        let permits = Semaphore::new((connections / SHARE).max(1) as usize);
        Self { db, reader, secrets, clock, permits: Arc::new(permits) }
    }

    /// On `PostgreSQL` a transaction locks the row. Only one process serves an `SQLite` file, and it refreshes an account once at a time.
    async fn locked(&self, id: Uuid) -> Result<Locked, Error> {
        let permit = self.permits.clone().acquire_owned().await.map_err(Error::internal)?;
        let row = search_account::Entity::find_by_id(id);
        let (tx, found) = if self.db.get_database_backend() == DbBackend::Postgres {
            let tx = database::begin(&self.db).await?;
            let found = row.lock(LockType::NoKeyUpdate).one(&tx).await?;
            (Some(tx), found)
        } else {
            (None, row.one(&self.db).await?)
        };
        let row = found.filter(|row| disconnection(row).is_none()).ok_or(Error::NotFound)?;
        let token = refresh_token(&self.secrets, &row)?.ok_or(Error::NotFound)?;
        let account = Account { id, refresh_token: token.into(), connected_at: row.connected_at };
        let (db, secrets, clock) = (self.db.clone(), self.secrets.clone(), self.clock.clone());
        Ok(Locked { tx, db, secrets, clock, row, account, _permit: permit })
    }
}

#[async_trait]
impl Grants for StoredGrants {
    async fn lock(&self, account: Uuid) -> Result<Box<dyn LockedGrant>, SearchEngineError> {
        match self.locked(account).await {
            Ok(locked) => Ok(Box::new(locked)),
            Err(Error::NotFound) => Err(SearchEngineError::Disconnected("no grant is stored".to_owned())),
            Err(error) => Err(SearchEngineError::unavailable(format!("the grant cannot be locked: {error}"))),
        }
    }

    async fn others(&self, account: Uuid, site: &SiteUrl) -> Vec<Account> {
        let found = others::of(&self.reader, &self.secrets, account, site, self.clock.now()).await;
        found.unwrap_or_else(|error| {
            tracing::warn!(%account, %error, "the other accounts of a site could not be read");
            Vec::new()
        })
    }

    async fn refused(&self, other: &Account, error: &SearchEngineError) {
        let (reason, said) = match error {
            SearchEngineError::Disconnected(said) => (Disconnection::Revoked, said),
            SearchEngineError::ScopeMissing(said) => (Disconnection::ScopeMissing, said),
            _ => return,
        };
        let noted = async {
            let row = search_account::Entity::find_by_id(other.id).one(&self.db).await?;
            match row.filter(|row| row.connected_at == other.connected_at) {
                Some(row) => mark_refused(&self.db, &row, reason, said, self.clock.now()).await,
                None => Ok(()),
            }
        };
        if let Err(error) = noted.await {
            tracing::error!(account = %other.id, %error, "a refused grant could not be noted");
        }
    }
}

struct Locked {
    tx: Option<Transaction>,
    db: DatabaseConnection,
    secrets: Secrets,
    clock: Clock,
    row: search_account::Model,
    account: Account,
    _permit: OwnedSemaphorePermit,
}

#[async_trait]
impl LockedGrant for Locked {
    fn account(&self) -> &Account {
        &self.account
    }

    async fn replace(self: Box<Self>, token: SecretString) {
        let (row, token, now): (_, _, chrono::DateTime<Utc>) = (&self.row, token.expose_secret(), self.clock.now());
        let stored = match self.tx {
            Some(tx) => {
                async {
                    replace_refresh_token(&tx, &self.secrets, row, token, now).await?;
                    Ok(tx.commit().await?)
                }
                .await
            }
            None => replace_refresh_token(&self.db, &self.secrets, row, token, now).await,
        };
        if let Err(error) = stored {
            tracing::error!(account = %row.id, %error, "a replaced grant could not be stored");
        }
    }
}
