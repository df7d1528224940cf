//! The selection of a person's own properties that are tracked, within the plan's quota.

use std::collections::HashSet;

use api::properties;
use chrono::{DateTime, Utc};
use entity::property;
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, QueryFilter};
use serde::Serialize;
use uuid::Uuid;

use super::owned;
use crate::{
    config::Config,
    error::Error,
    services::{
        change::{MemberChange, etag},
        users::{Member, plans::Entitlement},
    },
};

/// A person's own properties and the plan's quota.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tracking {
    /// The maximum number of tracked properties in the plan. `None` without billing.
    pub quota: Option<u32>,
    /// All properties of the person, by site.
    pub properties: Vec<property::Model>,
}

impl Tracking {
    /// Returns the number of tracked properties.
    #[must_use]
    pub fn used(&self) -> usize {
        self.properties.iter().filter(|property| property.tracked).count()
    }

    /// Converts the selection to an API selection.
    #[must_use]
    pub fn to_api(self) -> properties::Tracking {
        properties::Tracking {
            used: self.used() as u64,
            quota: self.quota.map(u64::from),
            etag: etag(&self),
            properties: self.properties.into_iter().map(owned).collect(),
        }
    }
}

/// Returns a member's own properties and the plan's quota.
pub async fn read(db: &impl ConnectionTrait, member: &Member) -> Result<Tracking, Error> {
    within(db, member.user.id, member.entitlement.tracked_properties).await
}

async fn within(db: &impl ConnectionTrait, user_id: Uuid, quota: Option<u32>) -> Result<Tracking, Error> {
    let mut properties = property::Entity::of_owner(user_id).all(db).await?;
    properties.sort_by(|a, b| (&a.site_url, a.id).cmp(&(&b.site_url, b.id)));
    Ok(Tracking { quota, properties })
}

/// Tracks exactly the properties `wanted`, or changes nothing. Takes the quota from the member's record after locking it.
///
/// # Errors
/// [`Error::NoSuch`] if a property is not the member's own; [`Error::PropertyQuotaExceeded`]; [`Error::PreconditionFailed`] if
/// `If-Match` does not name the current selection.
pub async fn replace(change: &MemberChange, config: &Config, wanted: &[Uuid]) -> Result<Tracking, Error> {
    replace_among(change, config, None, wanted).await
}

/// Like [`replace`], but leaves properties outside `among` as they are.
///
/// # Errors
/// The errors of [`replace`]. The quota counts the properties outside `among`, too.
pub(crate) async fn replace_among(
    change: &MemberChange,
    config: &Config,
    among: Option<&HashSet<Uuid>>,
    wanted: &[Uuid],
) -> Result<Tracking, Error> {
    let user = change.lock().await?;
    let quota = Entitlement::of(config, &user, change.now).tracked_properties;
    let before = within(change.tx(), user.id, quota).await?;
    change.check(&before)?;
    let is_meant = |id: &Uuid| among.is_none_or(|among| among.contains(id));
    let own: HashSet<Uuid> = before.properties.iter().map(|property| property.id).filter(is_meant).collect();
    Error::check_named("propertyIds", wanted, &own, "your properties")?;
    let others = before.properties.iter().filter(|property| property.tracked && !is_meant(&property.id));
    let wanted: HashSet<Uuid> = wanted.iter().copied().chain(others.map(|property| property.id)).collect();
    if let Some(allowed) = before.quota.filter(|quota| wanted.len() as u64 > u64::from(*quota)) {
        return Err(Error::PropertyQuotaExceeded { allowed, asked: wanted.len() });
    }
    for tracked in [false, true] {
        let changed = before.properties.iter().filter(|p| p.tracked != tracked && wanted.contains(&p.id) == tracked);
        set(change.tx(), changed.map(|property| property.id).collect(), tracked, change.now).await?;
    }
    within(change.tx(), user.id, quota).await
}

async fn set(tx: &DatabaseTransaction, own: Vec<Uuid>, tracked: bool, now: DateTime<Utc>) -> Result<(), Error> {
    if own.is_empty() {
        return Ok(());
    }
    let tracked_at = Set(tracked.then_some(now));
    let row = property::ActiveModel { tracked: Set(tracked), tracked_at, updated_at: Set(now), ..Default::default() };
    property::Entity::update_many().set(row).filter(property::Column::Id.is_in(own)).exec(tx).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::World;

    #[tokio::test]
    async fn replaces_the_selection_or_changes_nothing() {
        let world = World::new().await;
        let mut config = Config::default();
        config.plans.pro.tracked_properties = 2;
        let a = world.add_property(world.owner, "https://a.test/", true).await;
        let b = world.add_property(world.owner, "https://b.test/", false).await;
        let c = world.add_property(world.owner, "https://c.test/", false).await;
        let foreign = world.add_property(world.stranger, "https://foreign.test/", false).await;
        let tracked = async || {
            let member = world.member(&config, world.owner).await;
            let tracking = read(&world.db, &member).await.unwrap();
            assert_eq!((tracking.quota, tracking.properties.len()), (Some(2), 3));
            let tracked = tracking.properties.into_iter().filter(|property| property.tracked);
            tracked.map(|property| property.id).collect::<Vec<_>>()
        };
        let replace = async |wanted: &[Uuid]| {
            let member = world.member(&config, world.owner).await;
            world.change(&member, async |change| super::replace(change, &config, wanted).await).await
        };

        assert_eq!(replace(&[c, b, b]).await.unwrap().used(), 2);
        assert_eq!(tracked().await, [b, c]);
        assert!(matches!(replace(&[a, foreign]).await, Err(Error::NoSuch { .. })));
        assert!(matches!(replace(&[Uuid::nil()]).await, Err(Error::NoSuch { .. })));
        let over = replace(&[a, b, c]).await.unwrap_err();
        assert!(matches!(over, Error::PropertyQuotaExceeded { allowed: 2, asked: 3 }), "{over}");
        assert_eq!(tracked().await, [b, c]);
        assert_eq!(replace(&[]).await.unwrap().used(), 0);
    }
}
