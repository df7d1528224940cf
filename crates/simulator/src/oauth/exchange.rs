//! The token and revocation endpoints.

use base64::{Engine as _, engine::general_purpose::STANDARD, engine::general_purpose::URL_SAFE_NO_PAD};
use poem::http::header;
use poem::{IntoResponse as _, Request, Response};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::token::{ACCESS_SECONDS, Claims, Kind, OAuth};
use super::{Refusal, pairs, parameter};
use crate::fault::FaultKind;
use crate::state::Shared;

type Form = [(String, String)];

/// `POST /token`.
pub(crate) fn token(shared: &Shared, request: &Request, body: &[u8]) -> Response {
    let form = pairs(body);
    let header = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let answer = client(header, &form).and_then(|client| match parameter(&form, "grant_type").as_deref() {
        Some("authorization_code") => from_code(shared, &client, &form),
        Some("refresh_token") if shared.controls.strikes(FaultKind::InvalidGrant) => Err(dead_grant()),
        Some("refresh_token") => refresh(shared, &client, &form),
        Some(_) => Err(Refusal::bad("unsupported_grant_type", "Invalid grant_type")),
        None => Err(missing("grant_type")),
    });
    answer.map_or_else(Refusal::into_response, |answer| {
        poem::web::Json(answer).with_header(header::CACHE_CONTROL, "no-store").into_response()
    })
}

/// The client id, from Basic credentials (form-encoded) or from the form. Any non-empty secret is accepted.
fn client(header: Option<&str>, form: &Form) -> Result<String, Refusal> {
    let basic = header.and_then(|header| header.strip_prefix("Basic ")).map(|encoded| {
        let text = STANDARD.decode(encoded.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok())?;
        let (id, secret) = text.split_once(':')?;
        let decode = |part: &str| pairs(format!("v={part}").as_bytes()).into_iter().next().map(|(_, value)| value);
        Some((decode(id)?, decode(secret)?))
    });
    let (id, secret) = if let Some(credentials) = basic {
        credentials.ok_or_else(invalid_client)?
    } else {
        let id = parameter(form, "client_id").ok_or_else(invalid_client)?;
        (
            id,
            parameter(form, "client_secret")
                .ok_or_else(|| Refusal::bad("invalid_request", "client_secret is missing."))?,
        )
    };
    if id.is_empty() || secret.is_empty() { Err(invalid_client()) } else { Ok(id) }
}

fn invalid_client() -> Refusal {
    Refusal::unauthorized("invalid_client", "The OAuth client was not found.")
}

fn missing(name: &str) -> Refusal {
    Refusal::bad("invalid_request", &format!("Missing required parameter: {name}"))
}

fn dead_grant() -> Refusal {
    Refusal::bad("invalid_grant", "Token has been expired or revoked.")
}

fn from_code(shared: &Shared, client: &str, form: &Form) -> Result<Value, Refusal> {
    let oauth = &shared.oauth;
    let code = parameter(form, "code").ok_or_else(|| missing("code"))?;
    let refuse = || Refusal::bad("invalid_grant", "Bad Request");
    let claims = oauth.open(Kind::Code, &code).ok_or_else(refuse)?;
    let details = claims.details.clone().ok_or_else(refuse)?;
    if parameter(form, "redirect_uri").as_deref() != Some(&details.redirect_uri) {
        return Err(Refusal::bad("redirect_uri_mismatch", "Bad Request"));
    }
    let verified = match (&details.challenge, parameter(form, "code_verifier")) {
        (Some(challenge), Some(verifier)) => URL_SAFE_NO_PAD.encode(Sha256::digest(verifier)) == *challenge,
        (challenge, verifier) => challenge.is_none() && verifier.is_none(),
    };
    if !verified {
        return Err(Refusal::bad("invalid_grant", "Invalid code verifier."));
    }
    if claims.client != client || !oauth.use_code(claims.grant) {
        return Err(refuse());
    }
    let mut answer = access_answer(oauth, &claims);
    if details.offline {
        answer["refresh_token"] = oauth.sign(&of_kind(&claims, Kind::Refresh, None)).into();
    }
    add_id_token(shared, &claims, details.nonce.as_deref(), &mut answer);
    Ok(answer)
}

fn refresh(shared: &Shared, client: &str, form: &Form) -> Result<Value, Refusal> {
    let oauth = &shared.oauth;
    let token = parameter(form, "refresh_token").ok_or_else(|| missing("refresh_token"))?;
    let claims = oauth.open(Kind::Refresh, &token).ok_or_else(dead_grant)?;
    if claims.client != client {
        return Err(Refusal::unauthorized("unauthorized_client", "Unauthorized"));
    }
    let mut answer = access_answer(oauth, &claims);
    if shared.controls.replaces_grants() {
        let next = Claims { issued: oauth.next_order(), ..claims.clone() };
        if !oauth.replace(&claims, next.issued) {
            oauth.end(&claims.client, &claims.account);
            return Err(dead_grant());
        }
        answer["refresh_token"] = oauth.sign(&next).into();
    }
    add_id_token(shared, &claims, None, &mut answer);
    Ok(answer)
}

fn of_kind(claims: &Claims, kind: Kind, expires: Option<i64>) -> Claims {
    Claims { kind, expires, details: None, ..claims.clone() }
}

fn access_answer(oauth: &OAuth, claims: &Claims) -> Value {
    let access = oauth.sign(&of_kind(claims, Kind::Access, Some(oauth.seconds() + ACCESS_SECONDS)));
    json!({ "access_token": access, "expires_in": ACCESS_SECONDS, "scope": claims.scope, "token_type": "Bearer" })
}

/// Adds an ID token if `openid` was granted.
fn add_id_token(shared: &Shared, claims: &Claims, nonce: Option<&str>, answer: &mut Value) {
    if claims.scope.split(' ').any(|scope| scope == "openid") {
        answer["id_token"] = super::profile::id_token(shared, claims, nonce).into();
    }
}

/// `POST /revoke`. The token may be in the form or in the query string. Ends all grants of its account to its client.
pub(crate) fn revoke(shared: &Shared, query: &str, body: &[u8]) -> Response {
    let token = parameter(&pairs(body), "token").or_else(|| parameter(&pairs(query.as_bytes()), "token"));
    let Some(token) = token else { return missing("token").into_response() };
    let oauth = &shared.oauth;
    let claims = oauth.open(Kind::Refresh, &token).or_else(|| oauth.open(Kind::Access, &token));
    let Some(claims) = claims else {
        return Refusal::bad("invalid_token", "Token expired or revoked").into_response();
    };
    oauth.end(&claims.client, &claims.account);
    poem::web::Json(json!({})).into_response()
}
