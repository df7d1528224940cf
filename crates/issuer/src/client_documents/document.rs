//! The content of a metadata document, and its rules.

use common::strict_json;
use serde_json::Value;

use super::Unreadable;
use crate::{
    client_metadata::{Checked, Metadata},
    clients::Client,
};

/// Members of a JWK that only the holder of a private or symmetric key has (RFC 7518 section 6).
const PRIVATE_MEMBERS: [&str; 8] = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/// Reads the document at the address `id`.
pub(super) fn read(id: &str, bytes: &[u8]) -> Result<Client, Unreadable> {
    let document = strict_json::parse(bytes).map_err(|(member, _)| {
        Unreadable(if member.is_empty() {
            "The application's metadata document is not JSON."
        } else {
            "The application's metadata document gives a member twice."
        })
    })?;
    let members =
        document.as_object().ok_or(Unreadable("The application's metadata document is not a JSON object."))?;
    if document["client_id"].as_str() != Some(id) {
        return Err(Unreadable("The client_id in the application's metadata document is not its address."));
    }
    if members.keys().any(|name| name.starts_with("client_secret")) {
        return Err(Unreadable(
            "The application's metadata document holds a client secret, which everybody can read there.",
        ));
    }
    if members.get("jwks").is_some_and(holds_private_key) {
        return Err(Unreadable(
            "The application's metadata document holds a private key, which everybody can read there.",
        ));
    }
    let metadata = Metadata::of(document).map_err(|bad| Unreadable(bad.description))?;
    if !metadata.is_public() {
        return Err(Unreadable("token_endpoint_auth_method must be none in a metadata document."));
    }
    let checked = metadata.check().and_then(Checked::of_anyone).map_err(|bad| Unreadable(bad.description))?;
    Ok(Client {
        id: id.to_owned(),
        refreshes: checked.refreshes(),
        uses_device_codes: checked.uses_device_codes(),
        name: checked.name,
        redirect_uris: checked.redirect_uris,
        trusted: false,
    })
}

/// A key set of another shape counts as one with private keys: it cannot be judged.
fn holds_private_key(jwks: &Value) -> bool {
    let Some(keys) = jwks["keys"].as_array() else { return true };
    keys.iter()
        .any(|key| key.as_object().is_none_or(|key| PRIVATE_MEMBERS.iter().any(|member| key.contains_key(*member))))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "https://app.example/client.json";

    fn with(changes: &Value) -> Result<Client, Unreadable> {
        let mut document =
            json!({ "client_id": ID, "client_name": "App", "redirect_uris": ["https://app.example/cb"] });
        document.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        read(ID, document.to_string().as_bytes())
    }

    #[test]
    fn a_document_describes_a_public_client() {
        let client = with(&json!({ "logo_uri": "https://app.example/logo", "contacts": [] })).unwrap();
        let redirect_uris = vec!["https://app.example/cb".to_owned()];
        let (id, name) = (ID.to_owned(), Some("App".to_owned()));
        assert_eq!(
            client,
            Client { id, name, redirect_uris, refreshes: false, uses_device_codes: false, trusted: false }
        );
        assert_eq!(client.host(), Some("app.example"));
        let public = json!({ "keys": [{ "kty": "EC", "crv": "P-256", "x": "a", "y": "b" }] });
        let grants = json!(["authorization_code", "refresh_token"]);
        let more = json!({ "jwks": public, "grant_types": grants, "token_endpoint_auth_method": "none" });
        assert!(with(&more).unwrap().refreshes);
    }

    #[test]
    fn optional_unsupported_metadata_is_left_out() {
        let device = "urn:ietf:params:oauth:grant-type:device_code";
        let implicit = "implicit";
        let client = with(&json!({ "grant_types": ["authorization_code", implicit, "refresh_token"] })).unwrap();
        assert!(client.refreshes && !client.uses_device_codes);
        let client = with(&json!({ "grant_types": [implicit, device, "authorization_code"] })).unwrap();
        assert!(!client.refreshes && client.uses_device_codes);
        assert!(with(&json!({ "grant_types": [device], "response_types": [] })).unwrap().uses_device_codes);
        let methods = json!(["private_key_jwt", "none"]);
        let signs = json!({
            "token_endpoint_auth_method": "private_key_jwt", "token_endpoint_auth_methods_supported": methods,
        });
        assert!(with(&signs).is_ok());
    }

    #[test]
    fn a_document_may_begin_with_a_byte_order_mark_and_has_each_member_once() {
        let document = format!(r#"{{"client_id":"{ID}","redirect_uris":["https://app.example/cb"]}}"#);
        assert!(read(ID, format!("\u{feff}{document}").as_bytes()).is_ok());
        let twice = document.replacen('{', r#"{"redirect_uris":[],"#, 1);
        assert!(read(ID, twice.as_bytes()).unwrap_err().0.contains("gives a member twice"));
        assert_eq!(with(&json!({ "client_name": 7 })).unwrap_err().0, "client_name: must be a string.");
    }

    #[test]
    fn a_document_that_says_anything_else_is_refused() {
        for changes in [
            json!({ "client_id": "https://app.example/other.json" }),
            json!({ "client_id": "https://APP.example/client.json" }),
            json!({ "client_id": null }),
            json!({ "client_secret": "x" }),
            json!({ "client_secret": null }),
            json!({ "client_secret_expires_at": 0 }),
            json!({ "token_endpoint_auth_method": "client_secret_basic" }),
            json!({ "token_endpoint_auth_method": "private_key_jwt" }),
            json!({ "token_endpoint_auth_methods_supported": ["private_key_jwt"] }),
            json!({ "jwks": { "keys": [{ "kty": "EC", "crv": "P-256", "x": "a", "y": "b", "d": "c" }] } }),
            json!({ "jwks": { "keys": [{ "kty": "oct", "k": "AAAA" }] } }),
            json!({ "jwks": [] }),
            json!({ "redirect_uris": [] }),
            json!({ "redirect_uris": ["javascript:alert(1)"] }),
            json!({ "redirect_uris": ["http://app.example/cb"] }),
            json!({ "redirect_uris": ["https://app.example/cb", "data:text/html,<script>alert(1)</script>"] }),
            json!({ "redirect_uris": "https://app.example/cb" }),
            json!({ "response_types": ["token"] }),
            json!({ "grant_types": ["client_credentials"] }),
            json!({ "client_name": "Bank\u{85}" }),
            json!({ "client_name": 7 }),
        ] {
            assert!(with(&changes).is_err(), "{changes}");
        }
        for text in ["", "[]", "null", "\"x\"", "<html>", "{\"client_id\": \"https://app.example/client.json\""] {
            assert!(read(ID, text.as_bytes()).is_err(), "{text}");
        }
        for deep in ["[".repeat(5_000), "{\"a\":".repeat(1_000)] {
            assert!(read(ID, deep.as_bytes()).is_err());
        }
    }
}
