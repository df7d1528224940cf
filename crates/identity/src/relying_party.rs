//! The service as an `OpenID` Connect client: the authorization request, the code exchange, the ID token.

use std::time::Duration;

use chrono::{DateTime, Utc};
use common::{
    bounded::{self, Unread},
    clock::Clock,
    urls::is_secure,
};
use oauth2::{
    EmptyExtraTokenFields, RefreshToken, StandardRevocableToken, StandardTokenIntrospectionResponse, TokenResponse,
    basic::{BasicErrorResponse, BasicRevocationErrorResponse, BasicTokenType},
};
use openidconnect::{
    AccessToken, AuthType, AuthorizationCode, ClientId, ClientSecret, CsrfToken, HttpRequest, HttpResponse,
    JsonWebKeySet, LoginHint, Nonce, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope,
    TokenUrl, UserInfoUrl,
    core::{CoreAuthPrompt, CoreAuthenticationFlow, CoreClient},
};
use reqwest::{StatusCode, header::CONTENT_TYPE};
use sea_orm::DbErr;
use serde::{Deserialize, Serialize};
use url::Url;
use uuid::Uuid;

use super::{
    Claims, Email, IssuerUnavailable,
    id_token::{self, Expected, IdToken, Profile, Unverified},
    issuer::Issuer,
    jwks::Jwks,
    metadata::Metadata,
};

pub use super::id_token::StatedAddress;

const TIME_LIMIT: Duration = Duration::from_secs(10);

/// The reason why a browser was not signed in.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// The browser returned without the attempt that it started, or too late.
    #[error("no such attempt")]
    Lost,
    /// The issuer, or the person, refused.
    #[error("refused at the issuer")]
    Refused,
    /// The issuer does not respond.
    #[error(transparent)]
    IssuerUnavailable(#[from] IssuerUnavailable),
    /// The person deleted their data after they last proved to the issuer who they are.
    #[error("the person has left since the last sign-in")]
    Left,
    /// The issuer's response is invalid.
    #[error("{0}")]
    Failed(String),
    /// The database does not respond.
    #[error(transparent)]
    Database(#[from] DbErr),
}

/// The content of a verified ID token.
pub struct Redeemed {
    /// The person.
    pub claims: Claims,
    /// The issuer's session (`sid`), if it is named by a UUID.
    pub issuer_session: Option<Uuid>,
    /// The person's address, verified or not.
    pub address: Option<StatedAddress>,
    /// The time when the person last proved to the issuer who they are, if it says so.
    pub proven_at: Option<DateTime<Utc>>,
}

/// The demands on the issuer's sign-in.
#[derive(Debug, Default)]
pub struct Wishes {
    /// The address or name that the issuer's form begins with.
    pub login_hint: Option<String>,
    /// Values of `prompt`.
    pub prompts: Vec<String>,
    /// The most seconds since the person last proved who they are.
    pub max_age: Option<u32>,
}

/// The secrets of one attempt.
pub struct Attempt {
    /// Comes back with the code.
    pub state: CsrfToken,
    /// Comes back in the ID token.
    pub nonce: Nonce,
    /// The secret behind the PKCE challenge.
    pub verifier: PkceCodeVerifier,
}

/// The client registration at the issuer.
#[derive(Clone)]
pub struct RelyingParty {
    keys: Jwks,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    redirect_url: RedirectUrl,
    /// Further audiences that ID tokens for this client may have.
    trusted_audiences: Vec<String>,
    /// True if an address that the ID token lacks is asked for at the userinfo endpoint.
    reads_userinfo: bool,
    clock: Clock,
}

impl RelyingParty {
    /// The client `client_id` of the issuer of `keys`, whose redirect URI is `back`.
    pub fn new(
        keys: Jwks,
        client_id: &str,
        client_secret: Option<String>,
        back: String,
        clock: Clock,
    ) -> Result<Self, url::ParseError> {
        let redirect_url = RedirectUrl::new(back)?;
        let client_secret = client_secret.map(ClientSecret::new);
        let client_id = ClientId::new(client_id.to_owned());
        let trusted_audiences = Vec::new();
        Ok(Self { keys, client_id, client_secret, redirect_url, trusted_audiences, reads_userinfo: false, clock })
    }

    /// Returns the client with further audiences that its ID tokens may have, beside those that `azp` vouches for.
    #[must_use]
    pub fn trusting(self, trusted_audiences: Vec<String>) -> Self {
        Self { trusted_audiences, ..self }
    }

    /// Returns the client with a question to the userinfo endpoint for each ID token without an address.
    #[must_use]
    pub fn reading_userinfo(self) -> Self {
        Self { reads_userinfo: true, ..self }
    }

    /// The issuer at which people sign in.
    #[must_use]
    pub fn issuer(&self) -> &Issuer {
        self.keys.issuer()
    }

    /// Returns the URL to send the browser to.
    pub async fn authorize_url(&self, attempt: &Attempt, wishes: Wishes) -> Result<Url, SignInError> {
        let metadata = self.issuer().metadata().await?;
        let endpoint = metadata.authorization_endpoint.clone();
        let endpoint = endpoint.ok_or_else(|| failed("the issuer's metadata names no authorization_endpoint"))?;
        let client = CoreClient::new(self.client_id.clone(), metadata.issuer.clone(), JsonWebKeySet::default())
            .set_auth_uri(endpoint)
            .set_redirect_uri(self.redirect_url.clone());
        let (state, nonce) = (attempt.state.clone(), attempt.nonce.clone());
        let mut request = client
            .authorize_url(CoreAuthenticationFlow::AuthorizationCode, move || state, move || nonce)
            .add_scope(Scope::new("profile".to_owned()))
            .add_scope(Scope::new("email".to_owned()))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&attempt.verifier));
        if let Some(hint) = wishes.login_hint {
            request = request.set_login_hint(LoginHint::new(hint));
        }
        if let Some(seconds) = wishes.max_age {
            request = request.set_max_age(Duration::from_secs(seconds.into()));
        }
        for prompt in wishes.prompts {
            request = request.add_prompt(CoreAuthPrompt::Extension(prompt));
        }
        Ok(request.url().0)
    }

    /// Exchanges the code and verifies the ID token in the response. An invalid code costs one request to the issuer.
    pub async fn redeem(&self, code: String, attempt: Attempt) -> Result<Redeemed, SignInError> {
        let metadata = self.issuer().metadata().await?;
        check_endpoints(&metadata)?;
        let tokens = self.exchange(&metadata, code, attempt.verifier).await?;
        let token = tokens.id_token.as_deref().ok_or_else(|| failed("the answer has no ID token"))?;
        let signed = id_token::signed(&self.keys, token).await?;
        let expected = Expected {
            issuer: self.issuer().url(),
            client_id: &self.client_id,
            trusted_audiences: &self.trusted_audiences,
            nonce: attempt.nonce.secret(),
            access_token: tokens.access_token.secret(),
        };
        let read = IdToken::read(&signed, &expected, self.clock.now());
        let IdToken { mut profile, session, issued_at, auth_time } =
            read.map_err(|why| failed(format!("the ID token: {why}")))?;
        if self.reads_userinfo
            && profile.address.is_none()
            && let Some(endpoint) = &metadata.userinfo_endpoint
        {
            let said = self.userinfo(endpoint.url(), &tokens.access_token, &profile.subject).await?;
            profile.address = said.address;
            profile.name = profile.name.or(said.name);
        }
        let email = profile.address.as_ref();
        let email = email.and_then(|stated| Email::stated(&stated.address, stated.verified?));
        let Profile { subject, address, name } = profile;
        let issuer = self.issuer().people().to_owned();
        let claims = Claims { issuer, subject, email, name, issued_at, auth_time };
        Ok(Redeemed { claims, issuer_session: session, address, proven_at: auth_time })
    }

    async fn exchange(
        &self,
        metadata: &Metadata,
        code: String,
        verifier: PkceCodeVerifier,
    ) -> Result<Tokens, SignInError> {
        let endpoint = metadata.token_endpoint.clone();
        let endpoint = endpoint.ok_or_else(|| failed("the issuer's metadata names no token_endpoint"))?;
        let mut client = TokenClient::new(self.client_id.clone())
            .set_auth_type(authentication(metadata))
            .set_redirect_uri(self.redirect_url.clone())
            .set_token_uri(endpoint);
        if let Some(secret) = self.client_secret.clone() {
            client = client.set_client_secret(secret);
        }
        let http = self.issuer().http().clone();
        let http = move |request| send(http.clone(), request);
        let request = client.exchange_code(AuthorizationCode::new(code)).set_pkce_verifier(verifier);
        request.request_async(&http).await.map_err(|error| match error {
            RequestTokenError::Request(error) => unsent(&error),
            error => failed(error),
        })
    }

    /// Asks the provider about the person: JSON, or a JWT of the provider (`OpenID` Connect Core section 5.3.2).
    async fn userinfo(&self, endpoint: &Url, token: &AccessToken, subject: &str) -> Result<Profile, SignInError> {
        let request = self.issuer().http().get(endpoint.as_str()).bearer_auth(token.secret()).timeout(TIME_LIMIT);
        let response = available(request.send().await).map_err(|error| unsent(&error))?;
        if !response.status().is_success() {
            return Err(failed(format!("userinfo: status {}", response.status())));
        }
        let media_type = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let is_jwt = media_type.trim().to_ascii_lowercase().starts_with("application/jwt");
        let body = bounded::bytes(response, bounded::DOCUMENT).await.map_err(|error| unsent(&error))?;
        let claims = if is_jwt {
            let token = std::str::from_utf8(&body).map_err(failed)?.trim();
            id_token::signed(&self.keys, token).await?.claims
        } else {
            serde_json::from_slice(&body).map_err(|error| failed(format!("userinfo: {error}")))?
        };
        let profile = Profile::read(&claims).map_err(|why| failed(format!("userinfo: {why}")))?;
        if profile.subject == subject { Ok(profile) } else { Err(failed("userinfo: sub: another person")) }
    }
}

/// A client of a token endpoint with the answer that is read here.
type TokenClient = oauth2::Client<
    BasicErrorResponse,
    Tokens,
    StandardTokenIntrospectionResponse<EmptyExtraTokenFields, BasicTokenType>,
    StandardRevocableToken,
    BasicRevocationErrorResponse,
>;

/// The answer of a token endpoint, as far as it is used.
#[derive(Debug, Deserialize, Serialize)]
struct Tokens {
    access_token: AccessToken,
    #[serde(skip, default = "bearer")]
    token_type: BasicTokenType,
    id_token: Option<String>,
}

fn bearer() -> BasicTokenType {
    BasicTokenType::Bearer
}

impl TokenResponse for Tokens {
    type TokenType = BasicTokenType;

    fn access_token(&self) -> &AccessToken {
        &self.access_token
    }

    fn token_type(&self) -> &BasicTokenType {
        &self.token_type
    }

    fn expires_in(&self) -> Option<Duration> {
        None
    }

    fn refresh_token(&self) -> Option<&RefreshToken> {
        None
    }

    fn scopes(&self) -> Option<&Vec<Scope>> {
        None
    }
}

/// The way in which the client proves its identity: HTTP Basic (the standard's default), unless the issuer accepts only the form.
fn authentication(metadata: &Metadata) -> AuthType {
    let accepts = |way: &str| metadata.token_endpoint_auth_methods.iter().any(|method| method == way);
    let needs_form = accepts("client_secret_post") && !accepts("client_secret_basic");
    if needs_form { AuthType::RequestBody } else { AuthType::BasicAuth }
}

/// Refuses endpoints to which the code, the secret or a token would travel unencrypted.
fn check_endpoints(metadata: &Metadata) -> Result<(), SignInError> {
    let token = metadata.token_endpoint.as_ref().map(TokenUrl::url);
    let userinfo = metadata.userinfo_endpoint.as_ref().map(UserInfoUrl::url);
    match [token, userinfo].into_iter().flatten().find(|url| !is_secure(url)) {
        Some(url) => Err(failed(format!("{url} is not a secure address"))),
        None => Ok(()),
    }
}

/// Returns a response. One with status 503 is an error.
fn available(sent: reqwest::Result<reqwest::Response>) -> Result<reqwest::Response, Unread> {
    let response = sent.map_err(Unread::Broken)?;
    match response.status() {
        StatusCode::SERVICE_UNAVAILABLE => response.error_for_status().map_err(Unread::Broken),
        _ => Ok(response),
    }
}

/// Sends a request of the openidconnect crate through the service's own HTTP client. An answer with status 503 is an error.
async fn send(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, Unread> {
    let (parts, body) = request.into_parts();
    let request = http.request(parts.method, parts.uri.to_string()).headers(parts.headers);
    let response = available(request.body(body).timeout(TIME_LIMIT).send().await)?;
    let (status, headers) = (response.status(), response.headers().clone());
    let mut answer = HttpResponse::new(bounded::bytes(response, bounded::DOCUMENT).await?.to_vec());
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    Ok(answer)
}

impl From<Unverified> for SignInError {
    fn from(error: Unverified) -> Self {
        match error {
            Unverified::Refused(why) => Self::Failed(format!("a token of the provider: {why}")),
            Unverified::Unavailable(away) => away.into(),
        }
    }
}

/// A request without an answer that can be read. The issuer may be away.
fn unsent(error: &Unread) -> SignInError {
    match error {
        Unread::Broken(error) if error.is_status() || error.is_connect() || error.is_timeout() => {
            IssuerUnavailable(error.to_string()).into()
        }
        error => failed(error),
    }
}

fn failed(error: impl std::fmt::Display) -> SignInError {
    SignInError::Failed(error.to_string())
}
