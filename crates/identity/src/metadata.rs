//! The members of an issuer's discovery document.

use openidconnect::{AuthUrl, IssuerUrl, JsonWebKeySetUrl, TokenUrl, UserInfoUrl};
use serde::Deserialize;
use serde_json::{Map, Value};

/// A discovery document (`OpenID` Connect Discovery 1.0, RFC 8414), as far as it is used. Other members may be anything.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "Map<String, Value>")]
pub struct Metadata {
    /// The issuer.
    pub issuer: IssuerUrl,
    /// The keys that tokens are signed with.
    pub jwks_uri: JsonWebKeySetUrl,
    /// The address at which people sign in.
    pub authorization_endpoint: Option<AuthUrl>,
    /// The address at which codes are exchanged.
    pub token_endpoint: Option<TokenUrl>,
    /// The address of the claims about a person.
    pub userinfo_endpoint: Option<UserInfoUrl>,
    /// The address of token introspection (RFC 7662).
    pub introspection_endpoint: Option<String>,
    /// The ways in which a client proves its identity at the token endpoint. Empty if the document does not say.
    pub token_endpoint_auth_methods: Vec<String>,
}

/// The error for a member that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("{0}: must be a URL")]
pub struct BadMember(&'static str);

impl TryFrom<Map<String, Value>> for Metadata {
    type Error = BadMember;

    fn try_from(document: Map<String, Value>) -> Result<Self, BadMember> {
        let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let methods = document.get("token_endpoint_auth_methods_supported").and_then(Value::as_array);
        let methods = methods.into_iter().flatten().filter_map(Value::as_str);
        Ok(Self {
            issuer: IssuerUrl::new(text("issuer")).map_err(|_| BadMember("issuer"))?,
            jwks_uri: JsonWebKeySetUrl::new(text("jwks_uri")).map_err(|_| BadMember("jwks_uri"))?,
            authorization_endpoint: AuthUrl::new(text("authorization_endpoint")).ok(),
            token_endpoint: TokenUrl::new(text("token_endpoint")).ok(),
            userinfo_endpoint: UserInfoUrl::new(text("userinfo_endpoint")).ok(),
            introspection_endpoint: Some(text("introspection_endpoint")).filter(|endpoint| !endpoint.is_empty()),
            token_endpoint_auth_methods: methods.map(str::to_owned).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(changes: &Value) -> Result<Metadata, String> {
        let mut document = json!({
            "issuer": "https://id.example",
            "jwks_uri": "https://id.example/keys",
            "authorization_endpoint": "https://id.example/authorize",
            "token_endpoint": "https://id.example/token",
        });
        document.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        serde_json::from_value(document).map_err(|error| error.to_string())
    }

    #[test]
    fn members_that_are_not_used_may_be_anything() {
        for odd in [
            json!({ "op_policy_uri": "", "op_tos_uri": "", "service_documentation": "see our site" }),
            json!({ "registration_endpoint": "", "end_session_endpoint": null, "userinfo_endpoint": "" }),
            json!({ "claims_parameter_supported": "true", "request_parameter_supported": 1 }),
            json!({ "subject_types_supported": null, "response_types_supported": "code" }),
            json!({ "id_token_signing_alg_values_supported": {}, "scopes_supported": "openid" }),
            json!({ "token_endpoint_auth_methods_supported": "client_secret_post" }),
        ] {
            let document = read(&odd).unwrap();
            assert_eq!(document.token_endpoint.unwrap().as_str(), "https://id.example/token", "{odd}");
            assert!(document.userinfo_endpoint.is_none() && document.token_endpoint_auth_methods.is_empty(), "{odd}");
        }
        let listed = read(&json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt", 7, "none"] })).unwrap();
        assert_eq!(listed.token_endpoint_auth_methods, ["private_key_jwt", "none"]);
    }

    #[test]
    fn a_member_that_is_needed_is_named() {
        for (bad, said) in [
            (json!({ "issuer": "" }), "issuer: must be a URL"),
            (json!({ "issuer": 7 }), "issuer: must be a URL"),
            (json!({ "jwks_uri": null }), "jwks_uri: must be a URL"),
            (json!({ "jwks_uri": "/keys" }), "jwks_uri: must be a URL"),
        ] {
            assert_eq!(read(&bad).unwrap_err(), said, "{bad}");
        }
    }
}
