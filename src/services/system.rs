//! The health of search accounts, and feature flags.

use std::borrow::Cow;

use api::system::{FeatureFlags, RefusedSite, SearchAccountFailure, SearchAccountHealth, SearchAccountStatus};
use chrono::{DateTime, Utc};
use entity::{property, search_account};
use search_engine::{FailureKind, SiteUrl, Trouble, TroubleKind};
use uuid::Uuid;

use super::{
    analyses::search_data::SearchData,
    patience::{self, TIMEOUT},
    search_accounts,
    users::Member,
};
use crate::{
    config::{Config, ReplayStore},
    error::{Disconnection, Error, Responsible},
};

/// Returns the current health of a person's search accounts.
pub async fn accounts(search: &SearchData, member: &Member) -> Result<Vec<SearchAccountHealth>, Error> {
    let accounts = search_accounts::of_user(&search.db, member.user.id).await?;
    let tasks = accounts.iter().map(|account| {
        let (search, account) = (search.clone(), account.clone());
        async move { ask(&search, &account).await }
    });
    let answers = patience::answers(TIMEOUT, tasks.collect::<Vec<_>>()).await;
    let mut found = Vec::new();
    for (account, answer) in accounts.into_iter().zip(answers) {
        let answer = answer.unwrap_or_else(|| Err(search.unanswered(&account)));
        let properties = property::Entity::of_account(account.id).all(&search.db).await?;
        found.push(account_health(search, account, answer, &properties));
    }
    Ok(found)
}

/// Returns why none of a person's search accounts can be read, or `None` if one can.
pub async fn unreadable(search: &SearchData, member: &Member) -> Result<Option<Error>, Error> {
    let accounts = search_accounts::of_user(&search.db, member.user.id).await?;
    let mut reason = Disconnection::NeverConnected;
    for account in &accounts {
        match search_accounts::disconnection(account) {
            None => return Ok(None),
            Some(ended) => reason = ended,
        }
    }
    Ok(Some(search.disconnected(reason, &Responsible::Caller)))
}

fn account_health(
    search: &SearchData,
    account: search_account::Model,
    answer: Result<(), Error>,
    properties: &[property::Model],
) -> SearchAccountHealth {
    let (status, hint) = match answer {
        // The list of sites may be given while questions are refused.
        Ok(()) => match search.reader.engine().trouble(account.id) {
            Some(Trouble { kind: TroubleKind::Quota, .. }) => {
                (SearchAccountStatus::QuotaExceeded, Some(quota_used_up()))
            }
            _ => (SearchAccountStatus::Connected, None),
        },
        Err(error) => (status_of(&error), Some(error.hint().map_or_else(unanswered, Cow::into_owned))),
    };
    let (last_success_at, last_error) = last_outcomes(search, &account);
    SearchAccountHealth {
        id: account.id,
        status,
        since: Some(since(search, &account, status).into()),
        hint,
        refused_sites: refused_sites(search, account.id, properties),
        properties: properties.len() as u64,
        checked_at: search.clock.now().into(),
        last_success_at: last_success_at.map(Into::into),
        last_error,
        email: account.email,
    }
}

/// Returns the time since which an account is in the state `status`. Trouble that no request has ended with yet begins now.
pub(super) fn since(
    search: &SearchData,
    account: &search_account::Model,
    status: SearchAccountStatus,
) -> DateTime<Utc> {
    match status {
        SearchAccountStatus::QuotaExceeded | SearchAccountStatus::Unreachable => {
            let trouble = search.reader.engine().trouble(account.id);
            trouble.map_or_else(|| search.clock.now(), |trouble| trouble.since)
        }
        SearchAccountStatus::Connected
        | SearchAccountStatus::ReconnectRequired
        | SearchAccountStatus::ScopeMissing
        | SearchAccountStatus::Disconnected => account.status_at.unwrap_or(account.connected_at),
    }
}

/// Returns the sites of an account that the search engine refuses to it, as far as this process knows, with advice on each.
pub(super) fn refused_sites(search: &SearchData, account_id: Uuid, properties: &[property::Model]) -> Vec<RefusedSite> {
    let refused = |property: &property::Model| {
        let site = SiteUrl(property.site_url.clone());
        let refused = search.reader.engine().refused(account_id, &site)?;
        let wait = refused.wait.unwrap_or_default().as_secs();
        let error = Error::SearchSiteRefused { since: refused.since, retry_after: wait };
        Some(RefusedSite {
            property_id: property.id,
            site_url: property.site_url.clone(),
            since: refused.since.into(),
            hint: error.hint().map(Cow::into_owned).unwrap_or_default(),
        })
    };
    let mut sites: Vec<RefusedSite> = properties.iter().filter_map(refused).collect();
    sites.sort_by(|a, b| (&a.site_url, a.property_id).cmp(&(&b.site_url, b.property_id)));
    sites
}

/// Advice on an account without quota.
pub(super) fn quota_used_up() -> String {
    "The search engine's quota for one of its sites is used up; try again later.".to_owned()
}

/// Advice on a search engine that does not answer.
pub(super) fn unanswered() -> String {
    "The search engine did not answer; try again later.".to_owned()
}

/// The state of an account that cannot be used for this reason.
pub(super) fn status_of(error: &Error) -> SearchAccountStatus {
    match error {
        Error::SearchAccountDisconnected(account) => match account.reason {
            Disconnection::NeverConnected | Disconnection::Revoked => SearchAccountStatus::ReconnectRequired,
            Disconnection::ScopeMissing => SearchAccountStatus::ScopeMissing,
            Disconnection::ByPerson => SearchAccountStatus::Disconnected,
        },
        Error::SearchEngineUnavailable { trouble: TroubleKind::Quota, .. } => SearchAccountStatus::QuotaExceeded,
        _ => SearchAccountStatus::Unreachable,
    }
}

async fn ask(search: &SearchData, account: &search_account::Model) -> Result<(), Error> {
    let credentials = search.credentials(account, &Responsible::Caller)?;
    match search.reader.engine().sites(&credentials).await {
        Ok(_) => Ok(()),
        Err(error) => Err(super::analyses::search_data::explain(search, account, &Responsible::Caller, error).await),
    }
}

/// Returns an account's last success and last failure, as far as they are known.
pub(super) fn last_outcomes(
    search: &SearchData,
    account: &search_account::Model,
) -> (Option<DateTime<Utc>>, Option<SearchAccountFailure>) {
    let last = search.reader.engine().last_outcomes(account.id);
    let failure = last.failure.map(|(at, kind)| failure(at, kind));
    // Another process, or this one before its last start, may have read the sites.
    (last.success.max(account.synced_at), failure.or_else(|| stored_failure(account)))
}

/// The failure that ended the stored grant, if it has ended and no failure is known of this process.
fn stored_failure(account: &search_account::Model) -> Option<SearchAccountFailure> {
    let kind = match search_accounts::disconnection(account)? {
        Disconnection::NeverConnected | Disconnection::Revoked => FailureKind::GrantEnded,
        Disconnection::ScopeMissing => FailureKind::ScopeMissing,
        Disconnection::ByPerson => return None,
    };
    Some(failure(account.status_at?, kind))
}

fn failure(at: DateTime<Utc>, kind: FailureKind) -> SearchAccountFailure {
    let message = match kind {
        FailureKind::GrantEnded => "The search engine has ended the access of this search account.",
        FailureKind::ScopeMissing => "This search account does not let the service read search data.",
        FailureKind::SiteRefused => "The search engine refused to let this account read one of its sites.",
        FailureKind::QuestionRefused => "The search engine refused a question as invalid.",
        FailureKind::Misconfigured => "The search engine refuses this service.",
        FailureKind::Quota => "The search engine's quota for this account or one of its sites was used up.",
        FailureKind::Unreachable => "The search engine did not answer.",
    };
    SearchAccountFailure { at: at.into(), message: message.to_owned() }
}

/// Returns the features that clients may show: working ones of the person's plan, and the deployment's.
#[must_use]
pub fn feature_flags(config: &Config, member: &Member) -> FeatureFlags {
    let features = member.entitlement.usable();
    FeatureFlags {
        billing: config.billing.enabled,
        share_links: features.share_links,
        team: features.team,
        mcp: features.mcp,
        seo_providers: features.seo_providers,
        idempotent_writes: config.idempotency.store == ReplayStore::Database,
    }
}
