//! The ID token of a provider (`OpenID` Connect Core section 2). Only the claims that the service uses are read, each as leniently as is
//! safe: a claim that nobody uses never keeps anybody out.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, SubsecRound as _, TimeDelta, Utc};
use common::{digest::same, mail_address, plain_text};
use jsonwebtoken::Algorithm;
use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256, Sha384, Sha512};
use uuid::Uuid;

use super::{
    IssuerUnavailable,
    jwks::{Jwks, KeyError},
    token::{instant_of, signature_only},
};

/// The time by which the clocks of two servers may differ. The nonce already binds the token to one attempt.
const LEEWAY: TimeDelta = TimeDelta::seconds(60);
const MAX_BYTES: usize = 64 * 1024;

/// An e-mail address as an issuer states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedAddress {
    /// The address.
    pub address: String,
    /// True if the issuer has verified it. `None` if the issuer does not say.
    pub verified: Option<bool>,
}

/// The reason why a token's signature was not verified.
#[derive(Debug)]
pub(super) enum Unverified {
    /// It is wrong.
    Refused(String),
    /// The provider's keys are not known.
    Unavailable(IssuerUnavailable),
}

/// The demands on an ID token.
pub(super) struct Expected<'a> {
    /// The provider.
    pub issuer: &'a str,
    /// The service's client at the provider.
    pub client_id: &'a str,
    /// Further audiences that a token for this client may have.
    pub trusted_audiences: &'a [String],
    /// The nonce of the attempt.
    pub nonce: &'a str,
    /// The access token that came with it.
    pub access_token: &'a str,
}

/// A person as a provider describes them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Profile {
    pub subject: String,
    pub address: Option<StatedAddress>,
    pub name: Option<String>,
}

/// The content of a verified ID token.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct IdToken {
    pub profile: Profile,
    pub session: Option<Uuid>,
    pub issued_at: DateTime<Utc>,
    pub auth_time: Option<DateTime<Utc>>,
}

/// The claims of a token whose signature is verified, and the algorithm of the signature.
pub(super) struct Signed {
    pub claims: Map<String, Value>,
    algorithm: Algorithm,
}

/// Verifies the signature of a JWT of the provider.
pub(super) async fn signed(keys: &Jwks, token: &str) -> Result<Signed, Unverified> {
    if token.len() > MAX_BYTES {
        return Err(refused("it is longer than 64 KiB"));
    }
    let header =
        jsonwebtoken::decode_header(token).map_err(|error| refused(format!("its header cannot be read: {error}")))?;
    let keys = keys.key(header.kid.as_deref()).await.map_err(|error| match error {
        KeyError::Unknown => refused("the provider has no such key"),
        KeyError::Unavailable(away) => Unverified::Unavailable(away),
    })?;
    let of_another = || refused(format!("{:?} is not an algorithm of its key", header.alg));
    let key = keys.of(header.alg).ok_or_else(of_another)?;
    let decoded = jsonwebtoken::decode::<Map<String, Value>>(token, key, &signature_only(header.alg));
    let claims = decoded.map_err(|error| refused(error.to_string()))?.claims;
    Ok(Signed { claims, algorithm: header.alg })
}

impl IdToken {
    /// Reads a token, and holds it against what is expected.
    ///
    /// # Errors
    /// Names the first claim that is wrong.
    pub fn read(signed: &Signed, expected: &Expected<'_>, now: DateTime<Utc>) -> Result<Self, String> {
        let claims = &signed.claims;
        if claims.get("iss").and_then(Value::as_str) != Some(expected.issuer) {
            return Err("iss: another issuer".to_owned());
        }
        check_audience(claims, expected)?;
        let issued_at = time(claims, "iat")?.ok_or("iat: missing")?;
        let expires_at = time(claims, "exp")?.ok_or("exp: missing")?;
        let (not_before, auth_time) = (time(claims, "nbf")?, time(claims, "auth_time")?);
        for (claim, at) in [("iat", Some(issued_at)), ("nbf", not_before), ("auth_time", auth_time)] {
            if let Some(ahead) = at.map(|at| at - now).filter(|ahead| *ahead > LEEWAY) {
                return Err(format!("{claim}: {} seconds ahead of this clock", ahead.num_seconds()));
            }
        }
        if now - expires_at >= LEEWAY {
            return Err(format!("exp: {} seconds ago", (now - expires_at).num_seconds()));
        }
        if !claims.get("nonce").and_then(Value::as_str).is_some_and(|nonce| same(nonce, expected.nonce)) {
            return Err("nonce: another one than was sent".to_owned());
        }
        let digest = claims.get("at_hash").filter(|value| !value.is_null());
        if digest
            .is_some_and(|digest| digest.as_str() != half_digest(signed.algorithm, expected.access_token).as_deref())
        {
            return Err("at_hash: of another access token".to_owned());
        }
        let session = claims.get("sid").and_then(Value::as_str).and_then(|sid| Uuid::try_parse(sid).ok());
        Ok(Self { profile: Profile::read(claims)?, session, issued_at, auth_time })
    }
}

impl Profile {
    /// Reads the claims about a person.
    ///
    /// # Errors
    /// There is no subject.
    pub fn read(claims: &Map<String, Value>) -> Result<Self, String> {
        let subject = match claims.get("sub") {
            Some(Value::String(text)) => text.clone(),
            // Some providers number people.
            Some(Value::Number(number)) if number.is_u64() => number.to_string(),
            _ => return Err("sub: missing, or no text".to_owned()),
        };
        if subject.is_empty() || !plain_text::is_line(&subject) {
            return Err("sub: empty, or with control characters".to_owned());
        }
        let text = |claim: &str| claims.get(claim).and_then(Value::as_str);
        let address = text("email").filter(|address| mail_address::is_visible(address));
        let verified = verified(claims.get("email_verified"));
        let address = address.map(|address| StatedAddress { address: address.to_owned(), verified });
        Ok(Self { subject, address, name: text("name").and_then(plain_text::name) })
    }
}

/// Reads `email_verified`. Some providers send it as text. A value that cannot be read verifies nothing.
fn verified(value: Option<&Value>) -> Option<bool> {
    match value {
        None | Some(Value::Null) => None,
        Some(Value::Bool(verified)) => Some(*verified),
        Some(Value::String(text)) => Some(text.eq_ignore_ascii_case("true")),
        Some(_) => Some(false),
    }
}

/// Checks `aud` and `azp`: the token is for this client. Each further audience is trusted, or `azp` names this client.
fn check_audience(claims: &Map<String, Value>, expected: &Expected<'_>) -> Result<(), String> {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let audiences: Vec<String> = match claims.get("aud") {
        Some(Value::Array(many)) => many.iter().map(text).collect(),
        one => one.map(text).into_iter().collect(),
    };
    let is_own = |audience: &String| audience == expected.client_id;
    if !audiences.iter().any(is_own) {
        return Err("aud: another client".to_owned());
    }
    let party = claims.get("azp").filter(|party| !party.is_null());
    if party.is_some_and(|party| party.as_str() != Some(expected.client_id)) {
        return Err("azp: another client".to_owned());
    }
    let is_trusted = |audience: &String| is_own(audience) || expected.trusted_audiences.contains(audience);
    if party.is_none() && !audiences.iter().all(is_trusted) {
        return Err("aud: another audience that is not trusted, without azp".to_owned());
    }
    Ok(())
}

/// Reads a time in Unix seconds, a number or its text.
fn time(claims: &Map<String, Value>, claim: &str) -> Result<Option<DateTime<Utc>>, String> {
    let seconds = match claims.get(claim) {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Number(number)) => number.as_f64(),
        Some(Value::String(text)) => text.parse().ok(),
        Some(_) => None,
    };
    let at = seconds.and_then(instant_of).ok_or_else(|| format!("{claim}: no time in seconds"))?;
    Ok(Some(at.trunc_subsecs(0)))
}

/// Returns the `at_hash` of an access token (`OpenID` Connect Core section 3.1.3.6). `None` for an algorithm for which none is defined.
fn half_digest(algorithm: Algorithm, token: &str) -> Option<String> {
    use Algorithm::{ES256, ES384, PS256, PS384, PS512, RS256, RS384, RS512};
    let digest = match algorithm {
        RS256 | PS256 | ES256 => Sha256::digest(token).to_vec(),
        RS384 | PS384 | ES384 => Sha384::digest(token).to_vec(),
        RS512 | PS512 | Algorithm::EdDSA => Sha512::digest(token).to_vec(),
        _ => return None,
    };
    Some(URL_SAFE_NO_PAD.encode(&digest[..digest.len() / 2]))
}

fn refused(reason: impl std::fmt::Display) -> Unverified {
    Unverified::Refused(reason.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const NOW: i64 = 1_790_000_000;

    /// Reads a good token of Ann with these claims in place of its own.
    fn read(changes: &Value) -> Result<IdToken, String> {
        let mut claims = json!({
            "iss": "https://id.example", "sub": "ann", "aud": "web", "nonce": "n", "iat": NOW, "exp": NOW + 600,
            "email": "ann@corp.test", "email_verified": true, "name": "Ann",
        });
        claims.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        claims.as_object_mut().unwrap().retain(|_, value| value != "absent");
        let trusted = ["console".to_owned()];
        let expected = Expected {
            issuer: "https://id.example",
            client_id: "web",
            trusted_audiences: &trusted,
            nonce: "n",
            access_token: "jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y",
        };
        let signed = Signed { claims: claims.as_object().unwrap().clone(), algorithm: Algorithm::RS256 };
        IdToken::read(&signed, &expected, DateTime::from_timestamp(NOW, 0).unwrap())
    }

    #[test]
    fn claims_that_nobody_uses_keep_nobody_out() {
        let ann = read(&json!({})).unwrap();
        for claims in [
            json!({ "address": [] }),
            json!({ "address": "Main Street" }),
            json!({ "updated_at": "2026-01-01T00:00:00Z" }),
            json!({ "updated_at": null, "birthdate": 7, "gender": [], "locale": {}, "zoneinfo": false }),
            json!({ "phone_number_verified": "yes", "picture": 1, "given_name": {}, "groups": "all" }),
            json!({ "auth_time": null, "nbf": null, "azp": null, "acr": 1, "amr": "pwd", "at_hash": null }),
            json!({ "email_verified": "true" }),
            json!({ "email_verified": "True" }),
            json!({ "iat": NOW.to_string(), "exp": (NOW + 600).to_string() }),
            json!({ "iat": NOW as f64 + 0.4 }),
            json!({ "sid": 7 }),
            json!({ "aud": ["web"] }),
            json!({ "aud": ["web", 290], "azp": "web" }),
            json!({ "aud": ["web", "290"], "azp": "web" }),
            json!({ "aud": ["console", "web"] }),
            json!({ "at_hash": "77QmUPtjPfzWtF2AnpK9RQ" }),
        ] {
            assert_eq!(read(&claims).as_ref(), Ok(&ann), "{claims}");
        }
        assert_eq!(read(&json!({ "sub": 7 })).unwrap().profile.subject, "7");
        assert_eq!(read(&json!({ "name": ["Ann"] })).unwrap().profile.name, None);
        for nameless in [
            json!({ "email": 7 }),
            json!({ "email": null }),
            json!({ "email": "a\nb@corp.test" }),
            json!({ "email": "a\u{200b}b@corp.test" }),
        ] {
            assert_eq!(read(&nameless).unwrap().profile.address, None, "{nameless}");
        }
        for (value, verified) in [
            (json!("absent"), None),
            (json!(null), None),
            (json!("false"), Some(false)),
            (json!("yes"), Some(false)),
            (json!(1), Some(false)),
            (json!([true]), Some(false)),
        ] {
            let read = read(&json!({ "email_verified": value })).unwrap();
            assert_eq!(read.profile.address.unwrap().verified, verified, "{value}");
        }
    }

    #[test]
    fn clocks_may_differ_by_a_minute() {
        for claim in ["iat", "nbf", "auth_time"] {
            assert!(read(&json!({ claim: NOW + 60 })).is_ok(), "{claim}");
            let error = read(&json!({ claim: NOW + 75 })).unwrap_err();
            assert_eq!(error, format!("{claim}: 75 seconds ahead of this clock"));
        }
        assert!(read(&json!({ "exp": NOW - 59 })).is_ok());
        assert_eq!(read(&json!({ "exp": NOW - 90 })).unwrap_err(), "exp: 90 seconds ago");
    }

    #[test]
    fn a_claim_that_counts_is_refused_by_its_name() {
        for (claims, named) in [
            (json!({ "iss": "https://id.example/" }), "iss"),
            (json!({ "iss": ["https://id.example"] }), "iss"),
            (json!({ "sub": "" }), "sub"),
            (json!({ "sub": "a\nb" }), "sub"),
            (json!({ "sub": null }), "sub"),
            (json!({ "sub": ["ann"] }), "sub"),
            (json!({ "sub": 1.5 }), "sub"),
            (json!({ "aud": "other" }), "aud"),
            (json!({ "aud": [] }), "aud"),
            (json!({ "aud": ["web", "290"] }), "aud"),
            (json!({ "aud": ["web", 290] }), "aud"),
            (json!({ "aud": { "web": 1 } }), "aud"),
            (json!({ "aud": "web", "azp": "other" }), "azp"),
            (json!({ "aud": "web", "azp": ["web"] }), "azp"),
            (json!({ "aud": ["web", "console"], "azp": "console" }), "azp"),
            (json!({ "nonce": "other" }), "nonce"),
            (json!({ "nonce": "absent" }), "nonce"),
            (json!({ "iat": "absent" }), "iat"),
            (json!({ "iat": "yesterday" }), "iat"),
            (json!({ "exp": null }), "exp"),
            (json!({ "exp": {} }), "exp"),
            (json!({ "auth_time": "2026-01-01" }), "auth_time"),
            (json!({ "at_hash": "77QmUPtjPfzWtF2AnpK9RA" }), "at_hash"),
            (json!({ "at_hash": 7 }), "at_hash"),
        ] {
            let error = read(&claims).unwrap_err();
            assert!(error.starts_with(&format!("{named}: ")), "{claims}: {error}");
        }
    }
}
