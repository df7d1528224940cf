//! The security schemes, and the URLs of the server and its OAuth endpoints.

use common::base_url::SESSION_COOKIE;
use serde_json::{Map, Value, json};

use super::{Locations, each_operation};
use crate::{operation::Access, scope::Scope};

/// The scopes of `OpenID` Connect, which every issuer knows.
const IDENTITY: [(&str, &str); 4] = [
    ("openid", "Sign in"),
    ("profile", "Name"),
    ("email", "E-mail address"),
    ("offline_access", "Stay signed in with a refresh token"),
];

/// Adds the security schemes: OAuth 2.0, a plain bearer token for clients without OAuth, and the session cookie. Each
/// is an alternative to the others.
pub fn document_schemes(document: &mut Value) {
    let own = Scope::ALL.map(|scope| (scope.as_str(), scope.description()));
    let scopes: Map<String, Value> =
        IDENTITY.into_iter().chain(own).map(|(scope, text)| (scope.to_owned(), text.into())).collect();
    document["components"]["securitySchemes"] = json!({
        "oauth2": {
            "type": "oauth2",
            "description": "Authorization code with PKCE (S256). Public clients are allowed. A token does what its scopes say, and no more \
                            than the person allows the client now; one for none of `search:read`, `records:write` and `account` has all three.",
            "flows": { "authorizationCode": {
                "authorizationUrl": "/oauth/authorize",
                "tokenUrl": "/oauth/token",
                "refreshUrl": "/oauth/token",
                "scopes": scopes,
            } },
        },
        "bearer": {
            "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
            "description": "The same access token, for clients without OAuth.",
        },
        "session": {
            "type": "apiKey", "in": "cookie", "name": SESSION_COOKIE,
            "description": "The web app's session; not for agents. On https its name has the prefix `__Host-`. It ends with the port, unless that is \
                            the scheme's own.",
        },
    });
    each_operation(document, |operation, object| {
        let security = match operation.access {
            Access::SessionOrOauth => {
                let scopes: Vec<&str> = operation.scope.map(Scope::as_str).into_iter().collect();
                json!([{ "oauth2": scopes }, { "bearer": [] }, { "session": [] }])
            }
            Access::Public | Access::ShareToken => json!([]),
        };
        object.insert("security".to_owned(), security);
    });
}

/// Sets the URLs of the server and the OAuth endpoints.
pub fn locate(document: &mut Value, locations: &Locations) {
    document["servers"] = match &locations.server {
        Some(url) => json!([{ "url": url, "description": "This deployment" }]),
        None => json!([{
            "url": "{baseUrl}",
            "description": "Your deployment, which serves this document at /openapi.json with its addresses filled in",
            "variables": { "baseUrl": {
                "default": "http://127.0.0.1:8080",
                "description": "The setting `base_url` of your deployment, without a slash at its end. The default is the demo on your machine.",
            } },
        }]),
    };
    let schemes = &mut document["components"]["securitySchemes"];
    schemes["session"]["name"] = json!(locations.session_cookie);
    let flow = &mut schemes["oauth2"]["flows"]["authorizationCode"];
    flow["authorizationUrl"] = json!(locations.authorization_url);
    flow["tokenUrl"] = json!(locations.token_url);
    flow["refreshUrl"] = json!(locations.token_url);
}
