//! Checks the credentials of a request and adds the caller, a [`Member`](crate::services::users::Member), to it.
//!
//! The operation table declares which operations need a caller. An unknown path below `/api` needs one too, so that strangers learn
//! nothing about the API except how to sign in. What a session cookie reads is stored by no cache.

use std::sync::Arc;

use api::{
    error::{ApiError, Code},
    operation::Access,
    scope::AskFor,
};
use common::{base_url::BaseUrl, digest::sha256_hex, rate_limit::Rate};
use identity::credentials::{challenge, presents_token};
use pages::client_address::client_address;
use poem::{
    Endpoint, Error, IntoResponse, Request, Response, Result,
    http::{HeaderValue, Method, StatusCode, header},
};
use telemetry::logs;

use super::{
    audience::{self, Visitors},
    failures::Failures,
    operation,
    rate_limit::{CountedAs, OPEN_REQUESTS},
};
use crate::{
    admission::{AdmissionError, Admissions, Admitted, Surface},
    caller_limits::LaterCount,
    config::Config,
    services::access::parse_id,
    web::{account, dashboard::Audience},
};

const NO_TOKEN: &str = "Send Authorization: Bearer <access token>; WWW-Authenticate says where to get one.";
const NO_SESSION: &str = "The session has ended; sign in, and send the form again.";
const NO_BEARER: &str = "Authorization: must be Bearer and the access token, with one space between.";
const BAD_TOKEN: &str =
    "The access token is expired, revoked or not of this service's issuer; refresh it or sign in again.";

/// Everything that the layer needs.
#[derive(Clone)]
pub struct Authenticate {
    /// Admits callers.
    pub admissions: Admissions,
    /// The surface, with the audience that access tokens must name.
    pub surface: Surface,
    /// The service's public root.
    pub base_url: BaseUrl,
    /// The URL of the metadata that says where to get a token.
    pub metadata: String,
    /// The scope to ask for first. `None` leaves it to the client.
    pub first_scope: Option<&'static str>,
    /// The base rate of share links.
    pub config: Arc<Config>,
    /// Counts failed sign-ins.
    pub failures: Failures,
}

/// The value of `WWW-Authenticate` for a refusal, as error data. [`errors`](super::errors) writes it.
#[derive(Debug, Clone)]
pub struct Challenge(pub String);

/// The authentication layer.
///
/// # Errors
/// 401 if the credentials are missing or invalid, and the errors of the inner layers.
pub async fn authenticate<E: Endpoint>(
    settings: Arc<Authenticate>,
    next: Arc<E>,
    mut request: Request,
) -> Result<Response> {
    match operation::of(&request).map(|operation| operation.access) {
        Some(Access::Public) => {}
        Some(Access::ShareToken) => settings.count_share_reader(&mut request),
        Some(Access::SessionOrOauth) | None => settings.admit(&mut request).await?,
    }
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let reads_by_session = is_read && request.data::<Admitted>().is_some_and(Admitted::is_by_session);
    let answer = next.call(request).await.map(IntoResponse::into_response);
    let mut answer = answer.map_err(|error| settings.challenged(error))?;
    if reads_by_session {
        // A browser would keep it on disk, also beyond the end of the session.
        answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    Ok(answer)
}

/// The authentication layer of the dashboard, whose pages lead strangers to sign-in themselves. A page counts once for its visitor,
/// however many operations it asks.
///
/// # Errors
/// 503 if the database does not answer, and the errors of the inner layers.
pub async fn recognise<E: Endpoint>(
    settings: Arc<Authenticate>,
    next: Arc<E>,
    mut request: Request,
) -> Result<Response> {
    match audience::of(&request).cloned() {
        Some(Visitors { audience: Audience::Readers, named: token }) => {
            let rate = Rate::new(OPEN_REQUESTS, OPEN_REQUESTS);
            let reader = CountedAs { rate, ..settings.reader(&token.unwrap_or_default(), &request) };
            request.set_data(CountedAs { key: format!("page/{}", reader.key), ..reader });
            // Its readers together count for the link's limit only if the page waits for the search engine.
            request.set_data(LaterCount::default());
        }
        Some(Visitors { audience: Audience::Takers, named: token }) => {
            let reader = settings.reader(&token.unwrap_or_default(), &request);
            request.set_data(reader);
        }
        Some(Visitors { audience: Audience::People, named: property }) => {
            let property = property.as_deref().and_then(parse_id);
            match settings.admissions.visitor(request.method(), request.headers(), property).await {
                Ok(Some(admitted)) => {
                    request.set_data(counted(&admitted));
                    request.set_data(admitted);
                }
                // Two sessions: sign-in would end here again.
                Err(error @ (AdmissionError::Database(_) | AdmissionError::Repeated(_))) => {
                    return Err(settings.failure(error));
                }
                // A stranger.
                _ => {}
            }
        }
        None => {}
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// The caller that a request counts for, and whom lines of the log name.
fn counted(admitted: &Admitted) -> CountedAs {
    logs::note_user(admitted.member.pseudonym());
    let key = format!("user/{}", admitted.member.user.id);
    CountedAs { under_way: key.clone(), key, rate: admitted.member.entitlement.rate }
}

impl Authenticate {
    /// Adds the challenge to a refusal of an inner layer: the token lacks a scope, or the caller was deleted while the request was under
    /// way.
    fn challenged(&self, mut error: Error) -> Error {
        if let Some(AskFor(scopes)) = error.data::<AskFor>() {
            let scopes = scopes.words().collect::<Vec<_>>().join(" ");
            error.set_data(Challenge(challenge(&self.metadata, Some("insufficient_scope"), Some(&scopes))));
        } else if error.status() == StatusCode::UNAUTHORIZED && error.data::<Challenge>().is_none() {
            error.set_data(Challenge(challenge(&self.metadata, Some("invalid_token"), self.first_scope)));
        }
        error
    }

    async fn admit(&self, request: &mut Request) -> Result<()> {
        let property = operation::of(request).filter(|operation| operation.is_property_scoped());
        let property = property.and_then(|operation| parse_id(operation.value("id", request.uri().path())?));
        let admitted = self.admissions.admit(request.method(), request.headers(), &self.surface, property).await;
        let admitted = match admitted {
            Ok(Some(admitted)) => admitted,
            Ok(None) => return Err(self.failures.counted(request, self.refusal(None, NO_TOKEN)).await),
            Err(error) => return Err(self.failed(request, error).await),
        };
        if operation::of(request).is_some_and(|operation| operation.is_paid)
            && let Err(error) = admitted.may_pay(request.headers())
        {
            return Err(self.failed(request, error).await);
        }
        request.set_data(counted(&admitted));
        request.set_data(admitted.member.clone());
        request.set_data(admitted.granted);
        request.set_data(admitted);
        Ok(())
    }

    /// Returns the answer to a failed authentication. A client whose token has expired is always told so, even if its address has
    /// too many failures, because otherwise it would not refresh. An outage of the issuer or the database counts as nobody's
    /// failure.
    async fn failed(&self, request: &Request, error: AdmissionError) -> Error {
        let withdrawn = matches!(
            error,
            AdmissionError::InvalidToken(_) | AdmissionError::AnotherAudience | AdmissionError::ClientRefused
        );
        let expired = withdrawn && presents_token(request.headers());
        let refusal = self.failure(error);
        if refusal.status().is_server_error() {
            refusal
        } else if expired {
            self.failures.told(request, refusal).await
        } else {
            self.failures.counted(request, refusal).await
        }
    }

    /// Counts requests with a share link by its token and its reader, and limits the requests in flight by its token.
    fn count_share_reader(&self, request: &mut Request) {
        let path = request.uri().path();
        let token = operation::of(request).and_then(|operation| operation.value("token", path)).unwrap_or_default();
        let reader = self.reader(token, request);
        request.set_data(reader);
    }

    /// The reader of a share link that a request counts for.
    fn reader(&self, token: &str, request: &Request) -> CountedAs {
        let under_way = format!("share/{}", sha256_hex(token));
        let key = format!("{under_way}/{}", client_address(request));
        let base = &self.config.rate_limit;
        CountedAs { key, rate: Rate::new(base.per_minute, base.burst), under_way }
    }

    fn failure(&self, error: AdmissionError) -> Error {
        match error {
            AdmissionError::InvalidToken(_) => self.refusal(Some("invalid_token"), BAD_TOKEN),
            AdmissionError::AnotherAudience => {
                let hint = format!(
                    "The access token is for another resource; get one for {0}: send resource={0} where you ask for it.",
                    self.surface.audience
                );
                self.refusal(Some("invalid_token"), &hint)
            }
            AdmissionError::ClientRefused => {
                let hint = format!(
                    "The person has withdrawn this application's access; it can be allowed again at {}{}.",
                    self.base_url,
                    account::PATH
                );
                self.refusal(Some("invalid_token"), &hint)
            }
            AdmissionError::NotBearer => self.refusal(Some("invalid_token"), NO_BEARER),
            AdmissionError::Repeated(header @ "Cookie") => {
                let hint = "holds two sessions of this service; delete the cookies of this host in your browser, and sign in again";
                ApiError::invalid(header, hint).into()
            }
            AdmissionError::Repeated(header) => ApiError::invalid(header, "present one credential, once").into(),
            AdmissionError::ForeignOrigin => {
                ApiError::new(Code::Forbidden).hint(format!("Origin: must be the origin of {}", self.base_url)).into()
            }
            AdmissionError::ForeignLink => {
                let hint = format!(
                    "Sec-Fetch-Site: must be same-origin or none, since this costs money; ask from {}",
                    self.base_url
                );
                ApiError::new(Code::Forbidden).hint(hint).into()
            }
            AdmissionError::IssuerUnavailable(error) => {
                tracing::warn!(%error, "the issuer is away");
                ApiError::new(Code::Unavailable).retry_after(5).into()
            }
            AdmissionError::Database(error) => ApiError::from(crate::error::Error::from(error)).into(),
        }
    }

    /// The refusal of a form of a page whose sender has no session.
    pub(super) fn without_session(&self) -> Error {
        self.refusal(None, NO_SESSION)
    }

    fn refusal(&self, problem: Option<&str>, hint: &str) -> Error {
        let mut error = Error::from(ApiError::new(Code::Unauthorized).hint(hint));
        error.set_data(Challenge(challenge(&self.metadata, problem, self.first_scope)));
        error
    }
}
