//! The health of the service and of its dependencies.

use std::sync::Arc;

use api::{
    models::Feature,
    system::{
        DependencyHealth, DependencyName, FeatureFlags, Health, HealthStatus, SearchAccountHealth, SearchAccountStatus,
    },
};
use chrono::{DateTime, TimeDelta, Utc};
use entity::{property, search_account};
use sea_orm::{DatabaseConnection, PaginatorTrait};
use tokio::{
    sync::Mutex,
    time::{Duration, Instant, timeout},
};

use super::{analyses::search_data::SearchData, search_accounts, users::Member};
use crate::{
    config::{Config, ReplayStore},
    error::Error,
    identity::issuer::Issuer,
    search_engine::Account,
};

/// The time limit for a dependency to answer the check.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The maximum age of a cached result.
const MAX_AGE: TimeDelta = TimeDelta::seconds(2);

/// Checks all dependencies. Concurrent callers share one check.
#[derive(Clone)]
pub struct HealthCheck {
    db: DatabaseConnection,
    issuer: Issuer,
    search: SearchData,
    last: Arc<Mutex<Option<Look>>>,
}

/// A result and its time.
struct Look {
    at: DateTime<Utc>,
    health: Health,
}

impl HealthCheck {
    /// Creates the check without running it.
    #[must_use]
    pub fn new(db: DatabaseConnection, issuer: Issuer, search: SearchData) -> Self {
        Self { db, issuer, search, last: Arc::default() }
    }

    /// Returns a result that is at most two seconds old. The check runs in a task of its own, so that clients who disconnect do not
    /// cause one check after another.
    pub async fn recent(&self) -> Result<Health, Error> {
        let check = self.clone();
        tokio::spawn(async move { check.last_or_new().await }).await.map_err(Error::internal)
    }

    async fn last_or_new(&self) -> Health {
        let mut last = self.last.lock().await;
        let recent = |look: &&Look| self.search.clock.now() - look.at < MAX_AGE;
        if let Some(look) = last.as_ref().filter(recent) {
            return look.health.clone();
        }
        let health = self.look().await;
        *last = Some(Look { at: self.search.clock.now(), health: health.clone() });
        health
    }

    async fn look(&self) -> Health {
        let Self { db, issuer, search, .. } = self;
        let database = probe(DependencyName::Database, HealthStatus::Down, async { db.ping().await.is_ok() });
        let identity =
            probe(DependencyName::IdentityProvider, HealthStatus::Degraded, async { issuer.metadata().await.is_ok() });
        let engine = search.reader.engine();
        let engine = probe(DependencyName::SearchEngine, HealthStatus::Degraded, async { engine.is_reachable().await });
        let (database, identity, engine) = tokio::join!(database, identity, engine);
        let dependencies = vec![database, identity, engine];
        let status = dependencies.iter().map(|dependency| dependency.status).max().unwrap_or(HealthStatus::Ok);
        Health { status, version: env!("CARGO_PKG_VERSION").to_owned(), dependencies }
    }
}

async fn probe(
    name: DependencyName,
    when_silent: HealthStatus,
    answers: impl Future<Output = bool>,
) -> DependencyHealth {
    let start = Instant::now();
    let answered = timeout(PROBE_TIMEOUT, answers).await.unwrap_or(false);
    let latency_ms = answered.then(|| u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX));
    DependencyHealth { name, status: if answered { HealthStatus::Ok } else { when_silent }, latency_ms }
}

/// Returns the current health of a person's search accounts.
pub async fn accounts(search: &SearchData, member: &Member) -> Result<Vec<SearchAccountHealth>, Error> {
    let mut found = Vec::new();
    for account in search_accounts::of_user(&search.db, member.user.id).await? {
        let properties = property::Entity::of_account(account.id).count(&search.db).await?;
        found.push(account_health(search, account, properties, search.clock.now()).await);
    }
    Ok(found)
}

async fn account_health(
    search: &SearchData,
    account: search_account::Model,
    properties: u64,
    now: DateTime<Utc>,
) -> SearchAccountHealth {
    let (status, hint) = match ask(search, &account).await {
        Ok(()) => (SearchAccountStatus::Connected, None),
        Err(Error::SearchAccountDisconnected { .. }) => {
            (SearchAccountStatus::ReconnectRequired, Some("Reconnect your search account.".to_owned()))
        }
        Err(_) => {
            (SearchAccountStatus::Unreachable, Some("The search engine did not answer; try again later.".to_owned()))
        }
    };
    SearchAccountHealth { id: account.id, email: account.email, status, hint, properties, checked_at: now }
}

async fn ask(search: &SearchData, account: &search_account::Model) -> Result<(), Error> {
    let refresh_token = search_accounts::refresh_token(&search.secrets, account, false)?.into();
    let credentials = Account { id: account.id, refresh_token };
    match search.reader.engine().sites(&credentials).await {
        Ok(_) => Ok(()),
        Err(error) => Err(super::analyses::search_data::explain(search, account, false, error).await),
    }
}

/// Returns the features that a person's plan and this deployment let clients show.
#[must_use]
pub fn feature_flags(config: &Config, member: &Member) -> FeatureFlags {
    let entitlement = &member.entitlement;
    FeatureFlags {
        billing: config.billing.enabled,
        share_links: entitlement.includes(Feature::ShareLinks),
        team: entitlement.includes(Feature::Team),
        mcp: entitlement.includes(Feature::ToolEndpoint),
        seo_providers: entitlement.includes(Feature::SeoProviders),
        idempotent_writes: config.idempotency.store == ReplayStore::Database,
    }
}
