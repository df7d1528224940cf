//! The security schemes, and the URLs of the server and its OAuth endpoints.

use serde_json::{Value, json};

use super::{Locations, each_operation};
use crate::operation::Access;

/// Name of the session cookie.
pub const SESSION_COOKIE: &str = "sightline_session";

/// Adds the security schemes: OAuth 2.0, a plain bearer token for clients without OAuth, and the session cookie. Each
/// is an alternative to the others.
pub fn document_schemes(document: &mut Value) {
    document["components"]["securitySchemes"] = json!({
        "oauth2": {
            "type": "oauth2",
            "description": "Authorization code with PKCE (S256). Public clients are allowed.",
            "flows": { "authorizationCode": {
                "authorizationUrl": "/oauth/authorize",
                "tokenUrl": "/oauth/token",
                "refreshUrl": "/oauth/token",
                "scopes": {
                    "openid": "Sign in",
                    "profile": "Name",
                    "email": "E-mail address",
                    "offline_access": "Stay signed in with a refresh token",
                },
            } },
        },
        "bearer": {
            "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
            "description": "The same access token, for clients without OAuth.",
        },
        "session": {
            "type": "apiKey", "in": "cookie", "name": SESSION_COOKIE,
            "description": "The web app's session; not for agents. On https its name has the prefix `__Host-`.",
        },
    });
    each_operation(document, |operation, object| {
        let security = match operation.access {
            Access::SessionOrOauth => json!([{ "oauth2": ["openid"] }, { "bearer": [] }, { "session": [] }]),
            Access::Public | Access::ShareToken => json!([]),
        };
        object.insert("security".to_owned(), security);
    });
}

/// Sets the URLs of the server and the OAuth endpoints.
pub fn locate(document: &mut Value, locations: &Locations) {
    document["servers"] = json!([{ "url": locations.server, "description": "This deployment" }]);
    let flow = &mut document["components"]["securitySchemes"]["oauth2"]["flows"]["authorizationCode"];
    flow["authorizationUrl"] = json!(locations.authorization_url);
    flow["tokenUrl"] = json!(locations.token_url);
    flow["refreshUrl"] = json!(locations.token_url);
}
