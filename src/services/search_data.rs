//! Reading search data for people: with whose account, and what the search engine's failures mean to them.

use std::sync::Arc;

use async_trait::async_trait;
use chrono::Utc;
use entity::{property, search_account};
use sea_orm::{ActiveValue::Set, DatabaseConnection, EntityTrait, QueryFilter, prelude::*};
use secrecy::{ExposeSecret, SecretString};

use super::{access::PropertyAccess, accounts, analyses::weeks::Weeks, rendered::Answers};
use crate::{
    clock::Clock,
    error::Error,
    search_engine::{
        Account, GrantSink, Lane, LastFinal, Part, Plan, ReadError, Reader, Reading, SearchEngineError, SiteUrl,
        last_final,
    },
    secrets::Secrets,
};

/// What reading search data needs.
#[derive(Clone)]
pub struct SearchData {
    /// Where accounts are, and where their state is noted.
    pub db: DatabaseConnection,
    /// Opens stored grants.
    pub secrets: Secrets,
    /// What time it is.
    pub clock: Clock,
    /// Reads through the cache.
    pub reader: Reader,
    /// Answers rendered before.
    pub answers: Answers,
    /// Permits for weeks of queries by day, which are in memory besides the cache.
    pub weeks: Weeks,
}

/// A site, and the account that reads it.
#[derive(Debug, Clone)]
pub struct SearchSite {
    url: SiteUrl,
    credentials: Account,
    account: search_account::Model,
    property_id: Uuid,
    owner_must: bool,
    lane: Lane,
}

impl SearchSite {
    /// A property's site, read with `account`. A site that the account has lost is not found until it is listed again.
    pub fn new(
        secrets: &Secrets,
        property: &property::Model,
        account: search_account::Model,
        owner_must: bool,
    ) -> Result<Self, Error> {
        if property.lost_at.is_some() {
            return Err(Error::NotFound);
        }
        let refresh_token = accounts::refresh_token(secrets, &account, owner_must)?;
        Ok(Self {
            url: SiteUrl(property.site_url.clone()),
            credentials: Account { id: account.id, refresh_token: refresh_token.into() },
            account,
            property_id: property.id,
            owner_must,
            lane: Lane::Own,
        })
    }
}

impl SearchData {
    /// The site of a property, with its owner's account. Readers of a share link, who are nobody's user, have a lane of their own.
    pub async fn site(&self, access: &PropertyAccess) -> Result<SearchSite, Error> {
        let account = accounts::of_property(&self.db, access).await?;
        let site = SearchSite::new(&self.secrets, access.property(), account, access.owner_must())?;
        let lane = if access.user_id().is_some() { Lane::Own } else { Lane::Shared };
        Ok(SearchSite { lane, ..site })
    }

    /// What the search engine says to one part of a question.
    pub async fn read(&self, site: &SearchSite, part: &Part, plan: &Plan) -> Result<Arc<Reading>, Error> {
        match self.reader.of_lane(site.lane).read(&site.credentials, &site.url, part, plan).await {
            Ok(reading) => Ok(reading),
            Err(error) => Err(self.explain(site, error).await),
        }
    }

    /// Which day is the site's last final one.
    pub async fn last_final(&self, site: &SearchSite) -> Result<LastFinal, Error> {
        match last_final(&self.reader.of_lane(site.lane), &self.clock, &site.credentials, &site.url).await {
            Ok(found) => Ok(found),
            Err(error) => Err(self.explain(site, error).await),
        }
    }

    /// What a failure means to the person who asked; a dead grant and a lost site are noted.
    async fn explain(&self, site: &SearchSite, error: ReadError) -> Error {
        let error = match error {
            ReadError::TooComplex(hint) => return Error::FilterTooComplex(hint),
            ReadError::SearchEngine(SearchEngineError::PermissionLost(said)) => {
                tracing::info!(property = %site.property_id, said, "the account has lost the site");
                return self.note_lost(site).await.err().unwrap_or(Error::NotFound);
            }
            ReadError::SearchEngine(error) => error,
        };
        explain(self, &site.account, site.owner_must, error).await
    }

    async fn note_lost(&self, site: &SearchSite) -> Result<(), Error> {
        let now = self.clock.now();
        property::Entity::update_many()
            .set(property::ActiveModel { lost_at: Set(Some(now)), updated_at: Set(now), ..Default::default() })
            .filter(property::Column::Id.eq(site.property_id))
            .filter(property::Column::LostAt.is_null())
            .exec(&self.db)
            .await?;
        Ok(())
    }
}

/// What a failure of the search engine means to the person whose account, or whose owner's account, was used.
pub async fn explain(
    search: &SearchData,
    account: &search_account::Model,
    owner_must: bool,
    error: SearchEngineError,
) -> Error {
    match error {
        SearchEngineError::Disconnected(said) | SearchEngineError::ScopeMissing(said) => {
            let noted = accounts::mark_reconnect_required(&search.db, account, &said, search.clock.now()).await;
            noted.err().unwrap_or(Error::SearchAccountDisconnected { owner_must })
        }
        SearchEngineError::Unavailable { retry_after, detail } => {
            tracing::warn!(detail, "the search engine is unavailable");
            Error::SearchEngineUnavailable { retry_after: retry_after.as_secs().max(1) }
        }
        SearchEngineError::Misconfigured(said) => {
            tracing::error!(said, "the search engine refuses this deployment");
            Error::SearchEngineUnavailable { retry_after: 60 }
        }
        SearchEngineError::PermissionLost(_) => Error::NotFound,
        SearchEngineError::InvalidRequest(said) => {
            Error::internal(format!("the search engine refused a request: {said}"))
        }
    }
}

/// Keeps grants that the search engine replaced.
pub struct StoredGrants {
    /// Where accounts are.
    pub db: DatabaseConnection,
    /// Seals the new grant.
    pub secrets: Secrets,
    /// What time it is.
    pub clock: Clock,
}

#[async_trait]
impl GrantSink for StoredGrants {
    async fn replaced(&self, account: Uuid, refresh_token: SecretString) {
        let now: chrono::DateTime<Utc> = self.clock.now();
        let stored = async {
            let found = search_account::Entity::find_by_id(account).one(&self.db).await?.ok_or(Error::NotFound)?;
            accounts::replace_refresh_token(&self.db, &self.secrets, &found, refresh_token.expose_secret(), now).await
        };
        if let Err(error) = stored.await {
            tracing::error!(%account, %error, "a replaced grant could not be stored");
        }
    }
}
