//! Reads search data for users: selects the account and translates the search engine's failures.

use std::sync::Arc;

use common::{clock::Clock, secrets::Secrets};
use entity::{property, search_account};
use sea_orm::DatabaseConnection;
use search_engine::{
    Account, Asker, Lane, LastFinal, Part, Plan, ReadError, Reader, Reading, Recent, RecentDays, SearchEngineError,
    SiteUrl, TroubleKind,
};
use tokio::sync::OnceCell;
use uuid::Uuid;

use super::{answers::Answers, weeks::Weeks};
use crate::{
    error::{Disconnected, Disconnection, Error, Responsible},
    services::{access::ReadableProperty, search_accounts, system_annotations::SystemAnnotations, waiting::Waiting},
};

/// Seconds to wait before asking again where the search engine has not answered in time.
const UNANSWERED_RETRY: u64 = 5;

/// Everything that reading search data needs.
#[derive(Clone)]
pub struct SearchData {
    /// The database of search accounts.
    pub db: DatabaseConnection,
    /// The write connection, for the state of accounts.
    pub writer: DatabaseConnection,
    /// Opens stored grants.
    pub secrets: Secrets,
    /// The clock.
    pub clock: Clock,
    /// Reads through the cache.
    pub reader: Reader,
    /// Answers that were computed before.
    pub answers: Answers,
    /// Permits for weeks of queries by day, which take memory besides the cache.
    pub weeks: Weeks,
    /// Events of the search engine.
    pub system_annotations: SystemAnnotations,
    /// The URL of the account page, for hints. `None` if this deployment has none.
    pub account_page: Option<Arc<str>>,
    /// The lane of all requests, if nobody waits for them.
    pub lane: Option<Lane>,
    /// Notified when a reading waits.
    pub waiting: Waiting,
}

/// A site, the account that reads it, and the lane and question of its requests.
#[derive(Debug, Clone)]
pub struct SearchSite {
    url: SiteUrl,
    credentials: Account,
    account: Arc<search_account::Model>,
    property_id: Uuid,
    responsible: Responsible,
    asker: Asker,
    /// The freshness of its data. One question has one, even if newer days arrive meanwhile.
    freshness: Arc<OnceCell<LastFinal>>,
}

impl SearchSite {
    /// Creates the site of a property, read with `account`. The search engine decides whether the account may read it, even if the
    /// last sync did not find the site.
    pub fn new(
        search: &SearchData,
        property: &property::Model,
        account: Arc<search_account::Model>,
        responsible: Responsible,
    ) -> Result<Self, Error> {
        Ok(Self {
            url: SiteUrl(property.site_url.clone()),
            credentials: search.credentials(&account, &responsible)?,
            account,
            property_id: property.id,
            responsible,
            asker: Asker::new(Lane::Own),
            freshness: Arc::default(),
        })
    }
}

impl SearchData {
    /// Returns the site of a property, with its owner's account. Readers of a share link have a lane of their own.
    pub fn site(&self, access: &ReadableProperty) -> Result<SearchSite, Error> {
        let account = access.account().clone();
        let site = SearchSite::new(self, access.property(), account, access.responsible())?;
        let of_caller = || access.reader().map_or_else(|| Asker::new(Lane::Shared), Asker::person);
        Ok(SearchSite { asker: self.lane.map_or_else(of_caller, Asker::new), ..site })
    }

    /// Returns the same, for a page that watches whether its readings wait.
    #[must_use]
    pub fn watched_by(&self, waiting: &Waiting) -> Self {
        Self { waiting: waiting.clone(), ..self.clone() }
    }

    /// Returns what reads ahead into the same cache. It shares no permits with people, so nobody waits for it.
    #[must_use]
    pub fn ahead(&self) -> Self {
        Self { weeks: Weeks::default(), lane: Some(Lane::Ahead), ..self.clone() }
    }

    /// Returns the credentials of an account. `by` is the person whose account it is.
    ///
    /// # Errors
    /// [`Error::SearchAccountDisconnected`] if the account cannot be used.
    pub fn credentials(&self, account: &search_account::Model, by: &Responsible) -> Result<Account, Error> {
        if let Some(reason) = search_accounts::disconnection(account) {
            return Err(self.disconnected(reason, by));
        }
        let token = search_accounts::refresh_token(&self.secrets, account)?;
        let token = token.ok_or_else(|| self.disconnected(Disconnection::Revoked, by))?;
        Ok(Account { id: account.id, refresh_token: token.into(), connected_at: account.connected_at })
    }

    /// Returns the error for a search account that cannot be used.
    #[must_use]
    pub fn disconnected(&self, reason: Disconnection, by: &Responsible) -> Error {
        let page = self.account_page.clone();
        Error::SearchAccountDisconnected(Disconnected { reason, by: by.clone(), page })
    }

    /// Returns the error for a search engine that has not answered for `account` in time, with the trouble that is known.
    #[must_use]
    pub fn unanswered(&self, account: &search_account::Model) -> Error {
        let trouble = self.reader.engine().trouble(account.id).map_or(TroubleKind::Unreachable, |trouble| trouble.kind);
        Error::SearchEngineUnavailable { retry_after: UNANSWERED_RETRY, trouble }
    }

    /// Reads one part of a question.
    pub async fn read(&self, site: &SearchSite, part: &Part, plan: &Plan) -> Result<Arc<Reading>, Error> {
        let reader = self.reader.asking_for(site.asker);
        match self.waiting.announced(reader.read(&site.credentials, &site.url, part, plan)).await {
            Ok(reading) => Ok(reading),
            Err(error) => Err(self.explain(site, error).await),
        }
    }

    /// Returns the freshness of the site's data, the same for the whole question.
    pub async fn last_final(&self, site: &SearchSite) -> Result<LastFinal, Error> {
        let read = async {
            let reader = self.reader.asking_for(site.asker);
            match self.waiting.announced(reader.last_final(&site.credentials, &site.url)).await {
                Ok(found) => Ok(found),
                Err(error) => Err(self.explain(site, error.into()).await),
            }
        };
        site.freshness.get_or_try_init(|| read).await.copied()
    }

    /// Returns the kept recent days of a site. Reads nothing.
    #[must_use]
    pub fn kept_recent(&self, site: &SearchSite, span: u32) -> Option<Arc<RecentDays>> {
        self.reader.recent().kept(&site.credentials, &site.url, span)
    }

    /// Returns the recent days of a site, or starts to read them in the background.
    #[must_use]
    pub fn recent(&self, site: &SearchSite, span: u32) -> Recent {
        self.reader.recent().ask(&site.credentials, &site.url, span, self.lane.unwrap_or(Lane::Headlines))
    }

    /// Translates a failure for the caller, and records a refused grant.
    pub async fn explain(&self, site: &SearchSite, error: ReadError) -> Error {
        let error = match error {
            ReadError::TooComplex(hint) => return Error::FilterTooComplex(hint),
            ReadError::SearchEngine(error) => error,
        };
        if let SearchEngineError::SiteRefused { detail, .. } = &error {
            tracing::info!(property = %site.property_id, detail, "the search engine refuses the site");
        }
        explain(self, &site.account, &site.responsible, error).await
    }
}

/// Translates a failure of the search engine for the user whose own account, or whose owner's account, was used.
pub async fn explain(
    search: &SearchData,
    account: &search_account::Model,
    by: &Responsible,
    error: SearchEngineError,
) -> Error {
    match error {
        SearchEngineError::Disconnected(said) => refused(search, account, by, Disconnection::Revoked, &said).await,
        SearchEngineError::ScopeMissing(said) => refused(search, account, by, Disconnection::ScopeMissing, &said).await,
        SearchEngineError::Unavailable { retry_after, quota, detail } => {
            tracing::warn!(detail, "the search engine is unavailable");
            let trouble = if quota { TroubleKind::Quota } else { TroubleKind::Unreachable };
            Error::SearchEngineUnavailable { retry_after: retry_after.as_secs().max(1), trouble }
        }
        SearchEngineError::Shut { retry_after } => {
            tracing::debug!(%error, "a request to the search engine was not sent");
            Error::SearchEngineUnavailable {
                retry_after: retry_after.as_secs().max(1),
                trouble: TroubleKind::Unreachable,
            }
        }
        SearchEngineError::NotSent { retry_after, of_quota, .. } => {
            tracing::warn!(%error, "a request to the search engine was not sent");
            Error::NotSent { retry_after: retry_after.as_secs().max(1), of_quota }
        }
        SearchEngineError::Misconfigured(said) => {
            tracing::error!(said, "the search engine refuses this deployment");
            Error::SearchEngineUnavailable { retry_after: 60, trouble: TroubleKind::Misconfigured }
        }
        // Users other than the owner get the 404 of an unknown site, because the account is not theirs.
        SearchEngineError::SiteRefused { .. } if *by != Responsible::Caller => Error::NotFound,
        SearchEngineError::SiteRefused { since, retry_after, .. } => {
            Error::SearchSiteRefused { since, retry_after: retry_after.as_secs().max(1) }
        }
        SearchEngineError::PermissionLost(said) => {
            tracing::warn!(said, "the search engine refuses the account");
            Error::SearchEngineUnavailable { retry_after: 60, trouble: TroubleKind::Misconfigured }
        }
        SearchEngineError::InvalidRequest(said) => {
            Error::internal(format!("the search engine refused a request: {said}"))
        }
    }
}

/// Records that the search engine refused the account's grant.
async fn refused(
    search: &SearchData,
    account: &search_account::Model,
    by: &Responsible,
    reason: Disconnection,
    said: &str,
) -> Error {
    let noted = search_accounts::mark_refused(&search.writer, account, reason, said, search.clock.now()).await;
    noted.err().unwrap_or_else(|| search.disconnected(reason, by))
}
