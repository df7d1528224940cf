//! Turns the credentials of a request into an [`Identity`].

use std::sync::Arc;

use http::{HeaderMap, Method, header};
use sea_orm::DbErr;

use super::{
    Credential, Identity, IssuerUnavailable, Users,
    credentials::{self, CredentialsError, Presented, SESSION_COOKIE, host_cookie},
    session::Sessions,
    token::{TokenError, Verifier},
};

/// Authenticates requests for every surface.
#[derive(Clone)]
pub struct Authenticator {
    verifier: Verifier,
    sessions: Sessions,
    users: Arc<dyn Users>,
    origin: String,
    session_cookie: String,
}

/// Why a request is neither anonymous nor authenticated.
#[derive(Debug, thiserror::Error)]
pub enum AuthenticationError {
    /// Two credentials at once: 400 `invalid_request`.
    #[error("present one credential, once")]
    InvalidRequest,
    /// There is an `Authorization` header, and no bearer token in it: 401 with `error="invalid_token"`.
    #[error("not a bearer token")]
    NotBearer,
    /// The token (or what stands in its place) is not good: 401 with `error="invalid_token"`.
    #[error("the access token is missing, expired or not valid: {0}")]
    InvalidToken(&'static str),
    /// A write with the session cookie that does not come from our own pages: 403.
    #[error("writes with the session cookie must come from the service's own origin")]
    ForeignOrigin,
    /// The issuer's keys cannot be read: 503, with `Retry-After`.
    #[error(transparent)]
    IssuerUnavailable(#[from] IssuerUnavailable),
    /// The database does not answer: 5xx.
    #[error(transparent)]
    Database(#[from] DbErr),
}

impl Authenticator {
    /// `base_url` is the address of our own pages, whose origin session-cookie writes must name.
    #[must_use]
    pub fn new(verifier: Verifier, sessions: Sessions, users: Arc<dyn Users>, base_url: &str) -> Self {
        let origin = url::Url::parse(base_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        Self { verifier, sessions, users, origin, session_cookie: host_cookie(SESSION_COOKIE, base_url) }
    }

    /// Who sends this request to the surface `audience`; `None` if it presents nothing, or only a cookie that has expired.
    pub async fn authenticate(
        &self,
        method: &Method,
        headers: &HeaderMap,
        audience: &str,
    ) -> Result<Option<Identity>, AuthenticationError> {
        match credentials::presented(headers, &self.session_cookie) {
            Ok(Presented::Bearer(token)) => self.bearer(&token, audience).await.map(Some),
            Ok(Presented::Session(value)) => self.session(&value, method, headers).await,
            Ok(Presented::Nothing) => Ok(None),
            Err(CredentialsError::Repeated) => Err(AuthenticationError::InvalidRequest),
            Err(CredentialsError::NotBearer) => Err(AuthenticationError::NotBearer),
        }
    }

    /// Who a bearer token stands for; also for surfaces that accept no cookies.
    pub async fn bearer(&self, token: &str, audience: &str) -> Result<Identity, AuthenticationError> {
        let token = self.verifier.verify(token, audience).await.map_err(|error| match error {
            TokenError::Invalid(reason) => AuthenticationError::InvalidToken(reason),
            TokenError::IssuerUnavailable(error) => error.into(),
            TokenError::Database(error) => error.into(),
        })?;
        let user = self.users.resolve(&token.claims).await?;
        let credential =
            Credential::AccessToken { token_id: token.id, client_id: token.client_id, expires_at: token.expires_at };
        Ok(Identity { user, credential })
    }

    async fn session(
        &self,
        value: &str,
        method: &Method,
        headers: &HeaderMap,
    ) -> Result<Option<Identity>, AuthenticationError> {
        let Some((session, user)) = self.sessions.find(value).await? else { return Ok(None) };
        if !method.is_safe() && !is_same_origin(headers, &self.origin) {
            return Err(AuthenticationError::ForeignOrigin);
        }
        let credential = Credential::Session { id: session.hash };
        Ok(Some(Identity { user, credential }))
    }
}

/// Whether the request says that it comes from a page of `origin`.
#[must_use]
pub fn is_same_origin(headers: &HeaderMap, origin: &str) -> bool {
    let mut lines = headers.get_all(header::ORIGIN).iter();
    matches!((lines.next(), lines.next()), (Some(line), None) if line.as_bytes() == origin.as_bytes())
}
