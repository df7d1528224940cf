//! Verifies JWT access tokens (RFC 9068): signature, issuer, audience, time and structure.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use cached::{Cached as _, stores::LruCache};
use chrono::{DateTime, TimeDelta, Utc};
use common::scope::Scopes;
use common::{clock::Clock, plain_text};
use jsonwebtoken::{Algorithm, Validation};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::{
    AccessToken, Claims, Email, IssuerUnavailable,
    audience::Audience,
    introspection::Introspection,
    jwks::{Jwks, KeyError, PublicKeys},
};

/// The age beyond which a token is refused, unless the settings say otherwise.
pub const MAX_AGE: TimeDelta = TimeDelta::hours(24);
/// Allowed difference to the issuer's clock, for `exp`, `nbf` and `iat`.
pub const LEEWAY: TimeDelta = TimeDelta::seconds(5);
const MAX_TOKEN_BYTES: usize = 8 * 1024;
const MAX_ID_CHARS: usize = 255;
/// Maximum number of cached verified tokens, of at most 8 KiB each. The least recently used is dropped first.
const MAX_VERIFIED: usize = 4_096;

/// The reason why a token was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The token is invalid. The reason is for the log. Callers only get `invalid_token` (RFC 6750).
    #[error("invalid token: {0}")]
    Invalid(&'static str),
    /// The token is the issuer's, and for another resource.
    #[error("invalid token: another audience")]
    AnotherAudience,
    /// The token cannot be verified now because the issuer's keys, or its word on the token, are unavailable.
    #[error(transparent)]
    IssuerUnavailable(#[from] IssuerUnavailable),
}

/// Verifies the access tokens of one issuer.
#[derive(Clone)]
pub struct Verifier {
    issuer: String,
    people: String,
    keys: Jwks,
    clock: Clock,
    max_age: TimeDelta,
    introspection: Option<Introspection>,
    /// By the digest of the token.
    verified: Arc<Mutex<LruCache<[u8; 32], Arc<Verified>>>>,
}

/// The known header members. Unknown ones are ignored, as RFC 7515 requires. Dangerous ones are listed so that they can be
/// refused.
#[derive(Deserialize)]
struct Header {
    typ: String,
    alg: Algorithm,
    kid: Option<String>,
    crit: Option<serde_json::Value>,
    b64: Option<serde_json::Value>,
    jwk: Option<serde_json::Value>,
    jku: Option<serde_json::Value>,
    x5u: Option<serde_json::Value>,
    zip: Option<serde_json::Value>,
    enc: Option<serde_json::Value>,
}

#[derive(Clone, Deserialize)]
struct Body {
    iss: String,
    sub: String,
    aud: Audience,
    exp: f64,
    iat: f64,
    nbf: Option<f64>,
    auth_time: Option<f64>,
    jti: String,
    client_id: String,
    scope: Option<Words>,
    /// The scopes, as some issuers state them.
    scp: Option<Words>,
    email: Option<String>,
    email_verified: Option<bool>,
    /// A value of any type, since nobody is refused for their name.
    name: Option<serde_json::Value>,
    sightline_grant: Option<Uuid>,
    /// The grant type, as some issuers state it: text, or a list.
    gty: Option<serde_json::Value>,
    /// `app` for a token of an application, as other issuers state it.
    idtyp: Option<serde_json::Value>,
}

/// Words in one text, separated by spaces, or in a list.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Words {
    Text(String),
    List(Vec<String>),
}

impl Words {
    fn split(self) -> Vec<String> {
        match self {
            Self::Text(text) => text.split_ascii_whitespace().map(str::to_owned).collect(),
            Self::List(words) => words,
        }
    }
}

/// A token with a valid signature, and the claims that are checked at each request.
struct Verified {
    token: Arc<AccessToken>,
    audience: Audience,
    not_before: Option<DateTime<Utc>>,
    kid: Option<String>,
    keys: Arc<PublicKeys>,
}

impl Verifier {
    /// Verifies tokens of the issuer of `keys`.
    #[must_use]
    pub fn new(keys: Jwks, clock: Clock) -> Self {
        let verified = Mutex::new(LruCache::new(MAX_VERIFIED));
        let (issuer, people) = (keys.issuer().url().to_owned(), keys.issuer().people().to_owned());
        Self { issuer, people, keys, clock, max_age: MAX_AGE, introspection: None, verified: Arc::new(verified) }
    }

    /// Returns the verifier with another age beyond which a token is refused.
    #[must_use]
    pub fn with_max_age(self, max_age: TimeDelta) -> Self {
        Self { max_age, ..self }
    }

    /// Returns the verifier with questions to the issuer about tokens that are otherwise valid.
    #[must_use]
    pub fn with_introspection(self, introspection: Option<Introspection>) -> Self {
        Self { introspection, ..self }
    }

    /// Returns whether the signature of `token` was verified before, and it has not expired. Asks nobody.
    #[must_use]
    pub fn knows(&self, token: &str) -> bool {
        let digest: [u8; 32] = Sha256::digest(token).into();
        let now = self.clock.now();
        self.verified().cache_get(&digest).is_some_and(|known| now < known.token.expires_at)
    }

    /// Forgets the tokens of a person.
    pub fn forget(&self, issuer: &str, subject: &str) {
        let is_theirs = |known: &Verified| known.token.claims.issuer == issuer && known.token.claims.subject == subject;
        self.verified().retain(|_, known| !is_theirs(known));
    }

    /// Verifies `token` for the resource with the identifier `audience`. Revocations here are checked elsewhere, those
    /// at the issuer if it is asked. A signature is verified once, as long as the token's key stays in the issuer's key set.
    pub async fn verify(&self, token: &str, audience: &str) -> Result<Arc<AccessToken>, TokenError> {
        let digest = Sha256::digest(token).into();
        let known = self.verified().cache_get(&digest).cloned();
        let verified = match known {
            Some(known) if Arc::ptr_eq(&known.keys, &self.key(known.kid.as_deref()).await?) => known,
            _ => {
                let verified = Arc::new(self.verify_signature(token, digest).await?);
                self.verified().cache_set(digest, verified.clone());
                verified
            }
        };
        self.judge(&verified, audience)?;
        if let Some(introspection) = &self.introspection
            && let Some(reason) = introspection.refusal(token, &verified.token, audience).await?
        {
            return Err(TokenError::Invalid(reason));
        }
        Ok(verified.token.clone())
    }

    async fn verify_signature(&self, token: &str, digest: [u8; 32]) -> Result<Verified, TokenError> {
        let header = header_of(token)?;
        let keys = self.key(header.kid.as_deref()).await?;
        let key = keys.of(header.alg).ok_or(TokenError::Invalid("algorithm is not the key's"))?;
        let verified = jsonwebtoken::decode::<Body>(token, key, &signature_only(header.alg));
        let body = verified.map_err(|_| TokenError::Invalid("signature or shape of the claims"))?.claims;
        if body.iss != self.issuer {
            return Err(TokenError::Invalid("another issuer"));
        }
        let (issued_at, expires_at) = (instant(body.iat)?, instant(body.exp)?);
        let not_before = body.nbf.map(instant).transpose()?;
        let auth_time = body.auth_time.map(instant).transpose()?;
        if !is_of_a_person(&body) {
            return Err(TokenError::Invalid("belongs to a client, not to a person"));
        }
        let is_id = |id: &str| !id.is_empty() && id.len() <= MAX_ID_CHARS && plain_text::is_line(id);
        if ![&body.sub, &body.jti, &body.client_id].into_iter().all(|id| is_id(id)) {
            return Err(TokenError::Invalid("an identifier is empty, too long or holds control characters"));
        }
        let audience = body.aud.clone();
        let token = Arc::new(accepted(body, &self.people, digest, Times { issued_at, expires_at, auth_time }));
        Ok(Verified { token, audience, not_before, kid: header.kid, keys })
    }

    async fn key(&self, kid: Option<&str>) -> Result<Arc<PublicKeys>, TokenError> {
        self.keys.key(kid).await.map_err(|error| match error {
            KeyError::Unknown => TokenError::Invalid("unknown signing key"),
            KeyError::Unavailable(error) => error.into(),
        })
    }

    /// Checks audience and time.
    fn judge(&self, verified: &Verified, audience: &str) -> Result<(), TokenError> {
        if !verified.audience.names(audience) {
            return Err(TokenError::AnotherAudience);
        }
        let now = self.clock.now();
        if now >= verified.token.expires_at + LEEWAY {
            return Err(TokenError::Invalid("expired"));
        }
        if verified.not_before.is_some_and(|not_before| now + LEEWAY < not_before) {
            return Err(TokenError::Invalid("not valid yet"));
        }
        if now + LEEWAY < verified.token.issued_at {
            return Err(TokenError::Invalid("issued in the future"));
        }
        if verified.token.issued_at + self.max_age + LEEWAY < now {
            return Err(TokenError::Invalid("issued too long ago"));
        }
        Ok(())
    }

    fn verified(&self) -> MutexGuard<'_, LruCache<[u8; 32], Arc<Verified>>> {
        self.verified.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns whether the token was issued for a person. Issuers also give tokens to clients themselves, with the client as the
/// subject (RFC 9068 section 5).
fn is_of_a_person(body: &Body) -> bool {
    let is_client = body.sub.strip_suffix("@clients").unwrap_or(&body.sub) == body.client_id;
    let of_client = |grant: &serde_json::Value| grant == "client-credentials" || grant == "client_credentials";
    let by_client = body.gty.as_ref().is_some_and(|grants| match grants.as_array() {
        Some(grants) => grants.iter().any(of_client),
        None => of_client(grants),
    });
    !is_client && !by_client && body.idtyp.as_ref().is_none_or(|kind| kind != "app")
}

/// The times that a token states, in whole seconds.
#[derive(Clone, Copy)]
struct Times {
    issued_at: DateTime<Utc>,
    expires_at: DateTime<Utc>,
    auth_time: Option<DateTime<Utc>>,
}

fn accepted(body: Body, people: &str, digest: [u8; 32], times: Times) -> AccessToken {
    let Times { issued_at, expires_at, auth_time } = times;
    let email = body.email.zip(body.email_verified).and_then(|(address, verified)| Email::stated(&address, verified));
    let words = [body.scope, body.scp].into_iter().flatten().flat_map(Words::split);
    let scopes: Vec<String> = words.filter(|word| plain_text::is_line(word)).collect();
    let name = body.name.as_ref().and_then(serde_json::Value::as_str).and_then(plain_text::name);
    AccessToken {
        claims: Claims { issuer: people.to_owned(), subject: body.sub, email, name, issued_at, auth_time },
        id: body.jti,
        digest,
        client_id: body.client_id,
        rights: Scopes::asked(scopes.iter().map(String::as_str)),
        scopes,
        issued_at,
        expires_at,
        grant_id: body.sightline_grant,
    }
}

/// Returns the header of a token of valid size and structure: three parts, `at+jwt`, and no member that names its own key.
fn header_of(token: &str) -> Result<Header, TokenError> {
    if token.len() > MAX_TOKEN_BYTES {
        return Err(TokenError::Invalid("too long"));
    }
    let mut parts = token.split('.');
    let (Some(header), Some(_), Some(signature), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return Err(TokenError::Invalid("not three parts"));
    };
    if signature.is_empty() {
        return Err(TokenError::Invalid("no signature"));
    }
    let decoded = URL_SAFE_NO_PAD.decode(header).map_err(|_| TokenError::Invalid("header is not base64url"))?;
    let header: Header = serde_json::from_slice(&decoded).map_err(|_| TokenError::Invalid("header"))?;
    let hostile = [&header.crit, &header.b64, &header.jwk, &header.jku, &header.x5u, &header.zip, &header.enc];
    if hostile.iter().any(|member| member.is_some()) {
        return Err(TokenError::Invalid("header member that is not allowed"));
    }
    let media_type = header.typ.to_ascii_lowercase();
    if media_type != "at+jwt" && media_type != "application/at+jwt" {
        return Err(TokenError::Invalid("not an access token"));
    }
    if header.kid.as_ref().is_some_and(|kid| kid.len() > MAX_ID_CHARS) {
        return Err(TokenError::Invalid("key id too long"));
    }
    Ok(header)
}

/// Checks the signature only. jsonwebtoken would read the system's clock, so times, issuer and audience are checked here.
pub(super) fn signature_only(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation
}

fn instant(seconds: f64) -> Result<DateTime<Utc>, TokenError> {
    instant_of(seconds).ok_or(TokenError::Invalid("time out of range"))
}

/// Converts a `NumericDate` (RFC 7519): seconds since 1970. Fractions are allowed and truncated. `None` before 1970 and after 9999.
pub(super) fn instant_of(seconds: f64) -> Option<DateTime<Utc>> {
    const YEAR_9999: f64 = 253_402_300_799.0;
    if !(0.0..=YEAR_9999).contains(&seconds) {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "within range, and whole seconds are wanted")]
    let whole = seconds as i64;
    DateTime::from_timestamp(whole, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An address counts if the issuer says whether it is verified. A `false` must be kept, because it withdraws an earlier
    /// `true`.
    #[test]
    fn an_address_comes_with_what_the_issuer_says_of_it() {
        for (said, expected) in [
            (serde_json::json!({}), None),
            (serde_json::json!({ "email": "ann@test.example" }), None),
            (serde_json::json!({ "email_verified": true }), None),
            (serde_json::json!({ "email": "ann@test.example", "email_verified": true }), Some(true)),
            (serde_json::json!({ "email": "ann@test.example", "email_verified": false }), Some(false)),
        ] {
            let mut body = serde_json::json!({
                "iss": "i", "sub": "s", "aud": "a", "exp": 1, "iat": 0, "jti": "j", "client_id": "c",
            });
            body.as_object_mut().unwrap().extend(said.as_object().unwrap().clone());
            let epoch = DateTime::UNIX_EPOCH;
            let times = Times { issued_at: epoch, expires_at: epoch, auth_time: None };
            let token = accepted(serde_json::from_value(body).unwrap(), "embedded", [0; 32], times);
            assert_eq!(token.claims.email.as_ref().map(|email| email.verified), expected, "{said}");
        }
    }
}
