//! The issuer's public keys (RFC 7517), cached.
//!
//! Known keys stay in use while they are fetched again. An unknown key id triggers a request to the issuer, at most once per
//! interval. Only the caller with that key id waits for it, so invented key ids delay nobody else.

use std::{collections::HashMap, sync::Arc, time::Duration};

use chrono::TimeDelta;
use common::clock::Clock;
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

/// Age after which keys are fetched again. A withdrawn key is dropped by that fetch.
const FRESH_FOR: TimeDelta = TimeDelta::minutes(15);
/// Age after which keys have not been used for a while. The first caller then waits for a fetch, which tells whether they
/// are still valid.
const OVERDUE: TimeDelta = TimeDelta::minutes(30);
/// Maximum age of keys without a response from the issuer.
const MAX_AGE: TimeDelta = TimeDelta::hours(24);
/// Minimum time between requests for unknown key ids.
const UNKNOWN_KEY_INTERVAL: TimeDelta = TimeDelta::seconds(30);
/// The members of a key that are used.
const MEMBERS: [&str; 9] = ["kty", "use", "alg", "kid", "n", "e", "crv", "x", "y"];
/// Those that are numbers in base64url.
const NUMBERS: [&str; 4] = ["n", "e", "x", "y"];

/// The public keys of one id, each with its allowed algorithms, which never come from a token. Some issuers list a key once for each
/// algorithm, and keys of different types may share an id (RFC 7517 section 4.5).
pub struct PublicKeys(Vec<(DecodingKey, Vec<Algorithm>)>);

impl PublicKeys {
    /// Returns the key for signatures with `algorithm`.
    #[must_use]
    pub fn of(&self, algorithm: Algorithm) -> Option<&DecodingKey> {
        self.0.iter().find(|(_, algorithms)| algorithms.contains(&algorithm)).map(|(key, _)| key)
    }
}

/// The reason why no key was returned.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// The issuer has no such key.
    #[error("unknown key id")]
    Unknown,
    /// The issuer could not be reached.
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
    by_id: HashMap<String, Arc<PublicKeys>>,
}

impl Jwks {
    /// The keys of `issuer`. Sends no request.
    #[must_use]
    pub fn new(issuer: Issuer, clock: Clock) -> Self {
        Self { issuer, keys: Reading::new(clock) }
    }

    /// The issuer of the keys.
    #[must_use]
    pub fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    /// Returns the keys with id `kid`, or without one those of the issuer's only id. Each fetch of the key set creates new [`Arc`]s.
    /// A signature that was verified with an older `Arc` must be verified again.
    pub async fn key(&self, kid: Option<&str>) -> Result<Arc<PublicKeys>, KeyError> {
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

    fn kept(&self) -> Option<(TimeDelta, Arc<KeySet>)> {
        self.keys.kept().filter(|(age, _)| *age < MAX_AGE)
    }

    /// Returns the known keys. If there are none, all callers wait for the same fetch.
    async fn first(&self) -> Result<Arc<KeySet>, IssuerUnavailable> {
        if let Some((_, keys)) = self.kept() {
            return Ok(keys);
        }
        match self.begin(SHORT_WAIT) {
            Attempt::Begun(outcome) | Attempt::UnderWay(outcome) => outcome.await,
            Attempt::Failed(error) => Err(error),
        }
    }

    /// Returns a known key that may have been withdrawn. It stays valid until the issuer says otherwise. In an outage only
    /// the first caller waits.
    async fn refreshed(
        &self,
        key: Arc<PublicKeys>,
        kid: Option<&str>,
        overdue: bool,
    ) -> Result<Arc<PublicKeys>, KeyError> {
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
    fn find(&self, kid: Option<&str>) -> Option<Arc<PublicKeys>> {
        match kid {
            Some(kid) => self.by_id.get(kid).cloned(),
            None if self.by_id.len() == 1 => self.by_id.values().next().cloned(),
            None => None,
        }
    }
}

async fn fetch(issuer: &Issuer) -> Result<KeySet, IssuerUnavailable> {
    let metadata = issuer.metadata().await?;
    let document: Value = issuer.get(metadata.jwks_uri.as_str()).await?;
    let listed =
        document["keys"].as_array().ok_or_else(|| IssuerUnavailable("its key set holds no keys".to_owned()))?;
    let mut by_id: HashMap<String, PublicKeys> = HashMap::new();
    for (id, key, algorithms) in listed.iter().filter_map(usable) {
        by_id.entry(id).or_insert_with(|| PublicKeys(Vec::new())).0.push((key, algorithms));
    }
    Ok(KeySet { by_id: by_id.into_iter().map(|(id, keys)| (id, Arc::new(keys))).collect() })
}

/// Returns the id, the key and its algorithms if it is an asymmetric signing key. One of an unknown type hides no other, and no member that
/// is not used here hides a key. Some issuers pad the numbers.
fn usable(listed: &Value) -> Option<(String, DecodingKey, Vec<Algorithm>)> {
    let mut members = listed.as_object()?.clone();
    members.retain(|name, _| MEMBERS.contains(&name.as_str()));
    for name in NUMBERS {
        if let Some(Value::String(number)) = members.get_mut(name) {
            number.truncate(number.trim_end_matches('=').len());
        }
    }
    let jwk: Jwk = serde_json::from_value(members.into()).ok()?;
    if jwk.common.public_key_use.as_ref().is_some_and(|usage| *usage != PublicKeyUse::Signature) {
        return None;
    }
    let suitable = algorithms_of(&jwk.algorithm);
    let algorithms: Vec<_> = match jwk.common.key_algorithm {
        Some(named) => suitable.iter().copied().filter(|algorithm| KeyAlgorithm::from(*algorithm) == named).collect(),
        None => suitable.to_vec(),
    };
    if algorithms.is_empty() {
        return None;
    }
    let key = DecodingKey::from_jwk(&jwk).ok()?;
    Some((jwk.common.key_id.unwrap_or_default(), key, algorithms))
}

/// The allowed algorithms. None is symmetric, so a public key can never be used as a shared secret.
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
