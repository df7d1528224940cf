//! The issuer's public keys (RFC 7517), cached. An unknown key id asks the issuer again, at most once per interval.

use std::{
    collections::HashMap,
    sync::{Arc, PoisonError, RwLock},
};

use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::{
    Algorithm, DecodingKey,
    jwk::{AlgorithmParameters, EllipticCurve, Jwk, KeyAlgorithm, PublicKeyUse},
};
use serde::Deserialize;
use tokio::sync::Mutex;

use super::issuer::{Issuer, IssuerUnavailable};
use crate::clock::Clock;

/// How long keys are used before the issuer is asked for the current ones: a withdrawn key dies within this time.
const FRESH_FOR: TimeDelta = TimeDelta::minutes(15);
/// At most one request in this time for the sake of unknown key ids.
const UNKNOWN_KEY_INTERVAL: TimeDelta = TimeDelta::seconds(30);
/// After a failed request, the next may follow only after this time.
const RETRY_INTERVAL: TimeDelta = TimeDelta::seconds(1);

/// A public key together with the algorithms that it, not a token, allows.
#[derive(Clone)]
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
    clock: Clock,
    keys: Arc<RwLock<Option<Kept>>>,
    // Held while the issuer is asked, so that many requests with one new key id make one call.
    asking: Arc<Mutex<Option<Failure>>>,
}

#[derive(Clone)]
struct Kept {
    read_at: DateTime<Utc>,
    by_id: Arc<HashMap<String, PublicKey>>,
}

struct Failure {
    at: DateTime<Utc>,
    error: IssuerUnavailable,
}

impl Jwks {
    /// The keys of `issuer`; nothing is fetched yet.
    #[must_use]
    pub fn new(issuer: Issuer, clock: Clock) -> Self {
        Self { issuer, clock, keys: Arc::default(), asking: Arc::default() }
    }

    /// The key with id `kid`; without one, the issuer's only key.
    pub async fn key(&self, kid: Option<&str>) -> Result<PublicKey, KeyError> {
        if let Some(answer) = self.known(kid) {
            return answer;
        }
        let mut failure = self.asking.lock().await;
        if let Some(answer) = self.known(kid) {
            return answer;
        }
        let now = self.clock.now();
        if let Some(last) = failure.as_ref()
            && now - last.at < RETRY_INTERVAL
        {
            return self.despite(last.error.clone(), kid);
        }
        match self.fetch().await {
            Ok(by_id) => {
                let kept = Kept { read_at: now, by_id: Arc::new(by_id) };
                *self.keys.write().unwrap_or_else(PoisonError::into_inner) = Some(kept.clone());
                *failure = None;
                find(&kept, kid).ok_or(KeyError::Unknown)
            }
            Err(error) => {
                tracing::warn!(%error, "signing keys of the issuer could not be read");
                *failure = Some(Failure { at: now, error: error.clone() });
                self.despite(error, kid)
            }
        }
    }

    /// What the cache can answer without asking the issuer.
    fn known(&self, kid: Option<&str>) -> Option<Result<PublicKey, KeyError>> {
        let kept = self.kept()?;
        let age = self.clock.now() - kept.read_at;
        match find(&kept, kid) {
            Some(key) if age < FRESH_FOR => Some(Ok(key)),
            None if age < UNKNOWN_KEY_INTERVAL => Some(Err(KeyError::Unknown)),
            _ => None,
        }
    }

    /// The issuer is away: keys read earlier go on to work.
    fn despite(&self, error: IssuerUnavailable, kid: Option<&str>) -> Result<PublicKey, KeyError> {
        self.kept().and_then(|kept| find(&kept, kid)).ok_or(KeyError::Unavailable(error))
    }

    fn kept(&self) -> Option<Kept> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn fetch(&self) -> Result<HashMap<String, PublicKey>, IssuerUnavailable> {
        #[derive(Deserialize)]
        struct Document {
            keys: Vec<serde_json::Value>,
        }
        let metadata = self.issuer.metadata().await?;
        let document: Document = self.issuer.get(metadata.jwks_uri().as_str()).await?;
        // A key of a kind we do not know must not hide the others.
        let keys = document.keys.into_iter().filter_map(|key| serde_json::from_value(key).ok());
        Ok(keys.filter_map(|key: Jwk| usable(&key)).collect())
    }
}

fn find(kept: &Kept, kid: Option<&str>) -> Option<PublicKey> {
    match kid {
        Some(kid) => kept.by_id.get(kid).cloned(),
        None if kept.by_id.len() == 1 => kept.by_id.values().next().cloned(),
        None => None,
    }
}

/// The key under its id, if it is an asymmetric signing key.
fn usable(jwk: &Jwk) -> Option<(String, PublicKey)> {
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
    Some((jwk.common.key_id.clone().unwrap_or_default(), PublicKey { key, algorithms }))
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
