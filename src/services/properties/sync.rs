//! Updates the property records of a search account from the sites that the search engine lists for it.
//!
//! The search engine is asked before a transaction begins, so no lock is held meanwhile. Accounts are updated one after the other,
//! each in one transaction. A site that several accounts of a person list is one property, read by the best of them.

use std::collections::{HashMap, HashSet};

use api::properties::SyncResult;
use chrono::{DateTime, Utc};
use common::random::Random;
use entity::{property, property_account, search_account};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, DatabaseConnection, EntityTrait, IntoActiveModel, QuerySelect,
    sea_query::LockType,
};
use search_engine::SiteUrl;
use store::{database, transaction::Transaction};
use uuid::Uuid;

use super::owned;
use crate::{
    error::{Disconnection, Error, Responsible},
    services::{
        analyses::search_data::{SearchData, explain},
        search_accounts::{self, sites::choose},
        users::{self, Member},
    },
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
pub struct SyncCounts {
    /// The number of new properties.
    pub added: u64,
    /// The number of properties whose permission or account changed, or that came back.
    pub updated: u64,
    /// The number of properties that no account lists any more since the last sync.
    pub lost: u64,
    /// All properties that the account lists or has listed, by site.
    pub properties: Vec<property::Model>,
}

/// Reads the sites of a person's search accounts and updates the property records. Accounts that cannot be used are left out, as
/// long as one can.
pub async fn of_member(search: &SearchData, random: &Random, member: &Member) -> Result<SyncResult, Error> {
    let accounts = search_accounts::of_user(&search.db, member.user.id).await?;
    let mut result = SyncResult { added: 0, updated: 0, lost: 0, properties: Vec::new() };
    let (mut read, mut unusable) = (false, None);
    for account in accounts {
        match of_account(search, random, &account).await {
            Ok(outcome) => {
                read = true;
                result.added += outcome.added;
                result.updated += outcome.updated;
                result.lost += outcome.lost;
            }
            Err(error @ Error::SearchAccountDisconnected(_)) => unusable = unusable.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    if !read {
        return Err(
            unusable.unwrap_or_else(|| search.disconnected(Disconnection::NeverConnected, &Responsible::Caller))
        );
    }
    let properties = property::Entity::of_owner(member.user.id).all(&search.db).await?;
    result.properties = properties.into_iter().map(owned).collect();
    Ok(result)
}

/// Reads the sites of one search account and updates the property records.
pub async fn of_account(
    search: &SearchData,
    random: &Random,
    account: &search_account::Model,
) -> Result<SyncCounts, Error> {
    let credentials = search.credentials(account, &Responsible::Caller)?;
    let sites = match search.reader.engine().sites(&credentials).await {
        Ok(sites) => sites,
        Err(error) => return Err(explain(search, account, &Responsible::Caller, error).await),
    };
    let sites: Vec<Site> = sites
        .into_iter()
        .map(|site| Site { site_url: site.site_url, permission_level: site.permission_level })
        .collect();
    for site in &sites {
        search.reader.engine().is_listed(account.id, &SiteUrl(site.site_url.clone()));
    }
    sync(&search.writer, random, search.clock.now(), account, &sites).await
}

/// Adds new sites, updates permissions and marks lost sites. The operation is idempotent. Sites that the account has not verified
/// are omitted, because the search engine gives no data for them.
pub async fn sync(
    db: &DatabaseConnection,
    random: &Random,
    now: DateTime<Utc>,
    account: &search_account::Model,
    sites: &[Site],
) -> Result<SyncCounts, Error> {
    let transaction = database::begin(db).await?;
    let outcome = sync_within(&transaction, random, now, account, sites).await?;
    transaction.commit().await?;
    Ok(outcome)
}

/// Like [`sync`], inside the caller's transaction.
pub(crate) async fn sync_within(
    tx: &Transaction,
    random: &Random,
    now: DateTime<Utc>,
    account: &search_account::Model,
    sites: &[Site],
) -> Result<SyncCounts, Error> {
    lock(tx, account, now).await?;
    let before = property::Entity::of_owner(account.user_id).all(tx).await?;
    let mut known: HashMap<&str, Uuid> = before.iter().map(|own| (own.site_url.as_str(), own.id)).collect();
    let mut listings: HashMap<Uuid, property_account::Model> = property_account::Entity::of_account(account.id)
        .all(tx)
        .await?
        .into_iter()
        .map(|listing| (listing.property_id, listing))
        .collect();
    let mut listed = HashSet::new();
    for site in sites.iter().filter(|site| site.permission_level != "siteUnverifiedUser") {
        let property_id = match known.get(site.site_url.as_str()) {
            Some(id) => *id,
            None => fresh(random, now, account, site).insert(tx).await?.id,
        };
        known.insert(&site.site_url, property_id);
        if listed.insert(property_id) {
            list(tx, property_id, account.id, listings.remove(&property_id), site).await?;
        }
    }
    for gone in
        listings.into_values().filter(|listing| listing.lost_at.is_none() && !listed.contains(&listing.property_id))
    {
        let mut row = gone.into_active_model();
        row.lost_at = Set(Some(now));
        row.update(tx).await?;
    }
    choose(tx, account.user_id, now).await?;
    outcome(tx, account, &before).await
}

/// Counts the changes since `before`.
async fn outcome(
    tx: &Transaction,
    account: &search_account::Model,
    before: &[property::Model],
) -> Result<SyncCounts, Error> {
    let before: HashMap<Uuid, &property::Model> = before.iter().map(|own| (own.id, own)).collect();
    let listings = property_account::Entity::of_account(account.id).all(tx).await?;
    let of_account: HashSet<Uuid> = listings.into_iter().map(|listing| listing.property_id).collect();
    let (mut outcome, after) = (SyncCounts::default(), property::Entity::of_owner(account.user_id).all(tx).await?);
    for property in after {
        match before.get(&property.id) {
            None => outcome.added += 1,
            Some(was) if was.lost_at.is_none() && property.lost_at.is_some() => outcome.lost += 1,
            Some(was) => outcome.updated += u64::from(**was != property),
        }
        if of_account.contains(&property.id) {
            outcome.properties.push(property);
        }
    }
    Ok(outcome)
}

/// Locks the person and the account, so that one sync of a person runs at a time, and records the time of the sync.
async fn lock(tx: &Transaction, account: &search_account::Model, now: DateTime<Utc>) -> Result<(), Error> {
    users::lock(tx, account.user_id).await?;
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

/// Records that the account lists the site of a property.
async fn list(
    tx: &Transaction,
    property_id: Uuid,
    account_id: Uuid,
    known: Option<property_account::Model>,
    site: &Site,
) -> Result<(), Error> {
    let Some(known) = known else {
        let row = property_account::ActiveModel {
            property_id: Set(property_id),
            account_id: Set(account_id),
            permission_level: Set(site.permission_level.clone()),
            lost_at: Set(None),
        };
        property_account::Entity::insert(row).exec_without_returning(tx).await?;
        return Ok(());
    };
    let mut row = known.into_active_model();
    row.permission_level.set_if_not_equals(site.permission_level.clone());
    row.lost_at.set_if_not_equals(None);
    if row.is_changed() {
        row.update(tx).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use test_data::noon;

    use super::*;
    use crate::testing::World;

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

    /// Two accounts of one person that list the same sites.
    #[tokio::test]
    async fn a_site_of_two_accounts_is_one_property_read_by_the_best_of_them() {
        let world = World::new().await;
        let (first, second) = (world.account(world.owner).await, world.add_account(world.owner, "second").await);
        let (site, shared) = ("https://shared.test/", "https://first.test/");
        let sync = async |account: &search_account::Model, listed: Listed<'_>| {
            super::sync(&world.db, &world.random, noon(), account, &sites(listed)).await.unwrap()
        };
        let reader = async || {
            let own = property::Entity::of_owner(world.owner).all(&world.db).await.unwrap();
            let found: Vec<_> = own.into_iter().filter(|property| property.site_url == site).collect();
            assert_eq!(found.len(), 1, "one property per person and site");
            (found[0].account_id, found[0].permission_level.clone(), found[0].lost_at.is_some())
        };
        let end = async |account: &search_account::Model| {
            search_accounts::mark_refused(&world.db, account, Disconnection::Revoked, "ended", noon()).await.unwrap();
        };
        sync(&first, &[(site, "siteFullUser"), (shared, "siteOwner")]).await;
        let done = sync(&second, &[(site, "siteFullUser")]).await;
        assert_eq!([done.added, done.updated, done.lost], [0, 0, 0], "the oldest of equals keeps it");
        assert_eq!(reader().await, (first.id, "siteFullUser".into(), false));

        let done = sync(&second, &[(site, "siteOwner")]).await;
        assert_eq!([done.added, done.updated, done.lost], [0, 1, 0], "the owner takes it over");
        assert_eq!(reader().await, (second.id, "siteOwner".into(), false));
        assert_eq!(done.properties.len(), 1);

        end(&second).await;
        assert_eq!(reader().await, (first.id, "siteFullUser".into(), false), "the other can still read it");
        end(&first).await;
        assert_eq!(reader().await.0, second.id, "of two that cannot, the better one");

        let done = sync(&second, &[]).await;
        assert_eq!([done.added, done.updated, done.lost], [0, 1, 0], "the other still lists it");
        assert_eq!(reader().await, (first.id, "siteFullUser".into(), false));
        let done = sync(&first, &[(shared, "siteOwner")]).await;
        assert_eq!([done.added, done.updated, done.lost], [0, 0, 1], "nobody lists it");
        assert!(reader().await.2);
        assert_eq!(sync(&second, &[(site, "siteRestrictedUser")]).await.updated, 1);
        assert_eq!(reader().await, (second.id, "siteRestrictedUser".into(), false));
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
