//! The OAuth grant by which an account gives the service read access: authorization code with PKCE, refresh, revocation.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use common::plain_text::is_line;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use sha2::{Digest, Sha256};
use url::Url;

use super::error::SearchEngineError;

/// The only scope that the service ever requests.
pub const READONLY_SCOPE: &str = "https://www.googleapis.com/auth/webmasters.readonly";

/// A scope that includes [`READONLY_SCOPE`].
const WRITING_SCOPE: &str = "https://www.googleapis.com/auth/webmasters";

/// Time limit of one request. A person may be waiting for the page.
const TIME_LIMIT: Duration = Duration::from_secs(15);

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
    /// The access token.
    pub access_token: SecretString,
    /// Lifetime in seconds.
    pub expires_in: Option<u64>,
    /// The refresh token. A refresh returns one only if it replaced the old one.
    pub refresh_token: Option<SecretString>,
    /// The granted scopes, which may be fewer than requested.
    pub scope: Option<String>,
}

/// The profile of an account, from the search engine.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct UserInfo {
    /// Stable identifier.
    pub sub: String,
    /// E-mail address.
    pub email: Option<String>,
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
        let answer = request.timeout(TIME_LIMIT).send().await.map_err(transport)?;
        let status = answer.status().as_u16();
        if status == 200 {
            return Ok(());
        }
        let refusal: Refusal = answer.json().await.unwrap_or_default();
        match (status, refusal.error.as_str()) {
            (400, "invalid_token") => Ok(()),
            (408 | 429 | 500.., error) => {
                Err(SearchEngineError::unavailable(format!("revocation answered {status} {error}")))
            }
            (_, error) => Err(SearchEngineError::InvalidRequest(format!("revocation answered {status} {error}"))),
        }
    }

    /// Returns the profile of the account that an access token belongs to. An address with control characters is none.
    pub async fn userinfo(&self, access_token: &SecretString) -> Result<UserInfo, SearchEngineError> {
        let request = self.http.get(&self.settings.userinfo_url).bearer_auth(access_token.expose_secret());
        let answer = request.timeout(TIME_LIMIT).send().await.map_err(transport)?;
        if !answer.status().is_success() {
            return Err(SearchEngineError::unavailable(format!("userinfo answered {}", answer.status())));
        }
        let UserInfo { sub, email } = answer.json().await.map_err(transport)?;
        if !is_line(&sub) {
            return Err(SearchEngineError::unavailable("userinfo answered an identifier with control characters"));
        }
        Ok(UserInfo { sub, email: email.filter(|email| is_line(email)) })
    }

    async fn token(&self, form: &[(&str, &str)]) -> Result<TokenAnswer, SearchEngineError> {
        let client = [
            ("client_id", self.settings.client_id.as_str()),
            ("client_secret", self.settings.client_secret.expose_secret()),
        ];
        let form: Vec<_> = form.iter().chain(&client).collect();
        let request = self.http.post(&self.settings.token_url).form(&form);
        let answer = request.timeout(TIME_LIMIT).send().await.map_err(transport)?;
        let status = answer.status().as_u16();
        if status == 200 {
            return answer.json().await.map_err(transport);
        }
        let refusal: Refusal = answer.json().await.unwrap_or_default();
        let said = format!("{status} {} {}", refusal.error, refusal.error_description);
        Err(match (status, refusal.error.as_str()) {
            (_, "invalid_grant") => SearchEngineError::Disconnected(said),
            (_, "server_error" | "temporarily_unavailable" | "internal_failure") | (408 | 429 | 500.., _) => {
                SearchEngineError::unavailable(said)
            }
            _ => SearchEngineError::Misconfigured(said),
        })
    }
}

fn transport(error: reqwest::Error) -> SearchEngineError {
    SearchEngineError::unavailable(error.without_url().to_string())
}
