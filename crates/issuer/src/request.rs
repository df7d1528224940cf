//! An authorization request, checked in two steps: first client and redirect URI (an error shows a page), then the rest (an
//! error goes back to the client by redirect).

use common::addresses::ClientAddress;
use url::Url;

use super::{
    IdentityProvider, Settings,
    clients::{AskingError, Client, Recipient, is_built_in},
    parameters::Parameters,
    redirect_uri, scope,
};

const OFFLINE_ACCESS: &str = "offline_access";
const DEFAULT_SCOPE: &str = "openid profile email";
/// Some client libraries put the page to return to in `state`.
const MAX_STATE_BYTES: usize = 2_048;
/// The nonce is stored with the code and returned in the ID token.
const MAX_NONCE_BYTES: usize = 255;
/// The maximum length of an e-mail address.
const MAX_HINT_BYTES: usize = 255;

/// The destination of the response. It exists only for a known client and one of its redirect URIs.
#[derive(Debug)]
pub(super) struct ReturnAddress {
    pub client: Client,
    pub redirect_uri: String,
    pub state: Option<String>,
    issuer: String,
}

/// The access that a client asks for.
#[derive(Debug)]
pub(super) struct Access {
    pub scope: String,
    /// The requested resources. Empty means all.
    pub resources: Vec<String>,
}

/// A valid authorization request.
#[derive(Debug)]
pub(super) struct AuthorizationRequest {
    pub access: Access,
    pub challenge: String,
    pub nonce: Option<String>,
    pub login_hint: Option<String>,
    pub prompts: Vec<String>,
    /// The most seconds since the person last proved who they are.
    pub max_age: Option<u32>,
}

/// An error that is reported to the client.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestError(pub &'static str, pub &'static str);

impl IdentityProvider {
    /// Returns the client and redirect URI. `from` is the address of the person's browser.
    pub(super) async fn return_address(
        &self,
        parameters: &Parameters,
        from: Option<&ClientAddress>,
    ) -> Result<ReturnAddress, AskingError> {
        if ["client_id", "redirect_uri", "state"].iter().any(|name| parameters.all(name).count() > 1) {
            return Err(AskingError::Refused("The request names its client or address more than once."));
        }
        let client = self.asking_client(parameters.get("client_id").unwrap_or_default(), from).await?;
        let Some(redirect_uri) = parameters.get("redirect_uri").filter(|uri| client.redirects_to(uri)) else {
            return Err(AskingError::Refused(
                "The address to return to is not one that the application has registered.",
            ));
        };
        // Without its state, a client cannot match the response to its request, so none is sent.
        if parameters.get("state").is_some_and(|state| state.len() > MAX_STATE_BYTES) {
            return Err(AskingError::Refused("The application sent a state that is longer than 2,048 bytes."));
        }
        let state = parameters.get("state").map(str::to_owned);
        let (redirect_uri, issuer) = (redirect_uri.to_owned(), self.issuer().to_owned());
        Ok(ReturnAddress { client, redirect_uri, state, issuer })
    }
}

impl ReturnAddress {
    /// The client at the address that a consent counts for.
    pub(super) fn recipient(&self) -> Recipient<'_> {
        Recipient { client: &self.client, place: redirect_uri::without_port(&self.redirect_uri) }
    }

    /// Returns whether a browser may be sent there although nobody has agreed: it is known here who asks, or the answer stays on the
    /// person's own computer.
    pub(super) fn is_trusted(&self) -> bool {
        self.client.trusted || redirect_uri::is_on_loopback(&self.redirect_uri)
    }

    /// The redirect with the parameters of `answer`, `state` and `iss` (RFC 9207).
    pub(super) fn with(&self, answer: &[(&str, &str)]) -> String {
        let Ok(mut url) = Url::parse(&self.redirect_uri) else { return self.redirect_uri.clone() };
        {
            let mut query = url.query_pairs_mut();
            query.extend_pairs(answer).append_pair("iss", &self.issuer);
            if let Some(state) = &self.state {
                query.append_pair("state", state);
            }
        }
        url.into()
    }

    /// The redirect that reports an error to the client.
    pub(super) fn refusing(&self, RequestError(code, description): &RequestError) -> String {
        self.with(&[("error", code), ("error_description", description)])
    }
}

/// Checks everything but client and redirect URI.
pub(super) fn judge(
    parameters: &Parameters,
    client: &Client,
    settings: &Settings,
) -> Result<AuthorizationRequest, RequestError> {
    if parameters.is_repeated() {
        return Err(RequestError("invalid_request", "A parameter is repeated."));
    }
    for (name, code) in [("request", "request_not_supported"), ("request_uri", "request_uri_not_supported")] {
        if parameters.get(name).is_some() {
            return Err(RequestError(code, "Request objects are not supported."));
        }
    }
    match parameters.get("response_type") {
        Some("code") => {}
        Some(_) => return Err(RequestError("unsupported_response_type", "response_type must be code.")),
        None => return Err(RequestError("invalid_request", "response_type is missing; it must be code.")),
    }
    if parameters.get("response_mode").is_some_and(|mode| mode != "query") {
        return Err(RequestError("invalid_request", "response_mode must be query."));
    }
    for (name, most, refusal) in [
        ("nonce", MAX_NONCE_BYTES, "nonce is longer than 255 bytes."),
        ("login_hint", MAX_HINT_BYTES, "login_hint is longer than 255 bytes."),
    ] {
        if parameters.get(name).is_some_and(|value| value.len() > most) {
            return Err(RequestError("invalid_request", refusal));
        }
    }
    let prompts: Vec<_> = words(parameters.get("prompt").unwrap_or_default());
    if prompts.len() > 1 && prompts.iter().any(|prompt| prompt == "none") {
        return Err(RequestError("invalid_request", "prompt=none must be the only prompt."));
    }
    Ok(AuthorizationRequest {
        challenge: challenge(parameters)?,
        access: access(parameters, client, settings)?,
        nonce: parameters.get("nonce").map(str::to_owned),
        login_hint: parameters.get("login_hint").map(str::to_owned),
        prompts,
        max_age: max_age(parameters)?,
    })
}

/// Reads the access that a client asks for.
pub(super) fn access(parameters: &Parameters, client: &Client, settings: &Settings) -> Result<Access, RequestError> {
    Ok(Access {
        scope: asked_scope(parameters.get("scope").unwrap_or(DEFAULT_SCOPE), client)?,
        resources: resources(parameters, &settings.audiences)?,
    })
}

fn max_age(parameters: &Parameters) -> Result<Option<u32>, RequestError> {
    let parsed = parameters.get("max_age").map(str::parse).transpose();
    parsed.map_err(|_| RequestError("invalid_request", "max_age is a whole number of seconds."))
}

fn words(text: &str) -> Vec<String> {
    text.split_ascii_whitespace().map(str::to_owned).collect()
}

fn challenge(parameters: &Parameters) -> Result<String, RequestError> {
    let challenge = parameters.get("code_challenge").unwrap_or_default();
    if parameters.get("code_challenge_method") != Some("S256") {
        return Err(RequestError(
            "invalid_request",
            "PKCE is required: code_challenge with code_challenge_method=S256.",
        ));
    }
    let is_base64url = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if challenge.len() != 43 || !challenge.bytes().all(is_base64url) {
        return Err(RequestError("invalid_request", "code_challenge must be the base64url SHA-256 of the verifier."));
    }
    Ok(challenge.to_owned())
}

fn asked_scope(asked: &str, client: &Client) -> Result<String, RequestError> {
    let scopes = scope::parse(asked).ok_or(RequestError(
        "invalid_scope",
        "Scopes are openid, profile, email, offline_access, search:read, records:write and account, separated by spaces.",
    ))?;
    let asks = scopes.contains(&OFFLINE_ACCESS);
    let scopes = if scopes.is_empty() { scope::parse(DEFAULT_SCOPE).unwrap_or_default() } else { scopes };
    let mut granted: Vec<_> = scopes.into_iter().filter(|scope| *scope != OFFLINE_ACCESS).collect();
    // A client that registered the refresh_token grant gets refresh tokens, because offline_access is a word of OpenID Connect, not of OAuth.
    // One that asks for offline_access gets them, too. An application of the service has to do both.
    let refreshes = if is_built_in(&client.id) { client.refreshes && asks } else { client.refreshes || asks };
    if refreshes {
        granted.push(OFFLINE_ACCESS);
    }
    Ok(scope::parse(&granted.join(" ")).unwrap_or_default().join(" "))
}

/// Returns the known resources among the `resource` parameters (RFC 8707), in their canonical spelling. The root of a host means every
/// resource there: some assistants send it, whatever the metadata of the tool endpoint says.
pub(super) fn resources(parameters: &Parameters, known: &[String]) -> Result<Vec<String>, RequestError> {
    let mut found = Vec::new();
    for asked in parameters.all("resource") {
        // Scheme and host are the same in capitals, and URL libraries add a slash to a URL without a path (RFC 3986, 6.2.2 and 6.2.3).
        let parsed = Url::parse(asked).ok();
        let asked = parsed.as_ref().map_or(asked, Url::as_str);
        let root = parsed.as_ref().filter(|url| url.path() == "/" && url.query().is_none() && url.fragment().is_none());
        let is_there =
            |one: &str| root.is_some_and(|root| Url::parse(one).is_ok_and(|one| one.origin() == root.origin()));
        let is_same = |one: &str| one == asked || asked.strip_suffix('/') == Some(one);
        let named: Vec<&String> = known.iter().filter(|one| is_same(one) || is_there(one)).collect();
        if named.is_empty() {
            return Err(RequestError("invalid_target", "The resource is not one of this service."));
        }
        for resource in named {
            if !found.contains(resource) {
                found.push(resource.clone());
            }
        }
    }
    Ok(found)
}
