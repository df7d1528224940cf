//! Checks the caller's rights before parameters and body are parsed, so that an input error never reveals to a stranger that a
//! property exists. The operation table declares the role and the plan that an operation needs.

use std::sync::Arc;

use api::{
    error::{ApiError, Code},
    models::Feature,
    operation::{Access, Operation, PlanPart},
};
use chrono::{DateTime, Utc};
use common::{clock::Clock, digest::sha256_hex, strict_json};
use poem::{Endpoint, Error, IntoResponse, Request, Response, Result};
use sea_orm::DatabaseConnection;
use uuid::Uuid;

use super::{
    audience::{self, Visitors},
    error_map,
    failures::Failures,
    operation,
};
use crate::{
    admission::{Admissions, Admitted, OpenedLink},
    caller_limits::{CallerLimits, LaterCount},
    config::Config,
    error,
    services::{
        access::{SharedProperty, own},
        team,
        users::Member,
    },
};

/// Everything that the layer needs.
#[derive(Clone)]
pub struct Authorize {
    /// Opens share links.
    pub admissions: Admissions,
    /// The database, for rights that depend on a body.
    pub db: DatabaseConnection,
    /// The write connection, for the first use of a grant.
    pub writer: DatabaseConnection,
    /// The features and limits of each plan.
    pub config: Arc<Config>,
    /// The clock.
    pub clock: Clock,
    /// Counts the readers of a share link together. `None` if nothing is counted.
    pub limits: Option<CallerLimits>,
    /// Counts guessed tokens.
    pub failures: Failures,
}

/// The authorization layer. It adds the [`PropertyAccess`](crate::services::access::PropertyAccess) or the [`SharedProperty`] of
/// the path to the request.
///
/// # Errors
/// 403 for the scope of the token, then 404, 403 or 402, in this order, and the errors of the inner layers.
pub async fn authorize<E: Endpoint>(settings: Arc<Authorize>, next: Arc<E>, mut request: Request) -> Result<Response> {
    // The router is more lenient about empty segments than the operation table. A path that is not in the table answers 404.
    let operation = operation::of(&request).ok_or_else(|| ApiError::new(Code::NotFound))?;
    if operation.access == Access::ShareToken {
        let token = operation.value("token", request.uri().path()).unwrap_or_default();
        let shared = settings.open(&request, token).await?;
        request.set_data(shared);
    } else if let Some(admitted) = request.data::<Admitted>().cloned() {
        admitted.granted.require(operation.scope)?;
        settings.check(&mut request, operation, &admitted).await?;
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// The authorization layer of the dashboard. It opens the share link of a page, and passes a refusal on to the page, which shows it. It
/// notes the first use of a grant.
///
/// # Errors
/// The errors of the inner layers.
pub async fn enter<E: Endpoint>(settings: Arc<Authorize>, next: Arc<E>, mut request: Request) -> Result<Response> {
    if let Some(token) = audience::of(&request).and_then(Visitors::share_token) {
        let opened = settings.open(&request, token).await;
        let opened: OpenedLink = opened.map_err(|error| error_map::of(&error));
        request.set_data(opened);
    } else if let Some(admitted) = request.data::<Admitted>() {
        let now = settings.clock.now();
        settings.note_use(admitted.unused_grant(&settings.config, now), now).await;
    }
    next.call(request).await.map(IntoResponse::into_response)
}

impl Authorize {
    /// Checks the plan before the idempotency key, so that a stored response does not outlive the plan.
    async fn check(&self, request: &mut Request, operation: &Operation, admitted: &Admitted) -> Result<(), ApiError> {
        if !operation.is_property_scoped() {
            let included = admitted.check_plan(operation);
            let names_properties = [PlanPart::Tracking, PlanPart::Feature(Feature::Team)];
            if included.is_err() && operation.plan.is_some_and(|plan| names_properties.contains(&plan)) {
                self.check_named(request, &admitted.member).await?;
            }
            return included.map_err(ApiError::from);
        }
        let now = self.clock.now();
        let access = admitted.access(&self.config, operation, now)?;
        self.note_use(access.new_grant(), now).await;
        request.set_data(Arc::new(access));
        Ok(())
    }

    /// Notes the first use of a grant.
    async fn note_use(&self, unused: Option<Uuid>, now: DateTime<Utc>) {
        if let Some(grant) = unused
            && let Err(error) = team::note_use(&self.writer, grant, now).await
        {
            tracing::warn!(%error, "the first use of a grant could not be noted");
        }
    }

    /// Refuses an invitation or a selection of properties that the caller could not make with the plan either. The rights to it depend on
    /// the body, which is read here only then. One that cannot be read is refused for the plan.
    async fn check_named(&self, request: &mut Request, member: &Member) -> Result<(), ApiError> {
        let bytes = request.take_body().into_vec().await.unwrap_or_default();
        let named = strict_json::parse(&bytes).ok().map(|body| own::named(&body)).unwrap_or_default();
        request.set_body(bytes);
        let named: Vec<(&str, &[Uuid])> = named.iter().map(|(field, ids)| (*field, &ids[..])).collect();
        Ok(own::check_own(&self.db, &member.user, &named, self.clock.now()).await?)
    }

    /// Opens a share link. All its readers together share the rate of the property's owner. A view of its page is counted by the page.
    async fn open(&self, request: &Request, token: &str) -> Result<SharedProperty> {
        let shared = match self.admissions.open(token).await {
            Ok(shared) => shared,
            Err(error::Error::NotFound) => {
                return Err(self.failures.counted(request, ApiError::new(Code::NotFound).into()).await);
            }
            Err(error) => return Err(ApiError::from(error).into()),
        };
        let (key, rate) = (format!("share/{}", sha256_hex(token)), shared.entitlement().rate);
        if let Some(later) = request.data::<LaterCount>() {
            later.note(key, rate);
            return Ok(shared);
        }
        let standing = match &self.limits {
            Some(limits) => Some(limits.count(&key, rate).await),
            None => None,
        };
        if let Some(standing) = standing
            && let Some(seconds) = standing.retry_after
        {
            let mut refusal = Error::from(ApiError::new(Code::RateLimited).retry_after(seconds));
            refusal.set_data(standing);
            return Err(refusal);
        }
        Ok(shared)
    }
}
