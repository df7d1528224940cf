//! The OAuth grant by which an account gives the service read access: authorization code with PKCE, refresh, revocation.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use common::{
    bounded,
    json::{self, NoError},
    plain_text::is_line,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error as _},
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use url::Url;

use super::error::SearchEngineError;

/// The only scope that the service ever requests.
pub const READONLY_SCOPE: &str = "https://www.googleapis.com/auth/webmasters.readonly";

/// A scope that includes [`READONLY_SCOPE`].
const WRITING_SCOPE: &str = "https://www.googleapis.com/auth/webmasters";

/// Time limit of one request. A person may be waiting for the page.
const TIME_LIMIT: Duration = Duration::from_secs(15);

/// The longest identifier of a person in bytes (`OpenID` Connect Core, section 2).
const LONGEST_SUBJECT: usize = 255;

/// The longest e-mail address in bytes (RFC 5321, section 4.5.3.1).
const LONGEST_EMAIL: usize = 64 + 1 + 255;

/// The OAuth endpoints and the client's credentials.
#[derive(Debug, Clone)]
pub struct OauthSettings {
    /// Authorization endpoint.
    pub authorize_url: String,
    /// Token endpoint.
    pub token_url: String,
    /// Revocation endpoint.
    pub revoke_url: String,
    /// User-info endpoint.
    pub userinfo_url: String,
    /// Client id.
    pub client_id: String,
    /// Client secret.
    pub client_secret: SecretString,
}

/// The response of the token endpoint.
#[derive(Debug, Clone, Deserialize)]
pub struct TokenAnswer {
    #[serde(default, rename = "error")]
    _error: NoError,
    /// The access token.
    #[serde(deserialize_with = "access_token")]
    pub access_token: SecretString,
    /// The lifetime. `None` if the search engine says none that can be read.
    #[serde(default, rename = "expires_in", deserialize_with = "lifetime")]
    pub lifetime: Option<Duration>,
    /// The refresh token. A refresh returns one only if it replaced the old one.
    #[serde(default, deserialize_with = "refresh_token")]
    pub refresh_token: Option<SecretString>,
    /// The granted scopes, which may be fewer than requested.
    pub scope: Option<String>,
}

/// The profile of an account, from the search engine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UserInfo {
    #[serde(default, rename = "error")]
    _error: NoError,
    /// Stable identifier.
    #[serde(deserialize_with = "subject")]
    pub sub: String,
    /// E-mail address.
    #[serde(default, deserialize_with = "email")]
    pub email: Option<String>,
}

/// The answer to a revocation, which says nothing but that it was done.
#[derive(Deserialize)]
struct Revoked {
    #[serde(default, rename = "error")]
    _error: NoError,
}

/// Reads a token that a header can hold.
fn access_token<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SecretString, D::Error> {
    let token = String::deserialize(deserializer)?;
    if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(D::Error::custom("the access token is empty or has characters that no token has"));
    }
    Ok(token.into())
}

/// Reads a refresh token. An empty one is none: it must not replace the stored one.
fn refresh_token<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<SecretString>, D::Error> {
    let token = Option::<String>::deserialize(deserializer)?;
    Ok(token.filter(|token| !token.is_empty()).map(SecretString::from))
}

/// Reads seconds, as a number or as a text. Anything else does not make the tokens beside it worthless.
fn lifetime<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    let seconds = match Value::deserialize(deserializer)? {
        Value::Number(seconds) => seconds.as_f64(),
        Value::String(seconds) => seconds.trim().parse().ok(),
        _ => None,
    };
    let seconds = seconds.filter(|seconds: &f64| !seconds.is_nan());
    Ok(seconds.map(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX)))
}

/// Reads the name of a person, by which accounts are told apart.
fn subject<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let subject = String::deserialize(deserializer)?;
    if subject.is_empty() || subject.len() > LONGEST_SUBJECT {
        return Err(D::Error::custom("sub is empty or too long"));
    }
    Ok(subject)
}

/// Reads an address. An empty one is none.
fn email<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let email = Option::<String>::deserialize(deserializer)?.filter(|email| !email.is_empty());
    if email.as_ref().is_some_and(|email| email.len() > LONGEST_EMAIL) {
        return Err(D::Error::custom("email is too long"));
    }
    Ok(email)
}

impl TokenAnswer {
    /// Returns whether the grant allows reading search data. A person can untick that on the consent page. An answer without
    /// scopes grants what was requested (RFC 6749, section 5.1).
    #[must_use]
    pub fn may_read(&self) -> bool {
        let granted = self.scope.as_deref().unwrap_or(READONLY_SCOPE);
        granted.split(' ').any(|scope| scope == READONLY_SCOPE || scope == WRITING_SCOPE)
    }
}

/// A request for consent.
#[derive(Debug, Clone, Copy)]
pub struct Consent<'a> {
    /// The URL to which the browser returns.
    pub redirect_uri: &'a str,
    /// The value that the browser brings back.
    pub state: &'a str,
    /// The PKCE verifier.
    pub verifier: &'a str,
    /// The pages that the search engine must show: `consent`, `select_account`. `None`: it decides.
    pub prompt: Option<&'a str>,
    /// The account to preselect.
    pub login_hint: Option<&'a str>,
}

#[derive(Debug, Default, Deserialize)]
struct Refusal {
    #[serde(default)]
    error: String,
    #[serde(default)]
    error_description: String,
}

/// The client of the OAuth endpoints.
#[derive(Debug, Clone)]
pub struct Oauth {
    settings: OauthSettings,
    http: reqwest::Client,
}

impl Oauth {
    /// Creates the client. Sends no request.
    #[must_use]
    pub fn new(settings: OauthSettings, http: reqwest::Client) -> Self {
        Self { settings, http }
    }

    /// The URL where a person consents to reading without being present, with the scopes granted earlier.
    pub fn authorize_url(&self, consent: &Consent<'_>) -> Result<Url, SearchEngineError> {
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(consent.verifier));
        let mut url = Url::parse(&self.settings.authorize_url)
            .map_err(|e| SearchEngineError::Misconfigured(format!("search_engine.authorize_url: {e}")))?;
        url.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &self.settings.client_id)
            .append_pair("redirect_uri", consent.redirect_uri)
            .append_pair("scope", &format!("openid email {READONLY_SCOPE}"))
            .append_pair("state", consent.state)
            .append_pair("code_challenge", &challenge)
            .append_pair("code_challenge_method", "S256")
            .append_pair("access_type", "offline")
            .append_pair("include_granted_scopes", "true");
        for (name, value) in [("prompt", consent.prompt), ("login_hint", consent.login_hint)] {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, value);
            }
        }
        Ok(url)
    }

    /// Exchanges a code for the grant. The caller checks [`TokenAnswer::may_read`].
    pub async fn exchange(
        &self,
        code: &str,
        redirect_uri: &str,
        verifier: &str,
    ) -> Result<TokenAnswer, SearchEngineError> {
        let form = [
            ("grant_type", "authorization_code"),
            ("code", code),
            ("redirect_uri", redirect_uri),
            ("code_verifier", verifier),
        ];
        self.token(&form).await
    }

    /// Returns a new access token. `Disconnected` if the grant has ended.
    pub async fn refresh(&self, refresh_token: &SecretString) -> Result<TokenAnswer, SearchEngineError> {
        self.token(&[("grant_type", "refresh_token"), ("refresh_token", refresh_token.expose_secret())]).await
    }

    /// Revokes the grant. A grant that has already ended counts as revoked.
    pub async fn revoke(&self, token: &SecretString) -> Result<(), SearchEngineError> {
        let request = self.http.post(&self.settings.revoke_url).form(&[("token", token.expose_secret())]);
        let answer = Said::of(request).await?;
        if answer.status == 200 {
            // A page of a proxy is no confirmation.
            return if answer.body.is_empty() { Ok(()) } else { answer.read::<Revoked>("revocation").map(drop) };
        }
        let (status, refusal) = (answer.status, answer.refusal());
        match (status, refusal.error.as_str()) {
            (400, "invalid_token") => Ok(()),
            (408 | 429 | 500.., error) | (_, error @ "") => {
                Err(SearchEngineError::unavailable(format!("revocation answered {status} {error}")))
            }
            (_, error) => Err(SearchEngineError::InvalidRequest(format!("revocation answered {status} {error}"))),
        }
    }

    /// Returns the profile of the account that an access token belongs to. An address with control characters is none.
    pub async fn userinfo(&self, access_token: &SecretString) -> Result<UserInfo, SearchEngineError> {
        let request = self.http.get(&self.settings.userinfo_url).bearer_auth(access_token.expose_secret());
        let answer = Said::of(request).await?;
        if answer.status != 200 {
            return Err(SearchEngineError::unavailable(format!("userinfo answered {}", answer.status)));
        }
        let mut profile: UserInfo = answer.read("userinfo")?;
        if !is_line(&profile.sub) {
            return Err(SearchEngineError::unavailable("userinfo answered an identifier with control characters"));
        }
        profile.email = profile.email.filter(|email| is_line(email));
        Ok(profile)
    }

    async fn token(&self, form: &[(&str, &str)]) -> Result<TokenAnswer, SearchEngineError> {
        let client = [
            ("client_id", self.settings.client_id.as_str()),
            ("client_secret", self.settings.client_secret.expose_secret()),
        ];
        let form: Vec<_> = form.iter().chain(&client).collect();
        let answer = Said::of(self.http.post(&self.settings.token_url).form(&form)).await?;
        if answer.status == 200 {
            return answer.read("the token endpoint");
        }
        let (status, refusal) = (answer.status, answer.refusal());
        let said = format!("{status} {} {}", refusal.error, refusal.error_description);
        Err(match (status, refusal.error.as_str()) {
            (_, "invalid_grant") => SearchEngineError::Disconnected(said),
            (_, "server_error" | "temporarily_unavailable" | "internal_failure") | (408 | 429 | 500.., _) => {
                SearchEngineError::unavailable(said)
            }
            // Without an error code it comes from a proxy in between.
            (_, "") => SearchEngineError::unavailable(said),
            _ => SearchEngineError::Misconfigured(said),
        })
    }
}

/// An answer of an OAuth endpoint.
struct Said {
    status: u16,
    body: Bytes,
}

impl Said {
    async fn of(request: reqwest::RequestBuilder) -> Result<Self, SearchEngineError> {
        let lost = |error: reqwest::Error| SearchEngineError::unavailable(error.without_url().to_string());
        let answer = request.timeout(TIME_LIMIT).send().await.map_err(lost)?;
        let status = answer.status().as_u16();
        let body = bounded::bytes(answer, bounded::DOCUMENT).await;
        Ok(Self { status, body: body.map_err(|error| SearchEngineError::unavailable(error.to_string()))? })
    }

    /// Reads a good answer. One that lacks what it must have, or holds an error, counts as none.
    fn read<T: DeserializeOwned>(&self, endpoint: &str) -> Result<T, SearchEngineError> {
        json::object(&self.body).map_err(|error| {
            let (status, refusal) = (self.status, self.refusal().error);
            // The parser's message might quote a token.
            let place = format!("line {} column {}", error.line(), error.column());
            SearchEngineError::unavailable(format!("{endpoint} answered {status} {refusal}, but no answer at {place}"))
        })
    }

    fn refusal(&self) -> Refusal {
        json::object(&self.body).unwrap_or_default()
    }
}
