//! The API of a running server, as any client uses it: signed in, and by the operations of openapi.json.

use std::{collections::BTreeMap, time::Duration};

use api::error::ErrorBody;
use clap::Args;
use common::{clock::Clock, random::Random, urls::is_secure};
use poem_openapi::types::ParseFromJSON;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::Value;
use url::Url;

use super::{
    browser, device,
    error::RemoteError,
    http::{OPERATION, send_up_to},
    login::{Issuer, Tokens, demo_tokens, login},
    stored::{SignIn, SignIns},
};
use crate::{
    app,
    cli::terminal::{Text, note, short},
    config::Config,
};

/// The scope of reading. With its address, a person finds what was shared with them.
const READ: &str = "openid email search:read";

/// The scope of a stored sign-in.
const STORED: &str = "openid email search:read offline_access";

/// The most times that one question is asked, where the server says when to ask again.
const TRIES: u32 = 6;

/// The longest wait between two of them.
const LONGEST_WAIT: Duration = Duration::from_secs(20);

/// The server that a command asks.
#[derive(Debug, Args)]
pub struct Server {
    /// The address of the server; the one at `base_url` by default.
    #[arg(long = "server", value_name = "URL", value_parser = server_address)]
    pub address: Option<Url>,
}

impl Server {
    /// The address of the server, without a slash at its end.
    #[must_use]
    pub fn base_url(&self, config: &Config) -> String {
        let own = config.base_url(config.listen);
        self.address.as_ref().map_or(own.as_str(), Url::as_str).trim_end_matches('/').to_owned()
    }

    /// The address of the server, if tokens may be sent there.
    ///
    /// # Errors
    /// They would travel unencrypted.
    pub fn secure_url(&self, config: &Config) -> Result<String, RemoteError> {
        let base_url = self.base_url(config);
        if Url::parse(&base_url).is_ok_and(|url| is_secure(&url)) {
            return Ok(base_url);
        }
        Err(RemoteError::Failed(format!(
            "{base_url} is neither https nor of this machine, so tokens would travel there unencrypted: name the server by its https address, \
             by --server or base_url (SIGHTLINE_BASE_URL)"
        )))
    }
}

fn server_address(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
    let url = url.ok_or("allowed is an address such as https://search.example.org or http://127.0.0.1:8080")?;
    if url.path() == "/" && url.query().is_none() && url.fragment().is_none() {
        return Ok(url);
    }
    Err(format!("a server has no path: name it by {}", url.origin().ascii_serialization()))
}

/// The server that a command asks, and who asks.
#[derive(Debug, Args)]
pub struct At {
    /// The demo person to sign in: owner, editor, viewer, stranger or lapsed. Without a name, a person signs in in a browser.
    #[arg(long = "as", value_name = "NAME")]
    pub name: Option<String>,
    /// The server.
    #[command(flatten)]
    pub server: Server,
    /// The id of a client at the issuer, if the server uses another than its own.
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,
    /// Sign in in a browser of any machine, by a code that is typed there; for machines without a browser.
    #[arg(long, conflicts_with = "name")]
    pub device: bool,
}

impl At {
    /// Signs a person in in a browser, of this machine or any other.
    async fn tokens(
        &self,
        issuer: &Issuer,
        client: &str,
        scope: &str,
        http: &reqwest::Client,
    ) -> Result<Tokens, RemoteError> {
        if self.device {
            device::sign_in(issuer, client, scope, http).await
        } else {
            browser::sign_in(issuer, client, scope, http, &Random::system()).await
        }
    }
}

/// Signs a person in, as `at` says, and returns an access token for `scope`. Stores nothing.
pub async fn sign_in(at: &At, scope: &str, config: &Config) -> Result<String, RemoteError> {
    let base_url = at.server.secure_url(config)?;
    let http = http(&base_url)?;
    let tokens = if let Some(name) = &at.name {
        demo_tokens(&base_url, name, scope, http, &Random::system()).await?
    } else {
        let issuer = Issuer::of(&base_url, &http).await?;
        let client = issuer.client(at.client_id.as_deref())?;
        at.tokens(&issuer, client, scope, &http).await?
    };
    if tokens.only_read(scope) {
        note(&Text::line(format!(
            "this token only reads, because the person allows this application no more: {base_url}/account changes that"
        )));
    }
    Ok(tokens.access_token.expose_secret().to_owned())
}

/// A caller of the API.
pub struct Api {
    base_url: String,
    token: SecretString,
    http: reqwest::Client,
}

/// An answer of the API.
pub struct Answer {
    /// All of it.
    pub json: Value,
    address: String,
}

impl Api {
    /// The API of a server for the person of an earlier sign-in, or of a sign-in in a browser, which is stored for the next time. A
    /// demo person needs neither.
    pub async fn open(at: &At, config: &Config) -> Result<Self, RemoteError> {
        let base_url = at.server.secure_url(config)?;
        let http = http(&base_url)?;
        if let Some(name) = &at.name {
            let token = login(&base_url, name, READ, http.clone(), &Random::system()).await?;
            return Ok(Self { base_url, token: token.into(), http });
        }
        let issuer = Issuer::of(&base_url, &http).await?;
        // One process at a time, because a refresh token is good for one use.
        let mut stored = SignIns::lock()?;
        let is_of = |kept: &SignIn| {
            kept.token_endpoint == issuer.token_endpoint()
                && at.client_id.as_ref().is_none_or(|client| *client == kept.client)
        };
        let kept = stored.of(&base_url).filter(is_of);
        let renewed = match kept {
            Some(SignIn { client, refresh_token, .. }) => {
                issuer.refresh(&client, &refresh_token, &http).await?.map(|tokens| (client, tokens))
            }
            None => None,
        };
        let (client, tokens) = if let Some(renewed) = renewed {
            renewed
        } else {
            drop(stored);
            let client = issuer.client(at.client_id.as_deref())?.to_owned();
            let tokens = at.tokens(&issuer, &client, STORED, &http).await?;
            stored = SignIns::lock()?;
            (client, tokens)
        };
        let good_until = tokens.good_until(Clock::system().now());
        let Tokens { access_token: token, refresh_token, .. } = tokens;
        if let Some(refresh_token) = refresh_token {
            let refresh_token = refresh_token.expose_secret().to_owned();
            let token_endpoint = issuer.token_endpoint().to_owned();
            if let Err(error) = stored.keep(&base_url, SignIn { client, token_endpoint, refresh_token, good_until }) {
                note(&Text::line(format!("the sign-in is not stored: {error}")));
            }
        }
        Ok(Self { base_url, token, http })
    }

    /// Asks an operation below `/api`, and again where the server says when.
    ///
    /// # Errors
    /// The server does not answer, or refuses with an error and a hint.
    pub async fn get(&self, path: &str, query: &BTreeMap<&str, String>) -> Result<Answer, RemoteError> {
        let address = format!("{}/api{path}", self.base_url);
        let mut tries = 0;
        loop {
            tries += 1;
            let request = self.http.get(&address).query(query).bearer_auth(self.token.expose_secret());
            let answer = send_up_to(OPERATION, request).await?;
            let status = answer.status;
            if status.is_success() {
                return Ok(Answer { json: answer.json()?, address });
            }
            let wait = answer.headers.get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
            if let Some(wait) = wait.map(Duration::from_secs).filter(|wait| tries < TRIES && *wait <= LONGEST_WAIT) {
                tokio::time::sleep(wait).await;
                continue;
            }
            return Err(RemoteError::Failed(match ErrorBody::parse_from_json(answer.json().ok()) {
                Ok(ErrorBody { error, hint, .. }) => hint.unwrap_or(error),
                Err(_) => format!("{} answered {status}", self.base_url),
            }));
        }
    }
}

impl Answer {
    /// Reads the part at a JSON pointer. The rest may be that of an older or a newer server.
    ///
    /// # Errors
    /// The part is something else.
    pub fn part<T: ParseFromJSON>(&self, pointer: &str) -> Result<T, RemoteError> {
        T::parse_from_json(self.json.pointer(pointer).cloned()).map_err(|error| {
            let why = short(error.message());
            RemoteError::Failed(format!("{} did not answer as Sightline does: {why}", self.address))
        })
    }
}

/// The client for requests to the server at `base_url`.
///
/// # Errors
/// No root certificates are available.
pub fn http(base_url: &str) -> Result<reqwest::Client, RemoteError> {
    app::http_client_to(base_url).map_err(|error| RemoteError::Failed(error.to_string()))
}
