//! The signing keys (RS256), stored encrypted in the database, so that tokens stay valid across restarts and replicas.
//!
//! One key is active. A rotation retires it and adds the next one. A new key is published before it signs, so that every
//! verifier knows it by then, and a retired key stays published until no token of its can be valid.

mod pair;
pub mod rotation;

use std::{cmp::Reverse, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use common::{
    clock::{Clock, Moment},
    secrets::{Secrets, SecretsError},
};
use entity::signing_key::{Column, Entity, Model};
use jsonwebtoken::{Algorithm, Header, Validation, decode_header, jwk::Jwk};
use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, EntityTrait as _};
use serde::{Serialize, de::DeserializeOwned};
use store::{
    Error,
    resealing::{self, SealedColumn},
    transaction::Transaction,
};
use tokio::sync::Mutex;

use self::pair::Pair;
use super::response::OAuthError;

/// Age after which the rows are read again, because another process may have rotated.
const RE_READ: TimeDelta = TimeDelta::seconds(10);
/// Time between the publication of a key and its first signature. The key set may be cached for a minute, and verifiers of this
/// service fetch it for an unknown key at most every 30 seconds.
const PUBLISHED_AHEAD: TimeDelta = TimeDelta::minutes(2);

/// A signing key could not be loaded, created or replaced.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// The database does not respond.
    #[error(transparent)]
    Database(#[from] DbErr),
    /// The key is sealed with another key than the configured one.
    #[error(
        "a signing key of the embedded issuer: {0}; set secrets.key, or secrets.previous_key, to the key that sealed it"
    )]
    Sealed(#[from] SecretsError),
    /// The cryptographic library refuses the key.
    #[error("a signing key cannot be used: {0}")]
    Unusable(String),
}

impl From<KeysError> for OAuthError {
    fn from(error: KeysError) -> Self {
        match error {
            KeysError::Database(error) => error.into(),
            KeysError::Sealed(_) | KeysError::Unusable(_) => Self::Internal(error.to_string()),
        }
    }
}

/// Signs tokens and publishes the public keys. The keys are loaded (or the first one created) on first use.
#[derive(Clone)]
pub struct Keys {
    db: DatabaseConnection,
    secrets: Secrets,
    clock: Clock,
    loaded: Arc<Mutex<Loaded>>,
}

/// The keys in the database, newest first.
#[derive(Default)]
struct Loaded {
    read_at: Option<Moment>,
    keys: Vec<Arc<Live>>,
}

/// A key of which tokens may be valid.
struct Live {
    row_id: String,
    created_at: DateTime<Utc>,
    pair: Pair,
}

impl Keys {
    pub(super) fn new(db: DatabaseConnection, secrets: Secrets, clock: Clock) -> Self {
        Self { db, secrets, clock, loaded: Arc::default() }
    }

    /// The public keys as in the JWK set, newest first. They are read each time, so that every replica publishes a new key
    /// before it signs.
    pub async fn public(&self) -> Result<Vec<Jwk>, KeysError> {
        let keys = self.read_again().await?;
        Ok(keys.iter().map(|key| key.pair.jwk.clone()).collect())
    }

    /// Signs `claims` as a JWT of media type `typ`.
    pub async fn sign(&self, typ: &str, claims: &impl Serialize) -> Result<String, OAuthError> {
        let keys = self.current().await?;
        let key = signer(&keys, self.clock.now()).ok_or_else(|| OAuthError::Internal("no signing key".to_owned()))?;
        let mut header = Header::new(Algorithm::RS256);
        header.typ = Some(typ.to_owned());
        header.kid = Some(key.pair.id.clone());
        let signed = jsonwebtoken::encode(&header, claims, &key.pair.private);
        signed.map_err(|error| OAuthError::Internal(error.to_string()))
    }

    /// Returns the claims of a JWT of media type `typ` that was signed here. The caller checks the expiry.
    pub async fn read<T: DeserializeOwned>(&self, typ: &str, token: &str) -> Result<Option<T>, OAuthError> {
        let Some(kid) = decode_header(token).ok().and_then(|header| header.kid) else { return Ok(None) };
        let Some(key) = self.named(&kid).await? else { return Ok(None) };
        let mut validation = Validation::new(Algorithm::RS256);
        validation.required_spec_claims.clear();
        validation.validate_exp = false;
        validation.validate_aud = false;
        let decoded = jsonwebtoken::decode::<T>(token, &key.pair.public, &validation).ok();
        Ok(decoded.filter(|token| token.header.typ.as_deref() == Some(typ)).map(|token| token.claims))
    }

    /// Returns the key with this id. For an unknown one the rows are read again.
    async fn named(&self, kid: &str) -> Result<Option<Arc<Live>>, KeysError> {
        let find = |keys: Vec<Arc<Live>>| keys.into_iter().find(|key| key.pair.id == kid);
        match find(self.current().await?) {
            Some(key) => Ok(Some(key)),
            None => Ok(find(self.read_again().await?)),
        }
    }

    async fn current(&self) -> Result<Vec<Arc<Live>>, KeysError> {
        let mut loaded = self.loaded.lock().await;
        let now = self.clock.moment();
        if loaded.read_at.is_none_or(|read_at| now.since(read_at) >= RE_READ) {
            self.load(&mut loaded, now).await?;
        }
        Ok(loaded.keys.clone())
    }

    async fn read_again(&self) -> Result<Vec<Arc<Live>>, KeysError> {
        let mut loaded = self.loaded.lock().await;
        self.load(&mut loaded, self.clock.moment()).await?;
        Ok(loaded.keys.clone())
    }

    /// Reads the rows, and creates the first key. Two replicas that start at once may both create one. The first row wins,
    /// and both load it.
    async fn load(&self, loaded: &mut Loaded, now: Moment) -> Result<(), KeysError> {
        let mut rows = Entity::find().all(&self.db).await?;
        if !rows.iter().any(|row| row.retired_at.is_none()) {
            rotation::add_first(&self.db, &self.secrets, now.wall()).await?;
            rows = Entity::find().all(&self.db).await?;
        }
        // Newest first. Of two from the same moment, the active one is newer.
        rows.sort_by_key(|row| (Reverse(row.created_at), row.retired_at.is_some()));
        let opened: Result<Vec<_>, _> = rows.into_iter().map(|row| self.opened(row, &loaded.keys)).collect();
        *loaded = Loaded { read_at: Some(now), keys: opened? };
        Ok(())
    }

    fn opened(&self, row: Model, known: &[Arc<Live>]) -> Result<Arc<Live>, KeysError> {
        if let Some(key) = known.iter().find(|key| key.row_id == row.id) {
            return Ok(key.clone());
        }
        let pair = Pair::of(&self.secrets.open(&row.sealed, &context(&row.id))?)?;
        Ok(Arc::new(Live { row_id: row.id, created_at: row.created_at, pair }))
    }
}

/// The newest key that has been published for long enough. The first key of a database signs at once.
fn signer(newest_first: &[Arc<Live>], now: DateTime<Utc>) -> Option<&Arc<Live>> {
    let known = newest_first.iter().find(|key| key.created_at + PUBLISHED_AHEAD <= now);
    known.or_else(|| newest_first.last())
}

/// Returns whether the database has a signing key.
///
/// # Errors
/// The database cannot answer.
pub async fn exist(db: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(Entity::find().one(db).await?.is_some())
}

/// Seals every key again that is not under the current secrets key. Returns their number.
pub async fn reseal(tx: &Transaction, secrets: &Secrets) -> Result<u64, Error> {
    let place = SealedColumn::<Entity> { name: "signing_key", id: Column::Id, sealed: Column::Sealed };
    resealing::reseal(tx, secrets, place, |id: &String| context(id)).await
}

fn context(row_id: &str) -> String {
    format!("signing_key:{row_id}")
}
