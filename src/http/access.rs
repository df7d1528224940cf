//! Resolves the property or the share link in the path before parameters or body are looked at, so that a refusal of input
//! never tells a stranger that one exists. The role an operation needs stands in the table of operations.

use std::sync::Arc;

use api::{
    error::{ApiError, Code},
    operation::{self, Access},
};
use chrono::{DateTime, Utc};
use poem::{Endpoint, Error, IntoResponse, Middleware, Request, Response, Result};
use sea_orm::DatabaseConnection;

use super::{failures::Failures, methods};
use crate::{
    clock::Clock,
    config::Config,
    digest::sha256_hex,
    error,
    identity::Identity,
    services::{
        access::PropertyAccess,
        sharing::{self, Shared},
        team,
        users::plans::Entitlement,
    },
    store::rate_limit::RateLimits,
};

/// What resolving needs.
#[derive(Clone)]
pub struct ResolveProperty {
    /// Where properties and grants are.
    pub db: DatabaseConnection,
    /// Where the first use of a grant is noted.
    pub writer: DatabaseConnection,
    /// What each plan includes.
    pub config: Arc<Config>,
    /// What time it is.
    pub clock: Clock,
    /// Counts readers of a share link together; none where nothing is counted.
    pub limits: Option<Arc<RateLimits>>,
    /// Counts guessed tokens.
    pub failures: Failures,
}

/// See [`ResolveProperty`].
pub struct ResolvePropertyEndpoint<E> {
    inner: E,
    settings: ResolveProperty,
}

impl<E: Endpoint> Middleware<E> for ResolveProperty {
    type Output = ResolvePropertyEndpoint<E>;

    fn transform(&self, inner: E) -> Self::Output {
        ResolvePropertyEndpoint { inner, settings: self.clone() }
    }
}

impl<E: Endpoint> Endpoint for ResolvePropertyEndpoint<E> {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        self.settings.resolve(&mut request).await?;
        self.inner.call(request).await.map(IntoResponse::into_response)
    }
}

impl ResolveProperty {
    async fn resolve(&self, request: &mut Request) -> Result<()> {
        let path = request.uri().path().to_owned();
        let path = path.as_str();
        let Some(operation) = operation::find(request.method(), path) else {
            // The router is more lenient about empty segments than the table. What the table does not know is not there.
            let known = !methods::allow(path, &[]).is_empty();
            return if known { Ok(()) } else { Err(ApiError::new(Code::NotFound).into()) };
        };
        let now = self.clock.now();
        let named =
            |name: &str| operation.path_values(path).and_then(|values| values.get(name).copied()).unwrap_or_default();
        if operation.access == Access::ShareToken {
            let shared = self.open(request, named("token"), now).await?;
            request.set_data(shared);
            return Ok(());
        }
        let Some(Identity { user, .. }) = request.data() else { return Ok(()) };
        // The plan is judged before the idempotency key is, or a stored answer would outlive the plan.
        let feature = operation.feature;
        if !operation.is_property_scoped() {
            let entitlement = Entitlement::of(&self.config, user, now);
            let allowed = feature.map_or(Ok(()), |feature| entitlement.require(feature, false));
            return allowed.map_err(|error| ApiError::from(error).into());
        }
        let access = PropertyAccess::resolve(&self.db, &self.config, user, named("id"), operation.role, now).await;
        let access = access.map_err(ApiError::from)?;
        feature.map_or(Ok(()), |feature| access.require_feature(feature)).map_err(ApiError::from)?;
        if let Some(grant) = access.new_grant()
            && let Err(error) = team::note_use(&self.writer, grant, now).await
        {
            tracing::warn!(%error, "the first use of a grant could not be noted");
        }
        request.set_data(access);
        Ok(())
    }

    /// Opens a share link. Its readers together have the rate of the property's owner, however many they are.
    async fn open(&self, request: &Request, token: &str, now: DateTime<Utc>) -> Result<Shared> {
        let shared = match sharing::open(&self.db, &self.config, token, now).await {
            Ok(shared) => shared,
            Err(error::Error::NotFound) => {
                return Err(self.failures.counted(request, ApiError::new(Code::NotFound).into()));
            }
            Err(error) => return Err(ApiError::from(error).into()),
        };
        let rate = shared.access.entitlement().rate;
        let standing = self.limits.as_ref().map(|limits| limits.count(&format!("share/{}", sha256_hex(token)), rate));
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
