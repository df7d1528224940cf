//! Search accounts and their sites, as their owner sees them.

use std::{collections::HashMap, sync::Arc};

use chrono::{DateTime, TimeDelta, Utc};
use common::names::sites::{self, SiteName};
use entity::{property, property_account, search_account};
use search_engine::Trouble;
use store::unit_of_work::UnitOfWork;
use uuid::Uuid;

use super::{Progress, SearchConnections};
use crate::{
    error::{Disconnection, Error},
    services::{
        change::{Change, IfMatch},
        properties::tracking,
        search_accounts,
        users::Member,
    },
};

/// The time for which a first sync may run in another process.
const ELSEWHERE: TimeDelta = TimeDelta::minutes(1);

/// A search account, for its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccountView {
    /// The account's id.
    pub id: Uuid,
    /// Its e-mail address, or its identifier at the search engine.
    pub name: String,
    /// The reason why it cannot be used.
    pub ended: Option<Disconnection>,
    /// The time since which it is connected, or not.
    pub since: DateTime<Utc>,
    /// The search engine's last refusal.
    pub said: Option<String>,
    /// Trouble of a connected account that has not ended.
    pub trouble: Option<Trouble>,
    /// The time when its sites were last read.
    pub synced_at: Option<DateTime<Utc>>,
    /// The sync under way, or the failure of the last one.
    pub progress: Option<Progress>,
}

/// A site of an account, for its owner.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SiteView {
    /// The property's id.
    pub id: Uuid,
    /// The name with its kind.
    pub name: SiteName,
    /// True if the person tracks it.
    pub tracked: bool,
    /// True if the account no longer lists it.
    pub lost: bool,
    /// The other account that reads it.
    pub read_by: Option<String>,
}

/// The sites of an account and the plan's quota.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The sites, by name.
    pub sites: Vec<SiteView>,
    /// The number of tracked properties of all the person's accounts.
    pub used: usize,
    /// The number of them that this account does not list.
    pub elsewhere: usize,
    /// The maximum number.
    pub quota: Option<u32>,
}

impl SearchConnections {
    /// Returns the accounts of a person, oldest first.
    pub async fn of_person(&self, user_id: Uuid) -> Result<Vec<AccountView>, Error> {
        let accounts = search_accounts::of_user(&self.search.db, user_id).await?;
        Ok(accounts.into_iter().map(|account| self.view(account)).collect())
    }

    /// Returns an account of a person.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub async fn one(&self, user_id: Uuid, id: Uuid) -> Result<AccountView, Error> {
        Ok(self.view(search_accounts::one_of_user(&self.search.db, user_id, id).await?))
    }

    /// Reads the sites of an account again, in the background.
    pub async fn sync(&self, user_id: Uuid, id: Uuid) -> Result<(), Error> {
        self.sync_in_background(search_accounts::one_of_user(&self.search.db, user_id, id).await?);
        Ok(())
    }

    /// Returns the sites of an account, from which the person chooses the tracked ones. Lost sites are shown only while they are tracked.
    pub async fn choice(&self, member: &Member, id: Uuid) -> Result<Choice, Error> {
        let db = &self.search.db;
        search_accounts::one_of_user(db, member.user.id, id).await?;
        let accounts = search_accounts::of_user(db, member.user.id).await?;
        let accounts: HashMap<Uuid, String> =
            accounts.into_iter().map(|account| (account.id, name(&account))).collect();
        let listed = self.listed(id).await?;
        let tracking = tracking::read(db, member).await?;
        let (used, quota) = (tracking.used(), tracking.quota);
        let (own, others): (Vec<_>, Vec<_>) =
            tracking.properties.into_iter().partition(|property| listed.contains_key(&property.id));
        let is_lost = |property: &property::Model| listed.get(&property.id).copied().unwrap_or_default();
        let own: Vec<_> = own.into_iter().filter(|property| property.tracked || !is_lost(property)).collect();
        let addresses: Vec<&str> = own.iter().map(|property| property.site_url.as_str()).collect();
        let names = sites::with_kinds(&addresses);
        let sites = own.into_iter().zip(names).map(|(property, name)| SiteView {
            name,
            tracked: property.tracked,
            lost: is_lost(&property),
            read_by: accounts.get(&property.account_id).filter(|_| property.account_id != id).cloned(),
            id: property.id,
        });
        let mut sites: Vec<_> = sites.collect();
        sites.sort_by_cached_key(|site| site.name.to_string());
        let elsewhere = others.iter().filter(|property| property.tracked).count();
        Ok(Choice { sites, used, elsewhere, quota })
    }

    /// Tracks exactly the `wanted` ones of an account's properties, or changes nothing.
    ///
    /// # Errors
    /// The errors of [`tracking::replace`].
    pub async fn choose(&self, member: &Arc<Member>, id: Uuid, wanted: &[Uuid]) -> Result<(), Error> {
        search_accounts::one_of_user(&self.search.db, member.user.id, id).await?;
        let shown = self.listed(id).await?.into_keys().collect();
        let unit = UnitOfWork::new(&self.store);
        let now = self.search.clock.now();
        let change = Change::begin(member.clone(), &unit, IfMatch::default(), now, self.random.clone()).await?;
        let selection = tracking::Selection::Among { shown, wanted: wanted.to_vec() };
        let replaced = tracking::replace(&change, &self.config, &selection).await;
        drop(change);
        match replaced {
            Ok(_) => Ok(unit.commit().await?),
            Err(error) => {
                unit.roll_back().await?;
                Err(error)
            }
        }
    }

    /// The properties that an account lists or has listed, each with whether it lost the site.
    async fn listed(&self, id: Uuid) -> Result<HashMap<Uuid, bool>, Error> {
        let listings = property_account::Entity::of_account(id).all(&self.search.db).await?;
        Ok(listings.into_iter().map(|listing| (listing.property_id, listing.lost_at.is_some())).collect())
    }

    fn view(&self, account: search_account::Model) -> AccountView {
        let ended = search_accounts::disconnection(&account);
        let progress = self.syncs.progress(account.id).or_else(|| {
            let begins = account.synced_at.is_none() && self.search.clock.now() - account.connected_at < ELSEWHERE;
            (begins && ended.is_none()).then_some(Progress::Running)
        });
        AccountView {
            id: account.id,
            name: name(&account),
            ended,
            since: account.status_at.unwrap_or(account.connected_at),
            trouble: self.search.reader.engine().trouble(account.id).filter(|_| ended.is_none()),
            said: account.last_error,
            synced_at: account.synced_at,
            progress,
        }
    }
}

fn name(account: &search_account::Model) -> String {
    account.email.clone().unwrap_or_else(|| account.subject.clone())
}
