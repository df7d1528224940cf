//! Judges the credentials of a request and puts the caller's [`Identity`](crate::identity::Identity) into it.
//!
//! Which operations need a caller stands in the table of operations. An unknown path below `/api` needs one too, so that
//! the API says nothing about itself to strangers beyond how to sign in.

use std::sync::Arc;

use api::{
    error::{ApiError, Code},
    operation::{self, Access},
};
use poem::{Endpoint, Error, IntoResponse, Middleware, Request, Response, Result};

use super::{client_address, failures::Failures, rate_limit::CountedAs};
use crate::{
    clock::Clock,
    config::Config,
    digest::sha256_hex,
    identity::{
        authenticator::{AuthenticationError, Authenticator},
        credentials::{challenge, presents_token},
    },
    services::users::plans::Entitlement,
    store::rate_limit::Rate,
    web::well_known,
};

const NO_TOKEN: &str = "Send Authorization: Bearer <access token>; WWW-Authenticate says where to get one.";
const NO_BEARER: &str = "Authorization: must be Bearer and the access token, with one space between.";
const BAD_TOKEN: &str = "The access token is expired, revoked or not for this service; refresh it or sign in again.";

/// What authentication needs.
#[derive(Clone)]
pub struct Authenticate {
    /// Judges credentials.
    pub authenticator: Authenticator,
    /// What access tokens must name as their audience.
    pub audience: String,
    /// The service's public root, where the metadata stands.
    pub base_url: String,
    /// What each plan includes.
    pub config: Arc<Config>,
    /// What time it is.
    pub clock: Clock,
    /// Counts failed sign-ins.
    pub failures: Failures,
}

/// See [`Authenticate`].
pub struct AuthenticateEndpoint<E> {
    inner: E,
    settings: Authenticate,
}

/// The value of `WWW-Authenticate` that goes with a refusal, as error data; the envelope writes it.
#[derive(Debug, Clone)]
pub struct Challenge(pub String);

impl<E: Endpoint> Middleware<E> for Authenticate {
    type Output = AuthenticateEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        AuthenticateEndpoint { inner, settings: self.clone() }
    }
}

impl<E: Endpoint> Endpoint for AuthenticateEndpoint<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        match operation::find(request.method(), request.uri().path()).map(|operation| operation.access) {
            Some(Access::Public) => {}
            Some(Access::ShareToken) => self.settings.count_share_reader(&mut request),
            Some(Access::SessionOrOauth) | None => self.settings.identify(&mut request).await?,
        }
        self.inner.call(request).await.map(IntoResponse::into_response)
    }
}

impl Authenticate {
    async fn identify(&self, request: &mut Request) -> Result<()> {
        let found = self.authenticator.authenticate(request.method(), request.headers(), &self.audience).await;
        let identity = match found {
            Ok(Some(identity)) => identity,
            Ok(None) => return Err(self.failures.counted(request, self.refusal(None, NO_TOKEN))),
            Err(error) => return Err(self.failed(request, error)),
        };
        let rate = Entitlement::of(&self.config, &identity.user, self.clock.now()).rate;
        let key = format!("user/{}", identity.user.id);
        request.set_data(CountedAs { under_way: key.clone(), key, rate });
        request.set_data(identity);
        Ok(())
    }

    /// A client whose token has expired is told so whatever others of its address do: otherwise it would not refresh. That the issuer
    /// or the database is away is nobody's failure.
    fn failed(&self, request: &Request, error: AuthenticationError) -> Error {
        let expired = matches!(error, AuthenticationError::InvalidToken(_)) && presents_token(request.headers());
        let refusal = self.failure(error);
        if refusal.status().is_server_error() {
            refusal
        } else if expired {
            self.failures.told(request, refusal)
        } else {
            self.failures.counted(request, refusal)
        }
    }

    /// A share link is counted by its token and by who reads it; what is under way, by its token.
    fn count_share_reader(&self, request: &mut Request) {
        let token = request.uri().path().split('/').nth(3).unwrap_or_default();
        let under_way = format!("share/{}", sha256_hex(token));
        let key = format!("{under_way}/{}", client_address::of(request));
        let base = &self.config.rate_limit;
        request.set_data(CountedAs { key, rate: Rate::new(base.per_minute, base.burst), under_way });
    }

    fn failure(&self, error: AuthenticationError) -> Error {
        match error {
            AuthenticationError::InvalidToken(_) => self.refusal(Some("invalid_token"), BAD_TOKEN),
            AuthenticationError::NotBearer => self.refusal(Some("invalid_token"), NO_BEARER),
            AuthenticationError::InvalidRequest => {
                ApiError::invalid("Authorization", "present one credential, once").into()
            }
            AuthenticationError::ForeignOrigin => {
                ApiError::new(Code::Forbidden).hint(format!("Origin: must be the origin of {}", self.base_url)).into()
            }
            AuthenticationError::IssuerUnavailable(error) => {
                tracing::warn!(%error, "the issuer is away");
                ApiError::new(Code::Unavailable).retry_after(5).into()
            }
            AuthenticationError::Database(error) => ApiError::from(crate::error::Error::from(error)).into(),
        }
    }

    fn refusal(&self, problem: Option<&str>, hint: &str) -> Error {
        let metadata = format!("{}{}", self.base_url, well_known::API_PATH);
        let mut error = Error::from(ApiError::new(Code::Unauthorized).hint(hint));
        error.set_data(Challenge(challenge(&metadata, problem)));
        error
    }
}
