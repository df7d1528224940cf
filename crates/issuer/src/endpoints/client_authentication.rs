//! Authentication of clients at the token, revocation and device authorization endpoints: by `client_id` in the form, or by HTTP Basic
//! (RFC 6749 section 2.3.1), with its secret if an operator gave it one.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use common::digest::{same, sha256_hex};
use entity::oauth_client;
use poem::{
    Request,
    http::{HeaderValue, header},
};
use sea_orm::EntityTrait as _;
use url::form_urlencoded;

use crate::{
    IdentityProvider,
    clients::{host_of, is_built_in},
    parameters::Parameters,
    response::{OAuthError, refused},
};

/// The methods that clients may use.
pub(super) const METHODS: [&str; 3] = ["none", "client_secret_basic", "client_secret_post"];

/// A client as a request names it.
#[derive(Debug, PartialEq, Eq)]
struct Named {
    id: String,
    secret: Option<String>,
}

impl IdentityProvider {
    /// Returns the id of the client that sent the request.
    ///
    /// # Errors
    /// It is unknown, lacks its secret, or sends a secret although it has none.
    pub(super) async fn client_of(&self, request: &Request, form: &Parameters) -> Result<String, OAuthError> {
        let Named { id, secret } =
            named(request.headers().get(header::AUTHORIZATION).map(HeaderValue::as_bytes), form)?;
        // The metadata document is not fetched again: a code or token is bound to the client that it was issued to.
        let is_document = self.documents.is_some() && host_of(&id).is_some();
        let expected = if is_document || is_built_in(&id) {
            None
        } else {
            let row = oauth_client::Entity::find_by_id(&id).one(&self.db).await?;
            row.ok_or_else(|| refused("invalid_client", "The client is not known."))?.secret_hash
        };
        match (expected, secret) {
            (None, None) => Ok(id),
            (Some(hash), Some(secret)) if same(&hash, &sha256_hex(&secret)) => Ok(id),
            (None, Some(_)) => Err(refused("invalid_client", "The client is public: send client_id and no secret.")),
            (Some(_), Some(_)) => Err(refused("invalid_client", "The client's secret is wrong.")),
            (Some(_), None) => Err(refused("invalid_client", "The client has a secret: send it with client_id.")),
        }
    }
}

/// Reads id and secret. An empty secret is none: some programs send `id:` for a public client.
fn named(authorization: Option<&[u8]>, form: &Parameters) -> Result<Named, OAuthError> {
    if form.get("client_assertion").is_some() {
        return Err(refused(
            "invalid_client",
            "Assertions are not supported. Clients are public, or have a secret from an operator.",
        ));
    }
    let Some(header) = authorization else {
        let id = form.require("client_id", "client_id is missing.")?.to_owned();
        return Ok(Named { id, secret: form.get("client_secret").map(str::to_owned) });
    };
    let malformed = || refused("invalid_client", "Authorization must be Basic, with client_id and secret in Base64.");
    let basic = basic(header).ok_or_else(malformed)?;
    if form.get("client_id").is_some_and(|id| id != basic.id) {
        return Err(refused("invalid_request", "client_id is another one than in Authorization."));
    }
    if form.get("client_secret").is_some() {
        return Err(refused("invalid_request", "Send the client's secret once: in Authorization or in the form."));
    }
    Ok(basic)
}

/// Reads `Basic base64(id:secret)`, both percent-encoded as in forms.
fn basic(header: &[u8]) -> Option<Named> {
    let (scheme, encoded) = std::str::from_utf8(header).ok()?.trim().split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("Basic"))?;
    let (id, secret) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    let (id, secret) = (unescaped(id)?, unescaped(secret)?);
    (!id.is_empty()).then(|| Named { id, secret: Some(secret).filter(|secret| !secret.is_empty()) })
}

/// Decodes one value of a form. Ids and secrets hold no control characters.
fn unescaped(text: &str) -> Option<String> {
    let escaped = text.replace('&', "%26").replace('=', "%3D");
    let value =
        form_urlencoded::parse(escaped.as_bytes()).next().map_or_else(String::new, |(name, _)| name.into_owned());
    (!value.chars().any(char::is_control)).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_name_themselves_in_the_form_or_by_basic() {
        let encode = |text: &str| format!("Basic {}", STANDARD.encode(text));
        for (header, form, expected) in [
            (None, "client_id=a", Some(("a", None))),
            (None, "client_id=a&client_secret=", Some(("a", None))),
            (None, "client_id=a&client_secret=s", Some(("a", Some("s")))),
            (None, "", None),
            (None, "client_id=a&client_assertion=x", None),
            (Some(encode("a:")), "", Some(("a", None))),
            (Some(encode("a:")), "client_id=a", Some(("a", None))),
            (Some(encode("a:").replace("Basic", "basic")), "", Some(("a", None))),
            (Some(encode("a:s%3At")), "", Some(("a", Some("s:t")))),
            (Some(encode("a:s=t&u")), "", Some(("a", Some("s=t&u")))),
            (Some(encode("https%3A%2F%2Fapp.example%2Fc.json:")), "", Some(("https://app.example/c.json", None))),
            (Some(encode("a:")), "client_id=b", None),
            (Some(encode("a:s")), "client_id=a&client_secret=s", None),
            (Some(encode("a")), "", None),
            (Some(encode(":s")), "", None),
            (Some(encode("a\0:")), "", None),
            (Some(encode("a%00:")), "", None),
            (Some("Basic !".to_owned()), "", None),
            (Some("Bearer a".to_owned()), "client_id=a", None),
            (Some("Basic".to_owned()), "client_id=a", None),
        ] {
            let form = Parameters::parse(form.as_bytes()).unwrap();
            let expected = expected.map(|(id, secret): (&str, Option<&str>)| Named {
                id: id.to_owned(),
                secret: secret.map(str::to_owned),
            });
            assert_eq!(named(header.as_ref().map(String::as_bytes), &form).ok(), expected, "{header:?} {form:?}");
        }
    }
}
