//! Signing in: the authorization-code flow with PKCE, from discovery to the tokens, for a demo person or in a person's browser.

use chrono::{DateTime, TimeDelta, Utc};
use common::{digest::pkce_challenge, plain_text::quoted, random::Random, urls::is_secure};
use issuer::demo::people;
use reqwest::StatusCode;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;
use url::Url;

use super::{error::RemoteError, http::send};

/// The client of this program at the embedded issuer.
pub const CLIENT_ID: &str = "sightline-cli";
// Nothing listens there. The response is read from the redirect itself.
const REDIRECT_URI: &str = "http://127.0.0.1/callback";

#[derive(Deserialize)]
struct Resource {
    /// The server as it calls itself.
    resource: String,
    authorization_servers: Vec<String>,
}

/// The issuer of a server, as its metadata describes it.
#[derive(Debug, Clone, Deserialize)]
pub struct Issuer {
    #[serde(rename = "issuer")]
    name: String,
    authorization_endpoint: String,
    token_endpoint: String,
    revocation_endpoint: Option<String>,
    device_authorization_endpoint: Option<String>,
    /// The server that tokens are for, unless it is the issuer itself. An issuer gives no token for a server that it does not know.
    #[serde(skip)]
    resource: Option<String>,
}

/// The tokens of a sign-in.
#[derive(Debug, Deserialize)]
pub struct Tokens {
    /// The access token.
    pub access_token: SecretString,
    /// The refresh token, if one was granted.
    pub refresh_token: Option<SecretString>,
    refresh_token_expires_in: Option<Value>,
    /// The scope, if it is another than was asked for.
    scope: Option<String>,
}

impl Tokens {
    /// Returns whether the person allowed reading only, although more was asked for.
    #[must_use]
    pub fn only_read(&self, asked: &str) -> bool {
        let has = |scope: &str, name: &str| scope.split(' ').any(|own| own == name);
        let reads = |scope: &str| has(scope, "search:read") && !has(scope, "records:write");
        !reads(asked) && self.scope.as_deref().is_some_and(reads)
    }

    /// The time at which the refresh token that was granted `now` expires, if the issuer says so. No standard makes it.
    #[must_use]
    pub fn good_until(&self, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let seconds = self.refresh_token_expires_in.as_ref()?.as_i64()?;
        now.checked_add_signed(TimeDelta::try_seconds(seconds)?)
    }
}

/// The scope of a token that may do everything that its person may.
pub const EVERYTHING: &str = "openid profile email";

/// Signs the demo person `name` in at the server at `base_url` and returns an access token for `scope`, as [`demo_tokens`] does.
pub async fn login(
    base_url: &str,
    name: &str,
    scope: &str,
    http: reqwest::Client,
    random: &Random,
) -> Result<String, RemoteError> {
    let tokens = demo_tokens(base_url, name, scope, http, random).await?;
    Ok(tokens.access_token.expose_secret().to_owned())
}

/// Signs the demo person `name` in at the server at `base_url` and returns the tokens for `scope`.
///
/// `http` must not follow redirects. Nothing is printed and nothing is stored.
pub async fn demo_tokens(
    base_url: &str,
    name: &str,
    scope: &str,
    http: reqwest::Client,
    random: &Random,
) -> Result<Tokens, RemoteError> {
    let name = name.strip_suffix("@demo.test").unwrap_or(name);
    if !people(true).iter().any(|person| person.name == name) {
        let names = people(false).iter().map(|person| person.name).collect::<Vec<_>>().join(", ");
        return Err(RemoteError::Failed(format!("no demo person is called {}; there are {names}", quoted(name))));
    }
    let issuer = Issuer::of(base_url, &http).await?;
    let attempt = Attempt::new(issuer.client(None)?, REDIRECT_URI.to_owned(), random);
    let mut url = attempt.address(&issuer, scope)?;
    url.query_pairs_mut().append_pair("login_hint", name);
    let answer = send(http.get(url)).await?;
    let location = answer.headers.get("location").and_then(|value| value.to_str().ok());
    let location = location.filter(|location| location.starts_with(REDIRECT_URI)).ok_or(RemoteError::NeedsBrowser)?;
    let url = Url::parse(location).map_err(|_| RemoteError::Failed("the redirect is not a URL".to_owned()))?;
    let code = attempt.code(&url, &issuer)?;
    attempt.exchange(&code, &issuer, &http).await
}

impl Issuer {
    /// Reads the metadata of the server at `base_url` and of its issuer.
    ///
    /// # Errors
    /// One of them does not answer, or calls itself by another address: tokens for a server never go to another one (RFC 9728, 3.3).
    pub async fn of(base_url: &str, http: &reqwest::Client) -> Result<Self, RemoteError> {
        let base = base_url.trim_end_matches('/');
        let resource: Resource = get(http, &format!("{base}/.well-known/oauth-protected-resource")).await?;
        if resource.resource.trim_end_matches('/') != base {
            return Err(RemoteError::Failed(format!(
                "the server at {base} calls itself {}: name it by that address, by --server or base_url (SIGHTLINE_BASE_URL)",
                resource.resource
            )));
        }
        let name = resource.authorization_servers.first();
        let name = name.ok_or_else(|| RemoteError::Failed("the server names no issuer".to_owned()))?;
        let answer = send(http.get(metadata_address(name)?)).await?;
        let mut found: Self = if answer.status == StatusCode::NOT_FOUND {
            get(http, &format!("{}/.well-known/openid-configuration", name.trim_end_matches('/'))).await?
        } else {
            answer.success()?
        };
        if found.name != *name {
            return Err(RemoteError::Failed(format!("{name} calls itself {}", found.name)));
        }
        for address in [&found.name, &found.authorization_endpoint, &found.token_endpoint] {
            if !Url::parse(address).is_ok_and(|url| is_secure(&url)) {
                return Err(RemoteError::Failed(format!(
                    "{name} names {}, which is neither https nor of this machine",
                    quoted(address)
                )));
            }
        }
        let origin = |url: &str| Url::parse(url).map(|url| url.origin()).ok();
        found.resource = (origin(name) != origin(base)).then_some(resource.resource);
        Ok(found)
    }

    /// Returns the client to sign in with: the one that the person names, or that of this program at the server's own issuer.
    ///
    /// # Errors
    /// The server uses another issuer, which does not know this program.
    pub fn client<'a>(&self, named: Option<&'a str>) -> Result<&'a str, RemoteError> {
        match named {
            Some(named) => Ok(named),
            None if self.resource.is_none() => Ok(CLIENT_ID),
            None => Err(RemoteError::Failed(format!(
                "the server's people sign in at {}: register a public client there with the redirect URI http://127.0.0.1/callback \
                 at any port, and name it by --client-id",
                self.name
            ))),
        }
    }

    /// The server to name to the issuer (RFC 8707), unless it is the issuer itself.
    #[must_use]
    pub fn resource(&self) -> Option<&str> {
        self.resource.as_deref()
    }

    /// The address that tokens come from.
    #[must_use]
    pub fn token_endpoint(&self) -> &str {
        &self.token_endpoint
    }

    /// The address that device codes come from.
    ///
    /// # Errors
    /// The issuer has none, or none beside its token endpoint.
    pub fn device_endpoint(&self) -> Result<&str, RemoteError> {
        self.beside_tokens(self.device_authorization_endpoint.as_deref()).ok_or_else(|| {
            RemoteError::Failed(format!(
                "{} has no device codes: sign in without --device, where a browser is",
                self.name
            ))
        })
    }

    /// Returns an endpoint if it has the origin of the one that gives tokens.
    fn beside_tokens<'a>(&self, endpoint: Option<&'a str>) -> Option<&'a str> {
        let origin = |address: &str| Url::parse(address).ok().map(|url| url.origin());
        endpoint.filter(|endpoint| origin(endpoint) == origin(&self.token_endpoint))
    }

    /// Returns new tokens for a refresh token, or `None` if it is not good any more.
    pub async fn refresh(
        &self,
        client: &str,
        token: &str,
        http: &reqwest::Client,
    ) -> Result<Option<Tokens>, RemoteError> {
        let form = [("grant_type", "refresh_token"), ("refresh_token", token), ("client_id", client)];
        let answer = send(http.post(&self.token_endpoint).form(&form)).await?;
        if [StatusCode::BAD_REQUEST, StatusCode::UNAUTHORIZED].contains(&answer.status) {
            return Ok(None);
        }
        answer.success().map(Some)
    }

    /// Ends the access that a refresh token of `client` gives (RFC 7009).
    ///
    /// # Errors
    /// The issuer does not answer, refuses, or has no endpoint for it beside the one that gave the token.
    pub async fn revoke(&self, client: &str, token: &str, http: &reqwest::Client) -> Result<(), RemoteError> {
        let endpoint = self.beside_tokens(self.revocation_endpoint.as_deref());
        let endpoint = endpoint.ok_or_else(|| {
            RemoteError::Failed(format!("{} has no revocation endpoint beside its token endpoint", self.name))
        })?;
        let form = [("token", token), ("token_type_hint", "refresh_token"), ("client_id", client)];
        send(http.post(endpoint).form(&form)).await?.accepted()
    }
}

/// One sign-in under way.
pub struct Attempt<'a> {
    client: &'a str,
    redirect_uri: String,
    state: String,
    verifier: String,
}

impl<'a> Attempt<'a> {
    /// A sign-in of `client` that ends at `redirect_uri`.
    #[must_use]
    pub fn new(client: &'a str, redirect_uri: String, random: &Random) -> Self {
        Self { client, redirect_uri, state: random.token(), verifier: random.token() }
    }

    /// The address of the page where a person signs in.
    pub fn address(&self, issuer: &Issuer, scope: &str) -> Result<Url, RemoteError> {
        let mut url = Url::parse(&issuer.authorization_endpoint)
            .map_err(|_| RemoteError::Failed(format!("{} is not a URL", issuer.authorization_endpoint)))?;
        url.query_pairs_mut().extend_pairs([
            ("response_type", "code"),
            ("client_id", self.client),
            ("redirect_uri", &self.redirect_uri),
            ("scope", scope),
            ("state", &self.state),
            ("code_challenge", &pkce_challenge(&self.verifier)),
            ("code_challenge_method", "S256"),
        ]);
        url.query_pairs_mut().extend_pairs(issuer.resource().map(|resource| ("resource", resource)));
        Ok(url)
    }

    /// Returns the code in a redirect, if it answers this attempt and comes from that issuer.
    pub fn code(&self, redirect: &Url, issuer: &Issuer) -> Result<String, RemoteError> {
        let find =
            |name: &str| redirect.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
        if find("state").as_deref() != Some(&self.state) || find("iss").is_some_and(|iss| iss != issuer.name) {
            return Err(RemoteError::Failed("the redirect does not answer this request".to_owned()));
        }
        match (find("code"), find("error")) {
            (Some(code), None) => Ok(code),
            (_, Some(error)) => Err(RemoteError::refused(error, find("error_description"))),
            (None, None) => Err(RemoteError::Refused("no code".to_owned())),
        }
    }

    /// Returns the tokens for a code.
    pub async fn exchange(&self, code: &str, issuer: &Issuer, http: &reqwest::Client) -> Result<Tokens, RemoteError> {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", &self.redirect_uri),
            ("client_id", self.client),
            ("code_verifier", &self.verifier),
        ];
        send(http.post(&issuer.token_endpoint).form(&form)).await?.success()
    }
}

/// The URL of the metadata by RFC 8414: the well-known path goes between the host and the path of the issuer.
fn metadata_address(issuer: &str) -> Result<String, RemoteError> {
    let mut url = Url::parse(issuer).map_err(|_| RemoteError::Failed(format!("{issuer} is not a URL")))?;
    let path = format!("/.well-known/oauth-authorization-server{}", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url.into())
}

async fn get<T: DeserializeOwned>(http: &reqwest::Client, address: &str) -> Result<T, RemoteError> {
    send(http.get(address)).await?.success()
}
