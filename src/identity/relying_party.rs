//! The service as an `OpenID` Connect client: the authorization request, the code exchange, the ID token.

use std::time::Duration;

use chrono::{DateTime, SubsecRound as _, Utc};
use openidconnect::{
    AuthorizationCode, ClientId, ClientSecret, CsrfToken, HttpRequest, HttpResponse, LoginHint, Nonce,
    PkceCodeChallenge, PkceCodeVerifier, RedirectUrl, Scope, TokenResponse,
    core::{
        CoreAuthenticationFlow, CoreClient, CoreIdToken, CoreIdTokenClaims, CoreJsonWebKeySet, CoreProviderMetadata,
    },
};
use sea_orm::DbErr;
use url::Url;

use super::{Claims, Email, IssuerUnavailable, issuer::Issuer, jwks::Jwks, token::LEEWAY};
use crate::clock::Clock;

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
    /// The issuer's response is invalid.
    #[error("{0}")]
    Failed(String),
    /// The database does not respond.
    #[error(transparent)]
    Database(#[from] DbErr),
}

/// The secrets of one attempt.
pub(crate) struct Attempt {
    pub state: CsrfToken,
    pub nonce: Nonce,
    pub verifier: PkceCodeVerifier,
}

/// The client registration at the issuer.
#[derive(Clone)]
pub struct RelyingParty {
    keys: Jwks,
    client_id: ClientId,
    client_secret: Option<ClientSecret>,
    redirect_url: RedirectUrl,
    clock: Clock,
}

impl RelyingParty {
    /// The client `client_id` of the issuer of `keys`, whose redirect URI is `{base_url}/auth/callback`.
    pub fn new(
        keys: Jwks,
        client_id: &str,
        client_secret: Option<String>,
        base_url: &str,
        clock: Clock,
    ) -> Result<Self, url::ParseError> {
        let redirect_url = RedirectUrl::new(format!("{base_url}/auth/callback"))?;
        let client_secret = client_secret.map(ClientSecret::new);
        Ok(Self { keys, client_id: ClientId::new(client_id.to_owned()), client_secret, redirect_url, clock })
    }

    pub(crate) fn issuer(&self) -> &Issuer {
        self.keys.issuer()
    }

    /// Returns the URL to send the browser to.
    pub(crate) async fn authorize_url(&self, attempt: &Attempt, hint: Option<String>) -> Result<Url, SignInError> {
        let metadata = self.issuer().metadata().await?;
        let client = CoreClient::from_provider_metadata((*metadata).clone(), self.client_id.clone(), None)
            .set_redirect_uri(self.redirect_url.clone());
        let (state, nonce) = (attempt.state.clone(), attempt.nonce.clone());
        let mut request = client
            .authorize_url(CoreAuthenticationFlow::AuthorizationCode, move || state, move || nonce)
            .add_scope(Scope::new("profile".to_owned()))
            .add_scope(Scope::new("email".to_owned()))
            .set_pkce_challenge(PkceCodeChallenge::from_code_verifier_sha256(&attempt.verifier));
        if let Some(hint) = hint {
            request = request.set_login_hint(LoginHint::new(hint));
        }
        Ok(request.url().0)
    }

    /// Exchanges the code and verifies the ID token in the response. An invalid code costs one request to the issuer.
    pub(crate) async fn redeem(&self, code: String, attempt: Attempt) -> Result<Claims, SignInError> {
        let metadata: CoreProviderMetadata = (*self.issuer().metadata().await?).clone();
        let (id, secret) = (self.client_id.clone(), self.client_secret.clone());
        let client = CoreClient::from_provider_metadata(metadata.clone(), id.clone(), secret.clone())
            .set_redirect_uri(self.redirect_url.clone());
        let request = client.exchange_code(AuthorizationCode::new(code)).map_err(failed)?;
        let http = self.issuer().http().clone();
        let http = move |request| send(http.clone(), request);
        let tokens = request.set_pkce_verifier(attempt.verifier).request_async(&http).await.map_err(failed)?;
        let token = tokens.id_token().ok_or_else(|| failed("the answer has no ID token"))?;
        let client = CoreClient::from_provider_metadata(metadata.set_jwks(self.keys_for(token).await?), id, secret);
        let (clock, now) = (self.clock.clone(), self.clock.now());
        let verifier = client.id_token_verifier().set_time_fn(move || clock.now());
        let verifier = verifier.set_issue_time_verifier_fn(move |issued_at: DateTime<Utc>| {
            if issued_at <= now + LEEWAY { Ok(()) } else { Err("issued in the future".to_owned()) }
        });
        Ok(claims_of(token.claims(&verifier, &attempt.nonce).map_err(failed)?))
    }

    /// Returns the issuer's cached keys if they contain the one that signed `token`, and otherwise fetched ones.
    async fn keys_for(&self, token: &CoreIdToken) -> Result<CoreJsonWebKeySet, SignInError> {
        let kid = jsonwebtoken::decode_header(token.to_string()).ok().and_then(|header| header.kid);
        let document = self.keys.document(kid.as_deref()).await?;
        serde_json::from_value(document).map_err(failed)
    }
}

/// Sends a request of the openidconnect crate through the service's own HTTP client.
async fn send(http: reqwest::Client, request: HttpRequest) -> Result<HttpResponse, reqwest::Error> {
    let (parts, body) = request.into_parts();
    let request = http.request(parts.method, parts.uri.to_string()).headers(parts.headers);
    let response = request.body(body).timeout(TIME_LIMIT).send().await?;
    let (status, headers) = (response.status(), response.headers().clone());
    let mut answer = HttpResponse::new(response.bytes().await?.to_vec());
    *answer.status_mut() = status;
    *answer.headers_mut() = headers;
    Ok(answer)
}

fn claims_of(claims: &CoreIdTokenClaims) -> Claims {
    let email = claims.email().zip(claims.email_verified());
    let name = claims.name().and_then(|name| name.get(None));
    Claims {
        issuer: claims.issuer().as_str().to_owned(),
        subject: claims.subject().as_str().to_owned(),
        email: email.map(|(address, verified)| Email { address: address.as_str().to_owned(), verified }),
        name: name.map(|name| name.as_str().to_owned()),
        issued_at: claims.issue_time().trunc_subsecs(0),
    }
}

fn failed(error: impl std::fmt::Display) -> SignInError {
    SignInError::Failed(error.to_string())
}
