//! Updates the property records of a search account from the sites that the search engine lists for it.
//!
//! The search engine is asked before a transaction begins, so no lock is held meanwhile. Accounts are updated one after the other,
//! each in one transaction.

use std::collections::HashMap;

use api::properties::SyncResult;
use chrono::{DateTime, Utc};
use entity::{property, search_account};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, DatabaseConnection, DatabaseTransaction, IntoActiveModel, QuerySelect,
    sea_query::LockType,
};

use super::owned;
use crate::{
    error::Error,
    random::Random,
    search_engine::{Account, SiteUrl},
    services::{
        analyses::search_data::{SearchData, explain},
        search_accounts,
        users::Member,
    },
    store::database,
};

/// A site in the search engine's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Site {
    /// The site's name at the search engine, byte for byte.
    pub site_url: String,
    /// The account's permission: `siteOwner`, `siteFullUser`, `siteRestrictedUser` or `siteUnverifiedUser`.
    pub permission_level: String,
}

/// The result of a sync.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The number of new properties.
    pub added: u64,
    /// The number of properties whose permission changed, or that came back.
    pub updated: u64,
    /// The number of properties that the account has lost since the last sync.
    pub lost: u64,
    /// All properties of the account, by site, including lost ones.
    pub properties: Vec<property::Model>,
}

/// Reads the sites of a person's search accounts and updates the property records.
pub async fn of_member(search: &SearchData, random: &Random, member: &Member) -> Result<SyncResult, Error> {
    let accounts = search_accounts::of_user(&search.db, member.user.id).await?;
    if accounts.is_empty() {
        return Err(Error::SearchAccountDisconnected { owner_must: false });
    }
    let mut result = SyncResult { added: 0, updated: 0, lost: 0, properties: Vec::new() };
    for account in accounts {
        let refresh_token = search_accounts::refresh_token(&search.secrets, &account, false)?.into();
        let credentials = Account { id: account.id, refresh_token };
        let sites = match search.reader.engine().sites(&credentials).await {
            Ok(sites) => sites,
            Err(error) => return Err(explain(search, &account, false, error).await),
        };
        let sites: Vec<Site> = sites
            .into_iter()
            .map(|site| Site { site_url: site.site_url, permission_level: site.permission_level })
            .collect();
        for site in &sites {
            search.reader.engine().is_listed(account.id, &SiteUrl(site.site_url.clone()));
        }
        let outcome = sync(&search.writer, random, search.clock.now(), &account, &sites).await?;
        result.added += outcome.added;
        result.updated += outcome.updated;
        result.lost += outcome.lost;
        result.properties.extend(outcome.properties.into_iter().map(owned));
    }
    Ok(result)
}

/// Adds new sites, updates permissions and marks lost sites. The operation is idempotent. Sites that the account has not verified
/// are omitted, because the search engine gives no data for them.
pub async fn sync(
    db: &DatabaseConnection,
    random: &Random,
    now: DateTime<Utc>,
    account: &search_account::Model,
    sites: &[Site],
) -> Result<Outcome, Error> {
    let transaction = database::begin(db).await?;
    let outcome = sync_within(&transaction, random, now, account, sites).await?;
    transaction.commit().await?;
    Ok(outcome)
}

/// Like [`sync`], inside the caller's transaction.
pub(crate) async fn sync_within(
    tx: &DatabaseTransaction,
    random: &Random,
    now: DateTime<Utc>,
    account: &search_account::Model,
    sites: &[Site],
) -> Result<Outcome, Error> {
    lock(tx, account, now).await?;
    let known = property::Entity::of_account(account.id).all(tx).await?;
    let mut known: HashMap<String, property::Model> =
        known.into_iter().map(|property| (property.site_url.clone(), property)).collect();
    let mut outcome = Outcome::default();
    for site in sites.iter().filter(|site| site.permission_level != "siteUnverifiedUser") {
        match known.remove(&site.site_url) {
            None => {
                fresh(random, now, account, site).insert(tx).await?;
                outcome.added += 1;
            }
            Some(property) => outcome.updated += u64::from(refresh(tx, property, site, now).await?),
        }
    }
    for gone in known.into_values().filter(|property| property.lost_at.is_none()) {
        let mut row = gone.into_active_model();
        row.lost_at = Set(Some(now));
        row.updated_at = Set(now);
        row.update(tx).await?;
        outcome.lost += 1;
    }
    outcome.properties = property::Entity::of_account(account.id).all(tx).await?;
    outcome.properties.sort_by(|a, b| a.site_url.cmp(&b.site_url));
    Ok(outcome)
}

/// Locks the account, so that one sync of it runs at a time, and records the time of the sync.
async fn lock(tx: &DatabaseTransaction, account: &search_account::Model, now: DateTime<Utc>) -> Result<(), Error> {
    let row =
        search_account::Entity::one_of_user(account.user_id, account.id).lock(LockType::NoKeyUpdate).one(tx).await?;
    let mut row = row.ok_or(Error::NotFound)?.into_active_model();
    row.synced_at = Set(Some(now));
    row.update(tx).await?;
    Ok(())
}

fn fresh(random: &Random, now: DateTime<Utc>, account: &search_account::Model, site: &Site) -> property::ActiveModel {
    property::ActiveModel {
        id: Set(random.id(now)),
        account_id: Set(account.id),
        user_id: Set(account.user_id),
        site_url: Set(site.site_url.clone()),
        permission_level: Set(site.permission_level.clone()),
        tracked: Set(false),
        tracked_at: Set(None),
        lost_at: Set(None),
        created_at: Set(now),
        updated_at: Set(now),
    }
}

async fn refresh(
    tx: &DatabaseTransaction,
    property: property::Model,
    site: &Site,
    now: DateTime<Utc>,
) -> Result<bool, Error> {
    let mut row = property.into_active_model();
    row.permission_level.set_if_not_equals(site.permission_level.clone());
    row.lost_at.set_if_not_equals(None);
    if !row.is_changed() {
        return Ok(false);
    }
    row.updated_at = Set(now);
    row.update(tx).await?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, noon};

    type Listed<'a> = &'a [(&'a str, &'a str)];

    fn sites(listed: Listed) -> Vec<Site> {
        let site = |(url, level): &(&str, &str)| Site { site_url: (*url).into(), permission_level: (*level).into() };
        listed.iter().map(site).collect()
    }

    #[tokio::test]
    async fn adds_updates_loses_and_is_idempotent() {
        let world = World::new().await;
        let account = world.account(world.owner).await;
        let steps: [(Listed, [u64; 3], &[&str]); 5] = [
            (
                &[("https://b/", "siteOwner"), ("sc-domain:a", "siteFullUser"), ("u", "siteUnverifiedUser")],
                [2, 0, 0],
                &[],
            ),
            (&[("https://b/", "siteOwner"), ("sc-domain:a", "siteFullUser")], [0, 0, 0], &[]),
            (&[("https://b/", "siteRestrictedUser")], [0, 1, 1], &["sc-domain:a"]),
            (&[("https://b/", "siteRestrictedUser")], [0, 0, 0], &["sc-domain:a"]),
            (&[("https://b/", "siteUnverifiedUser"), ("sc-domain:a", "siteFullUser")], [0, 1, 1], &["https://b/"]),
        ];
        for (listed, counts, lost) in steps {
            let done = sync(&world.db, &world.random, noon(), &account, &sites(listed)).await.unwrap();
            assert_eq!([done.added, done.updated, done.lost], counts, "{listed:?}");
            let gone = done.properties.iter().filter(|property| property.lost_at.is_some());
            assert_eq!(gone.map(|property| property.site_url.as_str()).collect::<Vec<_>>(), lost);
            assert_eq!(done.properties.len(), 2);
        }
    }

    #[tokio::test]
    async fn a_lost_property_stays_tracked() {
        let world = World::new().await;
        let id = world.add_property(world.owner, "https://b/", true).await;
        let account = world.account(world.owner).await;
        let done = sync(&world.db, &world.random, noon(), &account, &[]).await.unwrap();
        assert_eq!((done.lost, done.properties[0].id, done.properties[0].tracked), (1, id, true));
    }
}
