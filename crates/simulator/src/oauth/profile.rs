//! The account's profile: the userinfo endpoint and the ID token.
//!
//! The ID token is signed with the simulator's own secret (HS256). Clients cannot verify it and should call userinfo
//! instead.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use poem::http::header;
use poem::{IntoResponse as _, Request, Response};
use serde_json::{Value, json};

use super::token::{ACCESS_SECONDS, Access, Claims};
use crate::error::ApiError;
use crate::state::{Shared, bearer};

const EMAIL: [&str; 2] = ["email", "https://www.googleapis.com/auth/userinfo.email"];
const PROFILE: [&str; 2] = ["profile", "https://www.googleapis.com/auth/userinfo.profile"];

/// `GET /userinfo`: `sub`, and the e-mail address and the name if their scopes were granted.
pub(crate) fn userinfo(shared: &Shared, request: &Request) -> Response {
    let header = request.headers().get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let Some(access) = header.and_then(bearer).and_then(|token| shared.oauth.access(&shared.accounts, token)) else {
        return ApiError::invalid_credentials().into_response();
    };
    if !["openid"].iter().chain(&EMAIL).chain(&PROFILE).any(|scope| access.has(scope)) {
        return ApiError::insufficient_scope().into_response();
    }
    poem::web::Json(about(&access)).into_response()
}

fn about(access: &Access) -> Value {
    let mut answer = json!({ "sub": access.account.subject });
    if EMAIL.iter().any(|scope| access.has(scope)) {
        answer["email"] = access.account.email().into();
        answer["email_verified"] = true.into();
    }
    if PROFILE.iter().any(|scope| access.has(scope)) {
        answer["name"] = access.account.name.into();
    }
    answer
}

/// An ID token for the account of `claims`.
pub(super) fn id_token(shared: &Shared, claims: &Claims, nonce: Option<&str>) -> String {
    let now = shared.oauth.seconds();
    let mut content = json!({
        "iss": "https://accounts.google.com",
        "aud": claims.client,
        "azp": claims.client,
        "sub": shared.accounts.find(&claims.account).map_or("", |account| account.subject),
        "email": format!("{}@demo.test", claims.account),
        "email_verified": true,
        "iat": now,
        "exp": now + ACCESS_SECONDS,
    });
    if let Some(nonce) = nonce {
        content["nonce"] = nonce.into();
    }
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", encode(&json!({ "alg": "HS256", "typ": "JWT" })), encode(&content));
    let signature = URL_SAFE_NO_PAD.encode(shared.oauth.mac(signed.as_bytes()));
    format!("{signed}.{signature}")
}
