//! The metadata of a client (RFC 7591), and its rules. The same rules hold for registrations, for operators and for
//! metadata documents.

use common::{plain_text, urls::is_loopback};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use url::Url;

use super::{device_codes, redirect_uri, reserved_names::is_reserved};

/// Some programs list an address for each of their editions, or for each port that they try.
const MAX_REDIRECT_URIS: usize = 32;
/// The grant of authorization codes.
const CODE: &str = "authorization_code";

/// The supported members. Others are ignored.
#[derive(Debug, Default)]
pub struct Metadata {
    /// The addresses to which people may be sent back.
    pub redirect_uris: Option<Value>,
    /// Its name.
    pub client_name: Option<String>,
    /// Any: clients that register are public, and the answer says `none` (RFC 7591 section 3.2.1).
    pub token_endpoint_auth_method: Option<String>,
    /// Other methods that the client can use. `none` among them makes up for another `token_endpoint_auth_method`.
    pub token_endpoint_auth_methods_supported: Option<Vec<String>>,
    /// `authorization_code`, the grant of device codes or both, with or without `refresh_token`. Others are left out.
    pub grant_types: Option<Vec<String>>,
    /// Absent or with `code`. Others are left out. A client without `authorization_code` may leave it empty.
    pub response_types: Option<Vec<String>>,
    /// `web` or `native`.
    pub application_type: Option<String>,
}

/// Valid metadata, with defaults filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// Name for the consent page.
    pub name: Option<String>,
    /// From one to `MAX_REDIRECT_URIS`, or none without `authorization_code`.
    pub redirect_uris: Vec<String>,
    /// Includes `authorization_code` or the grant of device codes.
    pub grant_types: Vec<String>,
    /// `web` or `native`.
    pub application_type: String,
}

/// Metadata that no client may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{description}")]
pub struct BadMetadata {
    /// The error code of RFC 7591.
    pub code: &'static str,
    /// Names the member and the allowed values.
    pub description: &'static str,
}

impl Checked {
    /// Returns whether the client may receive refresh tokens.
    #[must_use]
    pub fn refreshes(&self) -> bool {
        self.has("refresh_token")
    }

    /// Returns whether the client may ask for device codes.
    #[must_use]
    pub fn uses_device_codes(&self) -> bool {
        self.has(device_codes::GRANT_TYPE)
    }

    /// Returns whether every redirect URI is the address of a web site: https, and not on the person's own machine.
    #[must_use]
    pub fn leads_to_web_sites(&self) -> bool {
        let leads = |uri: &String| Url::parse(uri).is_ok_and(|url| url.scheme() == "https" && !is_loopback(&url));
        !self.redirect_uris.is_empty() && self.redirect_uris.iter().all(leads)
    }

    /// Returns the response types that go with the grant types (RFC 7591 section 2.1).
    #[must_use]
    pub fn response_types(&self) -> &'static [&'static str] {
        if self.has(CODE) { &["code"] } else { &[] }
    }

    /// Returns the metadata of a client that anyone made.
    ///
    /// # Errors
    /// Its name is one of the service's own applications.
    pub fn of_anyone(self) -> Result<Self, BadMetadata> {
        match &self.name {
            Some(name) if is_reserved(name) => Err(bad(
                "client_name: looks like one of the service's own applications. Choose a name that begins with another word.",
            )),
            _ => Ok(self),
        }
    }

    fn has(&self, grant_type: &str) -> bool {
        self.grant_types.iter().any(|grant| grant == grant_type)
    }
}

impl Metadata {
    /// Reads the supported members of a document. Null, an empty text and an empty list are absent, as some programs write what they do not
    /// say.
    ///
    /// # Errors
    /// Names the first member of another type, if the document is an object.
    pub fn of(document: Value) -> Result<Self, BadMetadata> {
        let Value::Object(mut members) = document else { return Err(bad("Send a JSON object of client metadata.")) };
        let says_nothing = |value: &Value| value.is_null() || *value == json!("") || *value == json!([]);
        let mut member = |name: &str| members.remove(name).filter(|value| !says_nothing(value));
        Ok(Self {
            redirect_uris: member("redirect_uris"),
            client_name: read(member("client_name"), "client_name: must be a string.")?,
            token_endpoint_auth_method: read(
                member("token_endpoint_auth_method"),
                "token_endpoint_auth_method: must be a string.",
            )?,
            token_endpoint_auth_methods_supported: read(
                member("token_endpoint_auth_methods_supported"),
                "token_endpoint_auth_methods_supported: must be a list of strings.",
            )?,
            grant_types: read(member("grant_types"), "grant_types: must be a list of strings.")?,
            response_types: read(member("response_types"), "response_types: must be a list of strings.")?,
            application_type: read(member("application_type"), "application_type: must be a string.")?,
        })
    }

    /// Returns whether the client can do without a secret and a key. A metadata document cannot be answered with another method.
    #[must_use]
    pub fn is_public(&self) -> bool {
        let preferred = self.token_endpoint_auth_method.iter();
        let mut methods = preferred.chain(self.token_endpoint_auth_methods_supported.iter().flatten()).peekable();
        methods.peek().is_none() || methods.any(|method| method == "none")
    }

    /// Checks every member.
    ///
    /// # Errors
    /// Names the first member that is invalid.
    pub fn check(self) -> Result<Checked, BadMetadata> {
        let grant_types = grant_types(&self)?;
        let method = self.token_endpoint_auth_method.as_deref().unwrap_or_default();
        if method.contains(char::is_control) {
            return Err(bad("token_endpoint_auth_method: holds a control character."));
        }
        // Codes go to redirect URIs, and nothing else does.
        let gets_codes = grant_types.iter().any(|grant| grant == CODE);
        let redirect_uris = if gets_codes { redirect_uris(self.redirect_uris.as_ref())? } else { Vec::new() };
        let name = name(self.client_name)?;
        let application_type = self.application_type.unwrap_or_else(|| "web".to_owned());
        if !["web", "native"].contains(&application_type.as_str()) {
            return Err(bad("application_type must be web or native."));
        }
        Ok(Checked { name, redirect_uris, grant_types, application_type })
    }
}

/// A member other than the redirect URIs is invalid.
pub(super) fn bad(description: &'static str) -> BadMetadata {
    BadMetadata { code: "invalid_client_metadata", description }
}

/// Reads a member, or returns its refusal.
fn read<T: DeserializeOwned>(member: Option<Value>, refusal: &'static str) -> Result<Option<T>, BadMetadata> {
    member.map(serde_json::from_value).transpose().map_err(|_| bad(refusal))
}

fn redirect_uris(value: Option<&Value>) -> Result<Vec<String>, BadMetadata> {
    let bad = || BadMetadata {
        code: "invalid_redirect_uri",
        description: "redirect_uris: 1 to 32 addresses, each https, http on loopback, or an own scheme with a dot such as com.example.app, without fragment or wildcard.",
    };
    let listed = value.and_then(Value::as_array).ok_or_else(bad)?;
    let uris: Option<Vec<String>> = listed.iter().map(|uri| uri.as_str().map(str::to_owned)).collect();
    uris.filter(|uris| {
        (1..=MAX_REDIRECT_URIS).contains(&uris.len()) && uris.iter().all(|uri| redirect_uri::may_be_registered(uri))
    })
    .ok_or_else(bad)
}

/// Returns the grant types that the service supports, after checking them and the response types.
fn grant_types(metadata: &Metadata) -> Result<Vec<String>, BadMetadata> {
    let grants = metadata.grant_types.clone().unwrap_or_else(|| vec![CODE.to_owned()]);
    let supported = |name: &str| grants.iter().any(|grant| grant == name).then(|| name.to_owned());
    let (code, device) = (supported(CODE), supported(device_codes::GRANT_TYPE));
    if code.is_none() && device.is_none() {
        return Err(bad(
            "grant_types must hold authorization_code or urn:ietf:params:oauth:grant-type:device_code, and may hold refresh_token.",
        ));
    }
    let may_be_empty = code.is_none();
    let fits = |types: &Vec<String>| types.iter().any(|one| one == "code") || (may_be_empty && types.is_empty());
    if !metadata.response_types.as_ref().is_none_or(fits) {
        return Err(bad("response_types must hold code."));
    }
    Ok([code, supported("refresh_token"), device].into_iter().flatten().collect())
}

/// Anyone can choose the name of a client, and people see it when they are asked for consent. It is cleaned and cut, and the answer has
/// the result (RFC 7591 section 3.2.1): assistants put names into it that their people wrote.
fn name(name: Option<String>) -> Result<Option<String>, BadMetadata> {
    match name {
        Some(name) if !plain_text::is_line(&name) => Err(bad("client_name: holds a control character.")),
        name => Ok(name.as_deref().and_then(plain_text::name)),
    }
}
