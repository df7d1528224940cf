//! Settles what the credentials and the path of a request come to: user, plan, property and role.
//!
//! One statement answers everything, so that what is withdrawn is refused at the very next request, at every replica. On `SQLite`,
//! which one process owns, its answer is remembered until something is committed that it rests on. What time changes (a token, a
//! session, a trial or a link that ends) is judged at each request.

mod remembered;

use std::sync::Arc;

use api::models::Role;
use chrono::{DateTime, Utc};
use http::{HeaderMap, Method};
use sea_orm::{DatabaseConnection, DbErr};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use self::remembered::Remembered;
use crate::{
    clock::Clock,
    config::Config,
    digest::sha256_hex,
    error::Error,
    identity::{
        AccessToken, Credential, IssuerUnavailable, Users,
        credentials::{self, CredentialsError, Presented, SESSION_COOKIE, host_cookie, is_same_origin},
        revocation,
        token::{TokenError, Verifier},
    },
    services::{
        access::{
            PropertyAccess, SharedProperty,
            facts::{self, Caller, Facts, LinkFacts, PropertyFacts},
        },
        users::Member,
    },
    store::database::Opened,
};

/// Admits requests to every surface.
#[derive(Clone)]
pub struct Admissions(Arc<Inner>);

struct Inner {
    verifier: Verifier,
    users: Arc<dyn Users>,
    db: DatabaseConnection,
    config: Arc<Config>,
    clock: Clock,
    origin: String,
    session_cookie: String,
    callers: Remembered<CallerKey, Facts>,
    links: Remembered<Vec<u8>, Arc<LinkFacts>>,
}

/// A credential, by its digest, and the property that was asked for with it.
type CallerKey = ([u8; 32], Option<Uuid>);

/// A request whose credentials are good.
#[derive(Debug, Clone)]
pub struct Admitted {
    /// The caller.
    pub member: Arc<Member>,
    /// The credential that the caller presented.
    pub credential: Credential,
    /// The property that the path names, where it is tracked.
    property: Option<Arc<PropertyFacts>>,
}

/// Why a request is neither anonymous nor admitted.
#[derive(Debug, thiserror::Error)]
pub enum AdmissionError {
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

impl Admitted {
    /// The caller's access to the property that the path names, for an operation that needs the role `needed`.
    pub fn access(&self, config: &Config, needed: Role, now: DateTime<Utc>) -> Result<PropertyAccess, Error> {
        PropertyAccess::of(config, &self.member.user, self.property.as_ref(), needed, now)
    }
}

impl Admissions {
    /// `base_url` is the address of our own pages, whose origin session-cookie writes must name.
    #[must_use]
    pub fn new(
        verifier: Verifier,
        users: Arc<dyn Users>,
        store: &Opened,
        config: Arc<Config>,
        clock: Clock,
        base_url: &str,
    ) -> Self {
        let origin = url::Url::parse(base_url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        Self(Arc::new(Inner {
            verifier,
            users,
            db: store.reader.clone(),
            config,
            clock,
            origin,
            session_cookie: host_cookie(SESSION_COOKIE, base_url),
            callers: Remembered::new(store.commits.clone()),
            links: Remembered::new(store.commits.clone()),
        }))
    }

    /// Admits a request to the surface `audience`, and to `property` where its path names one; `None` if it presents nothing, or only a
    /// cookie that has expired.
    pub async fn admit(
        &self,
        method: &Method,
        headers: &HeaderMap,
        audience: &str,
        property: Option<Uuid>,
    ) -> Result<Option<Admitted>, AdmissionError> {
        match credentials::presented(headers, &self.0.session_cookie) {
            Ok(Presented::Bearer(token)) => self.bearer(&token, audience, property).await.map(Some),
            Ok(Presented::Session(value)) => self.session(&value, method, headers, property).await,
            Ok(Presented::Nothing) => Ok(None),
            Err(CredentialsError::Repeated) => Err(AdmissionError::InvalidRequest),
            Err(CredentialsError::NotBearer) => Err(AdmissionError::NotBearer),
        }
    }

    /// Admits the holder of a bearer token; also for surfaces that accept no cookies.
    pub async fn bearer(
        &self,
        token: &str,
        audience: &str,
        property: Option<Uuid>,
    ) -> Result<Admitted, AdmissionError> {
        let inner = &self.0;
        let token = inner.verifier.verify(token, audience).await.map_err(|error| match error {
            TokenError::Invalid(reason) => AdmissionError::InvalidToken(reason),
            TokenError::IssuerUnavailable(error) => error.into(),
        })?;
        let read = inner.holder(&token, property);
        let facts =
            inner.callers.get(&(token.digest, property), read).await?.ok_or(AdmissionError::InvalidToken("revoked"))?;
        let credential = Credential::AccessToken {
            token_id: token.id.clone(),
            client_id: token.client_id.clone(),
            expires_at: token.expires_at,
        };
        Ok(inner.admitted(facts, credential))
    }

    async fn session(
        &self,
        value: &str,
        method: &Method,
        headers: &HeaderMap,
        property: Option<Uuid>,
    ) -> Result<Option<Admitted>, AdmissionError> {
        let inner = &self.0;
        let hash = sha256_hex(value);
        // A token's digest is one of text with dots, a session's one of hex digits: none is both.
        let key = (Sha256::digest(&hash).into(), property);
        let read = facts::of_caller(&inner.db, Caller::Session(&hash), property);
        let Some(facts) = inner.callers.get(&key, read).await? else { return Ok(None) };
        if facts.session_ends_at.is_none_or(|end| end <= inner.clock.now()) {
            return Ok(None);
        }
        if !method.is_safe() && !is_same_origin(headers, &inner.origin) {
            return Err(AdmissionError::ForeignOrigin);
        }
        Ok(Some(inner.admitted(facts, Credential::Session { id: hash })))
    }

    /// The property behind a share link.
    pub async fn open(&self, link_token: &str) -> Result<SharedProperty, Error> {
        let inner = &self.0;
        let hash = Sha256::digest(link_token).to_vec();
        let read = async {
            let found: Option<LinkFacts> = facts::of_link(&inner.db, &hash).await?;
            Ok::<_, DbErr>(found.map(Arc::new))
        };
        let found = inner.links.get(&hash, read).await?;
        SharedProperty::of(&inner.config, found.as_deref(), inner.clock.now())
    }
}

impl Inner {
    /// The holder of a token, brought up to date with its claims; none where the token is revoked.
    async fn holder(&self, token: &AccessToken, property: Option<Uuid>) -> Result<Option<Facts>, DbErr> {
        let subject_key = revocation::subject_key(&token.claims.issuer, &token.claims.subject);
        let caller = Caller::Token {
            issuer: &token.claims.issuer,
            subject: &token.claims.subject,
            id: &token.id,
            grant: token.grant_id,
            subject_key: &subject_key,
        };
        let Some(facts) = facts::of_caller(&self.db, caller, property).await? else {
            if revocation::is_revoked(&self.db, token).await? {
                return Ok(None);
            }
            self.users.resolve(&token.claims).await?;
            return facts::of_caller(&self.db, caller, property).await;
        };
        if facts.revoked.token || facts.revoked.before.is_some_and(|end| revocation::was_issued_before(token, end)) {
            return Ok(None);
        }
        if self.users.is_up_to_date(&facts.user, &token.claims) {
            return Ok(Some(facts));
        }
        self.users.resolve(&token.claims).await?;
        facts::of_caller(&self.db, caller, property).await
    }

    fn admitted(&self, facts: Facts, credential: Credential) -> Admitted {
        let member = Member::of(&self.config, facts.user, self.clock.now());
        Admitted { member: Arc::new(member), credential, property: facts.property }
    }
}
