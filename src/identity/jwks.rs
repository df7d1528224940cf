//! The issuer's public keys (RFC 7517), cached.
//!
//! Known keys go on verifying while they are read again. An unknown key id asks the issuer, at most once per interval, and waits for
//! no question but its own: whoever makes up key ids delays nobody.

use std::{collections::HashMap, sync::Arc, time::Duration};

use chrono::TimeDelta;
use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse},
};
use serde_json::Value;

use super::{
    IssuerUnavailable,
    issuer::Issuer,
    reading::{Attempt, LONG_WAIT, Reading, SHORT_WAIT},
};
use crate::clock::Clock;

/// How long keys are used before the issuer is asked for the current ones. A withdrawn key dies with that reading.
const FRESH_FOR: TimeDelta = TimeDelta::minutes(15);
/// Keys of this age were not used for a while: whoever uses them first waits for the reading that tells whether they still hold.
const OVERDUE: TimeDelta = TimeDelta::minutes(30);
/// How long keys go on to count without a word from the issuer.
const MAX_AGE: TimeDelta = TimeDelta::hours(24);
/// At most one request in this time for the sake of unknown key ids.
const UNKNOWN_KEY_INTERVAL: TimeDelta = TimeDelta::seconds(30);

/// A public key together with the algorithms that it, not a token, allows.
pub struct PublicKey {
    /// The key.
    pub key: DecodingKey,
    /// What signatures made with it may use.
    pub algorithms: Vec<Algorithm>,
}

/// Why a key was not given.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The issuer has no such key.
    #[error("unknown key id")]
    Unknown,
    /// The issuer could not be asked.
    #[error(transparent)]
    Unavailable(#[from] IssuerUnavailable),
}

/// The keys of one issuer.
#[derive(Clone)]
pub struct Jwks {
    issuer: Issuer,
    keys: Reading<KeySet>,
}

struct KeySet {
    by_id: HashMap<String, Arc<PublicKey>>,
    /// As the issuer sent it.
    document: Value,
}

impl Jwks {
    /// The keys of `issuer`; nothing is fetched yet.
    #[must_use]
    pub fn new(issuer: Issuer, clock: Clock) -> Self {
        Self { issuer, keys: Reading::new(clock) }
    }

    /// Whose keys they are.
    #[must_use]
    pub fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// The key with id `kid`; without one, the issuer's only key. Each reading of the key set makes new keys, so that what was verified
    /// with an [`Arc`] that is not returned any more has to be verified again.
    pub async fn key(&self, kid: Option<&str>) -> Result<Arc<PublicKey>, KeyError> {
        let Some((age, keys)) = self.kept() else {
            return self.first().await?.find(kid).ok_or(KeyError::Unknown);
        };
        match keys.find(kid) {
            Some(key) if age < FRESH_FOR => Ok(key),
            Some(key) => self.refreshed(key, kid, age >= OVERDUE).await,
            None if age < UNKNOWN_KEY_INTERVAL => Err(KeyError::Unknown),
            None => match self.begin(SHORT_WAIT) {
                Attempt::Begun(outcome) => outcome.await.ok().and_then(|keys| keys.find(kid)).ok_or(KeyError::Unknown),
                Attempt::UnderWay(_) | Attempt::Failed(_) => Err(KeyError::Unknown),
            },
        }
    }

    /// The key set as the issuer sent it, read again if it lacks the key `kid`.
    pub(super) async fn document(&self, kid: Option<&str>) -> Result<Value, IssuerUnavailable> {
        if let Err(KeyError::Unavailable(error)) = self.key(kid).await {
            return Err(error);
        }
        Ok(self.first().await?.document.clone())
    }

    fn kept(&self) -> Option<(TimeDelta, Arc<KeySet>)> {
        self.keys.kept().filter(|(age, _)| *age < MAX_AGE)
    }

    /// The keys that are known; where none are, everybody waits for the same reading.
    async fn first(&self) -> Result<Arc<KeySet>, IssuerUnavailable> {
        if let Some((_, keys)) = self.kept() {
            return Ok(keys);
        }
        match self.begin(SHORT_WAIT) {
            Attempt::Begun(outcome) | Attempt::UnderWay(outcome) => outcome.await,
            Attempt::Failed(error) => Err(error),
        }
    }

    /// A known key that may have been withdrawn since. It counts until the issuer has said so; in an outage only the first waits.
    async fn refreshed(
        &self,
        key: Arc<PublicKey>,
        kid: Option<&str>,
        overdue: bool,
    ) -> Result<Arc<PublicKey>, KeyError> {
        let waits = overdue && !self.keys.has_failed();
        match self.begin(if waits { SHORT_WAIT } else { LONG_WAIT }) {
            Attempt::Begun(outcome) if waits => match outcome.await {
                Ok(keys) => keys.find(kid).ok_or(KeyError::Unknown),
                Err(_) => Ok(key),
            },
            _ => Ok(key),
        }
    }

    fn begin(&self, limit: Duration) -> Attempt<KeySet> {
        let issuer = self.issuer.clone();
        self.keys.begin(limit, async move { fetch(&issuer).await })
    }
}

impl KeySet {
    fn find(&self, kid: Option<&str>) -> Option<Arc<PublicKey>> {
        match kid {
            Some(kid) => self.by_id.get(kid).cloned(),
            None if self.by_id.len() == 1 => self.by_id.values().next().cloned(),
            None => None,
        }
    }
}

async fn fetch(issuer: &Issuer) -> Result<KeySet, IssuerUnavailable> {
    let metadata = issuer.metadata().await?;
    let document: Value = issuer.get(metadata.jwks_uri().as_str()).await?;
    let listed =
        document["keys"].as_array().ok_or_else(|| IssuerUnavailable("its key set holds no keys".to_owned()))?;
    // A key of a kind we do not know must not hide the others.
    let keys = listed.iter().filter_map(|key| serde_json::from_value(key.clone()).ok());
    let by_id = keys.filter_map(|key: Jwk| usable(&key)).collect();
    Ok(KeySet { by_id, document })
}

/// The key under its id, if it is an asymmetric signing key.
fn usable(jwk: &Jwk) -> Option<(String, Arc<PublicKey>)> {
    if jwk.common.public_key_use.as_ref().is_some_and(|usage| *usage != PublicKeyUse::Signature) {
        return None;
    }
    let suitable = algorithms_of(&jwk.algorithm);
    let algorithms = match jwk.common.key_algorithm {
        Some(named) => suitable.iter().copied().filter(|algorithm| KeyAlgorithm::from(*algorithm) == named).collect(),
        None => suitable.to_vec(),
    };
    if algorithms.is_empty() {
        return None;
    }
    let key = DecodingKey::from_jwk(jwk).ok()?;
    Some((jwk.common.key_id.clone().unwrap_or_default(), Arc::new(PublicKey { key, algorithms })))
}

/// The allow list. No symmetric algorithm stands in it, so no public key can ever serve as a shared secret.
fn algorithms_of(key: &AlgorithmParameters) -> &'static [Algorithm] {
    use Algorithm::{ES256, ES384, EdDSA, PS256, PS384, PS512, RS256, RS384, RS512};
    match key {
        AlgorithmParameters::RSA(_) => &[RS256, RS384, RS512, PS256, PS384, PS512],
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => &[ES256],
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => &[ES384],
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => &[EdDSA],
        _ => &[],
    }
}
