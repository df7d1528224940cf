//! The service as an `OpenID` Connect client: the authorization request, the code exchange, the ID token.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::{DateTime, SubsecRound as _, Utc};
use common::{
    bounded::{self, Unread},
    clock::Clock,
    plain_text,
    urls::is_secure,
};
use openidconnect::{
    AuthType, AuthorizationCode, ClientId, ClientSecret, CsrfToken, EndUserEmail, HttpRequest, HttpResponse, LoginHint,
    Nonce, OAuth2TokenResponse as _, PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, RequestTokenError, Scope,
    TokenResponse, TokenUrl, UserInfoError, UserInfoUrl,
    core::{
        CoreAuthPrompt, CoreAuthenticationFlow, CoreClient, CoreClientAuthMethod, CoreIdToken, CoreIdTokenClaims,
        CoreJsonWebKeySet, CoreUserInfoClaims,
    },
};
use reqwest::StatusCode;
use sea_orm::DbErr;
use serde::Deserialize;
use url::Url;
use uuid::Uuid;

use super::{Claims, Email, IssuerUnavailable, issuer::Issuer, jwks::Jwks, metadata::Metadata, token::LEEWAY};

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

/// An e-mail address as an issuer states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatedAddress {
    /// The address.
    pub address: String,
    /// True if the issuer has verified it. `None` if the issuer does not say.
    pub verified: Option<bool>,
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
        Ok(Self { keys, client_id, client_secret, redirect_url, reads_userinfo: false, clock })
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
        let client = CoreClient::from_provider_metadata((*metadata).clone(), self.client_id.clone(), None)
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
        let metadata: Metadata = (*self.issuer().metadata().await?).clone();
        check_endpoints(&metadata)?;
        let (id, secret) = (self.client_id.clone(), self.client_secret.clone());
        let client = CoreClient::from_provider_metadata(metadata.clone(), id.clone(), secret.clone())
            .set_auth_type(authentication(&metadata))
            .set_redirect_uri(self.redirect_url.clone());
        let request = client.exchange_code(AuthorizationCode::new(code)).map_err(failed)?;
        let http = self.issuer().http().clone();
        let http = move |request| send(http.clone(), request);
        let tokens = request.set_pkce_verifier(attempt.verifier).request_async(&http).await;
        let tokens = tokens.map_err(|error| match error {
            RequestTokenError::Request(error) => unsent(&error),
            error => failed(error),
        })?;
        let token = tokens.id_token().ok_or_else(|| failed("the answer has no ID token"))?;
        let client = CoreClient::from_provider_metadata(metadata.set_jwks(self.keys_for(token).await?), id, secret);
        let (clock, now) = (self.clock.clone(), self.clock.now());
        let verifier = client.id_token_verifier().set_time_fn(move || clock.now());
        let verifier = verifier.set_issue_time_verifier_fn(move |issued_at: DateTime<Utc>| {
            if issued_at <= now + LEEWAY { Ok(()) } else { Err("issued in the future".to_owned()) }
        });
        let said = token.claims(&verifier, &attempt.nonce).map_err(failed)?;
        // The library accepts a single audience, this client, and leaves `azp` to its callers.
        if said.authorized_party().is_some_and(|party| party != &self.client_id) {
            return Err(failed("the ID token was made for another client"));
        }
        if !plain_text::is_line(said.subject()) {
            return Err(failed("the subject of the ID token holds control characters"));
        }
        let mut redeemed = Redeemed {
            claims: claims_of(said, self.issuer().people()),
            issuer_session: session_of(token),
            address: said.email().and_then(|address| stated(address, said.email_verified())),
            proven_at: said.auth_time(),
        };
        if self.reads_userinfo && redeemed.address.is_none() {
            let claims: Option<CoreUserInfoClaims> =
                match client.user_info(tokens.access_token().clone(), Some(said.subject().clone())) {
                    Ok(request) => Some(request.request_async(&http).await.map_err(|error| match error {
                        UserInfoError::Request(error) => unsent(&error),
                        error => failed(error),
                    })?),
                    Err(_) => None,
                };
            redeemed.complete(claims.as_ref());
        }
        Ok(redeemed)
    }

    /// Returns the issuer's cached keys if they contain the one that signed `token`, and otherwise fetched ones.
    async fn keys_for(&self, token: &CoreIdToken) -> Result<CoreJsonWebKeySet, SignInError> {
        let kid = jsonwebtoken::decode_header(token.to_string()).ok().and_then(|header| header.kid);
        let document = self.keys.document(kid.as_deref()).await?;
        serde_json::from_value(document).map_err(failed)
    }
}

impl Redeemed {
    /// Adds the address and name that the ID token lacks.
    fn complete(&mut self, claims: Option<&CoreUserInfoClaims>) {
        let Some(claims) = claims else { return };
        self.address = claims.email().and_then(|address| stated(address, claims.email_verified()));
        let name = claims.name().and_then(|name| name.get(None));
        let name = name.and_then(|name| plain_text::name(name.as_str()));
        self.claims.name = self.claims.name.take().or(name);
    }
}

fn stated(address: &EndUserEmail, verified: Option<bool>) -> Option<StatedAddress> {
    let address = address.as_str();
    plain_text::is_line(address).then(|| StatedAddress { address: address.to_owned(), verified })
}

/// The way in which the client proves its identity: HTTP Basic (the standard's default), unless the issuer accepts only the form.
fn authentication(metadata: &Metadata) -> AuthType {
    match metadata.token_endpoint_auth_methods_supported() {
        Some(methods)
            if !methods.contains(&CoreClientAuthMethod::ClientSecretBasic)
                && methods.contains(&CoreClientAuthMethod::ClientSecretPost) =>
        {
            AuthType::RequestBody
        }
        _ => AuthType::BasicAuth,
    }
}

/// Refuses endpoints to which the code, the secret or a token would travel unencrypted.
fn check_endpoints(metadata: &Metadata) -> Result<(), SignInError> {
    let token = metadata.token_endpoint().map(TokenUrl::url);
    let userinfo = metadata.userinfo_endpoint().map(UserInfoUrl::url);
    match [token, userinfo].into_iter().flatten().find(|url| !is_secure(url)) {
        Some(url) => Err(failed(format!("{url} is not a secure address"))),
        None => Ok(()),
    }
}

/// Sends a request of the openidconnect crate through the service's own HTTP client. An answer with status 503 is an error.
async fn send(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, Unread> {
    let (parts, body) = request.into_parts();
    let request = http.request(parts.method, parts.uri.to_string()).headers(parts.headers);
    let mut response = request.body(body).timeout(TIME_LIMIT).send().await.map_err(Unread::Broken)?;
    if response.status() == StatusCode::SERVICE_UNAVAILABLE {
        response = response.error_for_status().map_err(Unread::Broken)?;
    }
    let (status, headers) = (response.status(), response.headers().clone());
    let mut answer = HttpResponse::new(bounded::bytes(response, bounded::DOCUMENT).await?.to_vec());
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    Ok(answer)
}

fn claims_of(claims: &CoreIdTokenClaims, people: &str) -> Claims {
    let email = claims.email().zip(claims.email_verified());
    let name = claims.name().and_then(|name| name.get(None));
    Claims {
        issuer: people.to_owned(),
        subject: claims.subject().as_str().to_owned(),
        email: email.and_then(|(address, verified)| Email::stated(address.as_str(), verified)),
        name: name.and_then(|name| plain_text::name(name.as_str())),
        issued_at: claims.issue_time().trunc_subsecs(0),
        auth_time: claims.auth_time().map(|at| at.trunc_subsecs(0)),
    }
}

/// Returns the session that a verified token names. The library's standard claims lack it.
fn session_of(token: &CoreIdToken) -> Option<Uuid> {
    #[derive(Deserialize)]
    struct Body {
        sid: Option<String>,
    }
    let token = token.to_string();
    let body = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    Uuid::try_parse(&serde_json::from_slice::<Body>(&body).ok()?.sid?).ok()
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
