//! Resolves the credentials and the path of a request to a user, plan, property and role.
//!
//! One statement for each request reads everything, so a revocation takes effect with the next request, on every replica.

use std::sync::Arc;

use api::{
    error::ApiError,
    models::Role,
    operation::{Operation, PlanPart},
    scope::{Granted, Scopes},
};
use chrono::{DateTime, Utc};
use common::{allowance::Allowance, base_url::BaseUrl, clock::Clock, digest::sha256_hex};
use http::{HeaderMap, Method};
use identity::{
    AccessToken, Credential, IssuerUnavailable, Users,
    credentials::{
        self, CredentialsError, Presented, SESSION_COOKIE, is_from_elsewhere, is_of_another_origin, is_same_origin,
    },
    departures::{self, Departures},
    revocation,
    token::{TokenError, Verifier},
};
use sea_orm::{DatabaseConnection, DbErr};
use sha2::{Digest as _, Sha256};
use store::database::OpenDatabase;
use uuid::Uuid;

use crate::{
    config::Config,
    error::{Error, Responsible},
    services::{
        access::{
            PropertyAccess, SharedProperty,
            facts::{self, Caller, Facts, Plans, PropertyFacts, Revoked},
        },
        applications::uses::{SurfaceKind, Uses},
        users::Member,
    },
};

/// Admits requests to every surface.
#[derive(Clone)]
pub struct Admissions(Arc<Inner>);

struct Inner {
    verifier: Verifier,
    users: Arc<dyn Users>,
    departures: Departures,
    db: DatabaseConnection,
    config: Arc<Config>,
    clock: Clock,
    base_url: BaseUrl,
    session_cookie: String,
    uses: Uses,
}

/// A place that takes access tokens, and the audience that they must name.
#[derive(Debug, Clone)]
pub struct Surface {
    /// The place.
    pub kind: SurfaceKind,
    /// The audience.
    pub audience: String,
}

/// The property of a share link's page, or the refusal that the page shows, as request data.
pub type OpenedLink = Result<SharedProperty, ApiError>;

/// A request with valid credentials.
#[derive(Debug, Clone)]
pub struct Admitted {
    /// The caller.
    pub member: Arc<Member>,
    /// The credential that the caller presented.
    pub credential: Credential,
    /// The scopes of the credential.
    pub granted: Granted,
    /// The property that the path names, if it is tracked and the caller can see it.
    property: Option<Arc<PropertyFacts>>,
}

/// The reason why a request is neither anonymous nor admitted.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionError {
    /// The request has two credentials in the header of this name: 400 `invalid_request`.
    #[error("{0}: present one credential, once")]
    Repeated(&'static str),
    /// The `Authorization` header contains no bearer token: 401 with `error="invalid_token"`.
    #[error("not a bearer token")]
    NotBearer,
    /// The token, or the text in its place, is invalid: 401 with `error="invalid_token"`.
    #[error("the access token is missing, expired or not valid: {0}")]
    InvalidToken(&'static str),
    /// The token is for another resource: 401 with `error="invalid_token"`.
    #[error("the access token is for another resource")]
    AnotherAudience,
    /// The person no longer lets the token's client act for them: 401 with `error="invalid_token"`.
    #[error("the person has withdrawn the client's access")]
    ClientRefused,
    /// A write with the session cookie does not come from the service's own pages: 403.
    #[error("writes with the session cookie must come from the service's own origin")]
    ForeignOrigin,
    /// A cross-site read with the session cookie that is paid for: 403.
    #[error("reads that are paid for with the session cookie must come from the service's own origin")]
    ForeignLink,
    /// The issuer's keys cannot be read: 503, with `Retry-After`.
    #[error(transparent)]
    IssuerUnavailable(#[from] IssuerUnavailable),
    /// The database cannot answer: 5xx.
    #[error(transparent)]
    Database(#[from] DbErr),
}

impl From<CredentialsError> for AdmissionError {
    fn from(error: CredentialsError) -> Self {
        match error {
            CredentialsError::Repeated(header) => Self::Repeated(header),
            CredentialsError::NotBearer => Self::NotBearer,
        }
    }
}

impl Admitted {
    /// Returns whether a session cookie opened this.
    #[must_use]
    pub fn is_by_session(&self) -> bool {
        matches!(self.credential, Credential::Session { .. })
    }

    /// Refuses a cross-site read that is paid for.
    ///
    /// # Errors
    /// [`AdmissionError::ForeignLink`].
    pub fn may_pay(&self, headers: &HeaderMap) -> Result<(), AdmissionError> {
        match &self.credential {
            Credential::Session { .. } if is_from_elsewhere(headers) => Err(AdmissionError::ForeignLink),
            _ => Ok(()),
        }
    }

    /// Checks that the caller's plan includes an operation that names no property.
    pub fn check_plan(&self, operation: &Operation) -> Result<(), Error> {
        let entitlement = &self.member.entitlement;
        match operation.plan {
            Some(PlanPart::Feature(feature)) => entitlement.require(feature, || Responsible::Caller),
            Some(PlanPart::Tracking) => entitlement.require_tracking(),
            None => Ok(()),
        }
    }

    /// Returns the caller's access to the property that the path names, if the caller's role and the owner's plan allow the operation.
    pub fn access(&self, config: &Config, operation: &Operation, now: DateTime<Utc>) -> Result<PropertyAccess, Error> {
        let access = PropertyAccess::of(config, &self.member.user, self.property.as_ref(), operation.role, now)?;
        if let Some(PlanPart::Feature(feature)) = operation.plan {
            access.require_feature(feature)?;
        }
        Ok(access)
    }

    /// Returns the grant that opens the property to the caller, if it was never used before.
    #[must_use]
    pub fn unused_grant(&self, config: &Config, now: DateTime<Utc>) -> Option<Uuid> {
        let access = PropertyAccess::of(config, &self.member.user, self.property.as_ref(), Role::Viewer, now);
        access.ok()?.new_grant()
    }
}

impl Admissions {
    /// Creates the admissions, and starts to record which clients are used. `base_url` is the address of the service's own pages. Writes with a session cookie must name its
    /// origin.
    #[must_use]
    pub fn new(
        verifier: Verifier,
        users: Arc<dyn Users>,
        departures: Departures,
        store: &OpenDatabase,
        config: Arc<Config>,
        clock: Clock,
        base_url: &BaseUrl,
    ) -> Self {
        Self(Arc::new(Inner {
            verifier,
            users,
            departures,
            db: store.reader.clone(),
            config,
            clock,
            base_url: base_url.clone(),
            session_cookie: base_url.host_cookie(SESSION_COOKIE),
            uses: Uses::start(store.writer.clone()),
        }))
    }

    /// Admits a request to `surface`, and to `property` if its path names one.
    /// Returns `None` if the request has no credential, only an expired cookie, or reads with the cookie from a page of another
    /// origin.
    pub async fn admit(
        &self,
        method: &Method,
        headers: &HeaderMap,
        surface: &Surface,
        property: Option<Uuid>,
    ) -> Result<Option<Admitted>, AdmissionError> {
        match credentials::presented(headers, &self.0.session_cookie) {
            Ok(Presented::Bearer(token)) => self.bearer(&token, surface, property).await.map(Some),
            Ok(Presented::Session(value)) => self.session(&value, method, headers, property).await,
            Ok(Presented::Nothing) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Admits a request for a page, by its session alone: `Authorization` may be for a proxy in front of the service.
    /// Returns `None` as [`admit`](Self::admit) does.
    pub async fn visitor(
        &self,
        method: &Method,
        headers: &HeaderMap,
        property: Option<Uuid>,
    ) -> Result<Option<Admitted>, AdmissionError> {
        match credentials::session(headers, &self.0.session_cookie) {
            Ok(Some(value)) => self.session(value, method, headers, property).await,
            Ok(None) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether a request has a token that was verified before. It may have been revoked since.
    #[must_use]
    pub fn knows(&self, headers: &HeaderMap) -> bool {
        let presented = credentials::presented(headers, &self.0.session_cookie);
        matches!(presented, Ok(Presented::Bearer(token)) if self.0.verifier.knows(&token))
    }

    /// Admits the holder of a bearer token.
    async fn bearer(&self, token: &str, surface: &Surface, property: Option<Uuid>) -> Result<Admitted, AdmissionError> {
        let inner = &self.0;
        let token = inner.verifier.verify(token, &surface.audience).await.map_err(|error| match error {
            TokenError::Invalid(reason) => AdmissionError::InvalidToken(reason),
            TokenError::AnotherAudience => AdmissionError::AnotherAudience,
            TokenError::IssuerUnavailable(error) => error.into(),
        })?;
        let facts = inner.holder(&token, property).await?.ok_or(AdmissionError::InvalidToken("revoked"))?;
        if facts.revoked.client {
            return Err(AdmissionError::ClientRefused);
        }
        inner.uses.note(facts.user.id, &token.client_id, surface.kind, &token.scopes, inner.clock.moment());
        // Consents are remembered for tokens of the embedded issuer, which name their grant.
        let allowance = facts.allows.filter(|_| token.grant_id.is_some());
        let most = allowance.map_or(Scopes::EVERY, Allowance::scopes);
        let granted = Granted { asked: token.rights, allowed: token.rights.and(most) };
        let credential = Credential::AccessToken {
            token_id: token.id.clone(),
            client_id: token.client_id.clone(),
            expires_at: token.expires_at,
        };
        Ok(inner.admitted(facts, credential, granted))
    }

    async fn session(
        &self,
        value: &str,
        method: &Method,
        headers: &HeaderMap,
        property: Option<Uuid>,
    ) -> Result<Option<Admitted>, AdmissionError> {
        let inner = &self.0;
        if method.is_safe() && is_of_another_origin(headers, inner.base_url.origin()) {
            return Ok(None);
        }
        let hash = sha256_hex(value);
        let Some(facts) = inner.facts(Caller::Session(&hash), property).await? else { return Ok(None) };
        if facts.session_ends_at.is_none_or(|end| end <= inner.clock.now()) {
            return Ok(None);
        }
        if !method.is_safe() && !is_same_origin(headers, inner.base_url.origin()) {
            return Err(AdmissionError::ForeignOrigin);
        }
        Ok(Some(inner.admitted(facts, Credential::Session { id: hash }, Granted::PERSON)))
    }

    /// Returns the property behind a share link.
    pub async fn open(&self, link_token: &str) -> Result<SharedProperty, Error> {
        let inner = &self.0;
        let hash = Sha256::digest(link_token);
        let found = facts::of_link(&inner.db, Plans::of(&inner.config), &hash).await?;
        SharedProperty::of(&inner.config, found.as_ref(), inner.clock.now())
    }
}

impl Inner {
    async fn facts(&self, caller: Caller<'_>, property: Option<Uuid>) -> Result<Option<Facts>, DbErr> {
        facts::of_caller(&self.db, Plans::of(&self.config), caller, property).await
    }

    /// Returns the holder of a token, updated from its claims, or `None` if the token is revoked.
    async fn holder(&self, token: &AccessToken, property: Option<Uuid>) -> Result<Option<Facts>, DbErr> {
        let (issuer, subject) = (&token.claims.issuer, &token.claims.subject);
        let (subject_key, person) = (revocation::subject_key(issuer, subject), self.departures.hash(issuer, subject));
        let caller = Caller::Token {
            issuer,
            subject,
            id: &token.id,
            grant: token.grant_id,
            subject_key: &subject_key,
            client: &token.client_id,
            person: &person,
        };
        let Some(facts) = self.facts(caller, property).await? else {
            if revocation::is_revoked(&self.db, token).await? {
                return Ok(None);
            }
            return self.resolved(token, caller, property).await;
        };
        let Revoked { token: is_revoked, before, left_at, .. } = facts.revoked;
        let is_old = before.is_some_and(|end| revocation::was_issued_before(token, end))
            || left_at.is_some_and(|left_at| departures::is_from_before(&token.claims, left_at));
        if is_revoked || is_old {
            return Ok(None);
        }
        if facts.revoked.client || self.users.is_up_to_date(&facts.user, &token.claims) {
            return Ok(Some(facts));
        }
        self.resolved(token, caller, property).await
    }

    /// Creates or updates the holder of a token from its claims, unless the person has left, and reads their facts.
    async fn resolved(
        &self,
        token: &AccessToken,
        caller: Caller<'_>,
        property: Option<Uuid>,
    ) -> Result<Option<Facts>, DbErr> {
        match self.users.resolve(&token.claims).await? {
            Some(_) => self.facts(caller, property).await,
            None => Ok(None),
        }
    }

    fn admitted(&self, facts: Facts, credential: Credential, granted: Granted) -> Admitted {
        let member = Member::of(&self.config, facts.user, self.clock.now());
        Admitted { member: Arc::new(member), credential, granted, property: facts.property }
    }
}
