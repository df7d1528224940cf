//! Verifies JWT access tokens (RFC 9068): signature, issuer, audience, time, shape, and what was revoked here.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, TimeDelta, Utc};
use jsonwebtoken::{Algorithm, Validation};
use sea_orm::{DatabaseConnection, DbErr};
use serde::Deserialize;
use uuid::Uuid;

use super::{
    AccessToken, Claims, Email, IssuerUnavailable,
    jwks::{Jwks, KeyError},
    revocation,
};
use crate::clock::Clock;

/// How far the issuer's clock may differ from ours, for `exp`, `nbf` and `iat`.
pub const LEEWAY: TimeDelta = TimeDelta::seconds(5);
const MAX_TOKEN_BYTES: usize = 8 * 1024;
const MAX_ID_CHARS: usize = 255;

/// Why a token was not accepted.
#[derive(Debug, thiserror::Error)]
pub enum TokenError {
    /// The token is not good. The reason is for the log: callers are told `invalid_token` and no more (RFC 6750).
    #[error("invalid token: {0}")]
    Invalid(&'static str),
    /// The token cannot be judged now because the issuer's keys cannot be read.
    #[error(transparent)]
    IssuerUnavailable(#[from] IssuerUnavailable),
    /// The token cannot be judged now because the database does not answer.
    #[error(transparent)]
    Database(#[from] DbErr),
}

/// Verifies the access tokens of one issuer.
#[derive(Clone)]
pub struct Verifier {
    issuer: String,
    keys: Jwks,
    db: DatabaseConnection,
    clock: Clock,
}

/// The header members we know. Unknown ones are ignored, as RFC 7515 asks; the hostile ones are named to be refused.
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
    jti: String,
    client_id: String,
    scope: Option<String>,
    email: Option<String>,
    email_verified: Option<bool>,
    name: Option<String>,
    sightline_grant: Option<Uuid>,
    /// The grant that it came from, as some issuers say it: text, or a list.
    gty: Option<serde_json::Value>,
    /// `app` for a token that stands for an application, as other issuers say it.
    idtyp: Option<serde_json::Value>,
}

#[derive(Clone, Deserialize)]
#[serde(untagged)]
enum Audience {
    One(String),
    Many(Vec<String>),
}

impl Verifier {
    /// Verifies tokens of the issuer of `keys` and asks `db` whether one was revoked.
    #[must_use]
    pub fn new(keys: Jwks, db: DatabaseConnection, clock: Clock) -> Self {
        Self { issuer: keys.issuer().url().to_owned(), keys, db, clock }
    }

    /// Accepts `token` for the surface whose identifier is `audience`, or says why not.
    pub async fn verify(&self, token: &str, audience: &str) -> Result<AccessToken, TokenError> {
        let header = header_of(token)?;
        let key = match self.keys.key(header.kid.as_deref()).await {
            Ok(key) => key,
            Err(KeyError::Unknown) => return Err(TokenError::Invalid("unknown signing key")),
            Err(KeyError::Unavailable(error)) => return Err(error.into()),
        };
        if !key.algorithms.contains(&header.alg) {
            return Err(TokenError::Invalid("algorithm is not the key's"));
        }
        let verified = jsonwebtoken::decode::<Body>(token, &key.key, &signature_only(header.alg));
        let body = verified.map_err(|_| TokenError::Invalid("signature or shape of the claims"))?.claims;
        let token = self.judge(body, audience)?;
        if revocation::is_revoked(&self.db, &token).await? {
            return Err(TokenError::Invalid("revoked"));
        }
        Ok(token)
    }

    /// The claims of a token whose signature is good.
    fn judge(&self, body: Body, audience: &str) -> Result<AccessToken, TokenError> {
        if body.iss != self.issuer {
            return Err(TokenError::Invalid("another issuer"));
        }
        let addressed = match &body.aud {
            Audience::One(one) => one == audience,
            Audience::Many(many) => many.iter().any(|one| one == audience),
        };
        if !addressed {
            return Err(TokenError::Invalid("another audience"));
        }
        let (now, expires_at, issued_at) = (self.clock.now(), instant(body.exp)?, instant(body.iat)?);
        if now >= expires_at + LEEWAY {
            return Err(TokenError::Invalid("expired"));
        }
        if let Some(not_before) = body.nbf
            && now + LEEWAY < instant(not_before)?
        {
            return Err(TokenError::Invalid("not valid yet"));
        }
        if now + LEEWAY < issued_at {
            return Err(TokenError::Invalid("issued in the future"));
        }
        if !is_of_a_person(&body) {
            return Err(TokenError::Invalid("stands for a client, not for a person"));
        }
        if [&body.sub, &body.jti, &body.client_id].iter().any(|id| id.is_empty() || id.len() > MAX_ID_CHARS) {
            return Err(TokenError::Invalid("an identifier is empty or too long"));
        }
        Ok(accepted(body, issued_at, expires_at))
    }
}

/// Whether a person stands behind a token. Issuers give clients tokens of their own, whose subject is the client (RFC 9068 section 5).
fn is_of_a_person(body: &Body) -> bool {
    let is_client = body.sub.strip_suffix("@clients").unwrap_or(&body.sub) == body.client_id;
    let of_client = |grant: &serde_json::Value| grant == "client-credentials" || grant == "client_credentials";
    let by_client = body.gty.as_ref().is_some_and(|grants| match grants.as_array() {
        Some(grants) => grants.iter().any(of_client),
        None => of_client(grants),
    });
    !is_client && !by_client && body.idtyp.as_ref().is_none_or(|kind| kind != "app")
}

fn accepted(body: Body, issued_at: DateTime<Utc>, expires_at: DateTime<Utc>) -> AccessToken {
    let email = body.email.zip(body.email_verified).map(|(address, verified)| Email { address, verified });
    AccessToken {
        claims: Claims { issuer: body.iss, subject: body.sub, email, name: body.name, issued_at },
        id: body.jti,
        client_id: body.client_id,
        scopes: body.scope.unwrap_or_default().split_ascii_whitespace().map(str::to_owned).collect(),
        issued_at,
        expires_at,
        grant_id: body.sightline_grant,
    }
}

/// The header of a token of acceptable size and shape: three parts, `at+jwt`, nothing that names its own key.
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
    let decoded = URL_SAFE_NO_PAD.decode(header).map_err(|_| TokenError::Invalid("header is no base64url"))?;
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

/// jsonwebtoken reads the system's clock; times are judged by ours instead, and issuer and audience beside them.
fn signature_only(algorithm: Algorithm) -> Validation {
    let mut validation = Validation::new(algorithm);
    validation.required_spec_claims.clear();
    validation.validate_exp = false;
    validation.validate_aud = false;
    validation
}

/// A `NumericDate` (RFC 7519): seconds since 1970, fractions allowed and cut off.
fn instant(seconds: f64) -> Result<DateTime<Utc>, TokenError> {
    const YEAR_9999: f64 = 253_402_300_799.0;
    if !(0.0..=YEAR_9999).contains(&seconds) {
        return Err(TokenError::Invalid("time out of range"));
    }
    #[expect(clippy::cast_possible_truncation, reason = "within range, and whole seconds are wanted")]
    let whole = seconds as i64;
    DateTime::from_timestamp(whole, 0).ok_or(TokenError::Invalid("time out of range"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An address counts where the issuer says whether it vouches for it. A `false` must get through: it takes back what an earlier
    /// token said.
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
            let token = accepted(serde_json::from_value(body).unwrap(), DateTime::UNIX_EPOCH, DateTime::UNIX_EPOCH);
            assert_eq!(token.claims.email.as_ref().map(|email| email.verified), expected, "{said}");
        }
    }
}
