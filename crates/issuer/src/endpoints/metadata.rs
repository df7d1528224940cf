//! The issuer's documents: discovery (`OpenID` Connect Discovery 1.0, RFC 8414) and the JWK set.

use poem::{Response, handler, web::Data};
use serde_json::{Value, json};

use super::{client_authentication, device_authorization};
use crate::{IdentityProvider, device_codes, response::OAuthError, scope};

/// Both well-known paths return the same document.
pub(super) fn discovery(provider: &IdentityProvider) -> Value {
    let issuer = provider.issuer();
    let mut document = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/oauth/authorize"),
        "token_endpoint": format!("{issuer}/oauth/token"),
        "device_authorization_endpoint": format!("{issuer}{}", device_authorization::PATH),
        "revocation_endpoint": format!("{issuer}/oauth/revoke"),
        "userinfo_endpoint": format!("{issuer}/oauth/userinfo"),
        "jwks_uri": format!("{issuer}/oauth/jwks"),
        "scopes_supported": scope::supported(),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token", device_codes::GRANT_TYPE],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": client_authentication::METHODS,
        "revocation_endpoint_auth_methods_supported": client_authentication::METHODS,
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"],
        "claims_supported": ["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "sid", "name", "email", "email_verified"],
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "authorization_response_iss_parameter_supported": true,
        "request_parameter_supported": false,
        "request_uri_parameter_supported": false,
        "claims_parameter_supported": false,
    });
    if provider.registration_is_open {
        document["registration_endpoint"] = format!("{issuer}/oauth/register").into();
    }
    if provider.documents.is_some() {
        document["client_id_metadata_document_supported"] = true.into();
    }
    document
}

/// The public keys. They may be cached for less time than a new key waits before it signs.
#[handler]
pub(super) async fn jwks(Data(provider): Data<&IdentityProvider>) -> Result<Response, OAuthError> {
    let keys = json!({ "keys": provider.keys.public().await? });
    let response = Response::builder().content_type("application/json").header("Cache-Control", "public, max-age=60");
    Ok(response.body(keys.to_string()))
}
