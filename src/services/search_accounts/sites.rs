//! Chooses the search account that reads a site, where several accounts of a person list it.

use std::collections::HashMap;

use chrono::{DateTime, Utc};
use entity::{property, property_account, search_account};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, IntoActiveModel};
use store::transaction::Transaction;
use uuid::Uuid;

use super::disconnection;
use crate::error::Error;

/// Has each property of a person read by the best of the accounts that list its site: one that still lists it before one that lost
/// it, a connected one before others, then the one with the best permission, then the oldest. The person must be locked.
pub async fn choose(tx: &Transaction, user_id: Uuid, now: DateTime<Utc>) -> Result<(), Error> {
    let accounts: HashMap<Uuid, search_account::Model> =
        super::of_user(tx, user_id).await?.into_iter().map(|account| (account.id, account)).collect();
    let mut listings: HashMap<Uuid, Vec<property_account::Model>> = HashMap::new();
    for listing in property_account::Entity::of_owner(user_id).all(tx).await? {
        listings.entry(listing.property_id).or_default().push(listing);
    }
    for property in property::Entity::of_owner(user_id).all(tx).await? {
        let Some(listed) = listings.get(&property.id) else { continue };
        let rank = |listing: &&property_account::Model| {
            let connected = accounts.get(&listing.account_id).is_some_and(|account| disconnection(account).is_none());
            (listing.lost_at.is_some(), !connected, permission_rank(&listing.permission_level), listing.account_id)
        };
        let Some(best) = listed.iter().min_by_key(rank) else { continue };
        let lost_at = best.lost_at.and(listed.iter().filter_map(|listing| listing.lost_at).max());
        let mut row = property.into_active_model();
        row.account_id.set_if_not_equals(best.account_id);
        row.permission_level.set_if_not_equals(best.permission_level.clone());
        row.lost_at.set_if_not_equals(lost_at);
        if row.is_changed() {
            row.updated_at = Set(now);
            row.update(tx).await?;
        }
    }
    Ok(())
}

/// Lower is better.
fn permission_rank(level: &str) -> u8 {
    match level {
        "siteOwner" => 0,
        "siteFullUser" => 1,
        _ => 2,
    }
}
