//! A person's own properties as answers say them, and finding them in the search account.

use api::properties::{OwnedProperty, PropertyPreference, SitePermission, SyncResult, Tracking};
use entity::{property, property_preference};
use uuid::Uuid;

use super::{
    accounts,
    properties::display_name,
    search_data::{SearchData, explain},
    sync::{self, Site},
    tracking,
};
use crate::{error::Error, random::Random, search_engine::Account};

/// Reads the sites of a person's search accounts and brings the properties in line with them.
pub async fn sync(search: &SearchData, random: &Random, user_id: Uuid) -> Result<SyncResult, Error> {
    let accounts = accounts::of_user(&search.db, user_id).await?;
    if accounts.is_empty() {
        return Err(Error::SearchAccountDisconnected { owner_must: false });
    }
    let mut result = SyncResult { added: 0, updated: 0, lost: 0, properties: Vec::new() };
    for account in accounts {
        let refresh_token = accounts::refresh_token(&search.secrets, &account, false)?.into();
        let credentials = Account { id: account.id, refresh_token };
        let sites = match search.reader.engine().sites(&credentials).await {
            Ok(sites) => sites,
            Err(error) => return Err(explain(search, &account, false, error).await),
        };
        let sites: Vec<Site> = sites
            .into_iter()
            .map(|site| Site { site_url: site.site_url, permission_level: site.permission_level })
            .collect();
        let outcome = sync::sync(&search.db, random, search.clock.now(), &account, &sites).await?;
        result.added += outcome.added;
        result.updated += outcome.updated;
        result.lost += outcome.lost;
        result.properties.extend(outcome.properties.into_iter().map(owned));
    }
    Ok(result)
}

/// Tracking, as answers say it.
#[must_use]
pub fn tracking(found: tracking::Tracking) -> Tracking {
    Tracking {
        used: found.used() as u64,
        quota: found.quota.into(),
        properties: found.properties.into_iter().map(owned).collect(),
    }
}

/// A person's marks, as answers say them.
#[must_use]
pub fn preference(marks: &property_preference::Model) -> PropertyPreference {
    PropertyPreference { id: marks.property_id, favorite: marks.favorite, hidden: marks.hidden }
}

fn owned(property: property::Model) -> OwnedProperty {
    OwnedProperty {
        id: property.id,
        name: display_name(&property.site_url).to_owned(),
        permission: match property.permission_level.as_str() {
            "siteOwner" => SitePermission::Owner,
            "siteFullUser" => SitePermission::Full,
            _ => SitePermission::Restricted,
        },
        tracked: property.tracked,
        lost_at: property.lost_at,
        site_url: property.site_url,
    }
}
