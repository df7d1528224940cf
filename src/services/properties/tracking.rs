//! The selection of a person's own properties that are tracked, within the plan's quota.

use std::collections::HashSet;

use api::{privacy::AuditAction, properties};
use chrono::{DateTime, Utc};
use common::names::sites;
use entity::{property, user};
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter};
use serde::Serialize;
use store::transaction::Transaction;
use uuid::Uuid;

use super::owned;
use crate::{
    config::Config,
    error::Error,
    services::{
        access::own::check_known,
        audit::Event,
        change::{MemberChange, etag},
        users::{Member, plans::Entitlement},
    },
};

/// The most properties that one event of the audit trail names.
const MOST_NAMES: usize = 20;

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

/// A choice of tracked properties.
#[derive(Debug, Clone)]
pub enum Selection {
    /// Exactly these.
    Exactly(Vec<Uuid>),
    /// Exactly these among those that were shown. Others stay as they are.
    Among {
        /// The properties that were shown.
        shown: HashSet<Uuid>,
        /// Those to track.
        wanted: Vec<Uuid>,
    },
    /// The tracked ones with some more and without some.
    Changed {
        /// Properties to track.
        add: Vec<Uuid>,
        /// Properties to untrack.
        remove: Vec<Uuid>,
    },
}

impl Selection {
    /// # Errors
    /// The selection has both forms, neither, or a property to add and to remove.
    pub fn of(selection: properties::TrackingSelection) -> Result<Self, Error> {
        match selection {
            properties::TrackingSelection { property_ids: Some(wanted), add: None, remove: None } => {
                Ok(Self::Exactly(wanted))
            }
            properties::TrackingSelection { property_ids: None, add: None, remove: None } => {
                Err(Error::invalid("propertyIds: is missing; send it, or add or remove"))
            }
            properties::TrackingSelection { property_ids: None, add, remove } => {
                let (add, remove) = (add.unwrap_or_default(), remove.unwrap_or_default());
                match remove.iter().position(|id| add.contains(id)) {
                    Some(index) => Err(Error::invalid(format!("remove[{index}]: is also in add"))),
                    None => Ok(Self::Changed { add, remove }),
                }
            }
            _ => Err(Error::invalid("propertyIds: cannot be sent with add or remove; send one or the other")),
        }
    }

    /// The field that names properties to track.
    fn field(&self) -> &'static str {
        match self {
            Self::Exactly(_) | Self::Among { .. } => "propertyIds",
            Self::Changed { .. } => "add",
        }
    }

    /// Checks that all named properties are the member's own, and were shown.
    async fn check(&self, change: &MemberChange, user: &user::Model, own: &[property::Model]) -> Result<(), Error> {
        let mut own: HashSet<Uuid> = own.iter().map(|property| property.id).collect();
        let named: &[(&str, &[Uuid])] = match self {
            Self::Exactly(wanted) => &[("propertyIds", wanted)],
            Self::Among { shown, wanted } => {
                own.retain(|id| shown.contains(id));
                &[("propertyIds", wanted)]
            }
            Self::Changed { add, remove } => &[("add", add), ("remove", remove)],
        };
        for named in named {
            check_known(change.tx(), user, *named, &own, change.now).await?;
        }
        Ok(())
    }

    /// Returns the properties to track.
    fn tracked(&self, own: &[property::Model]) -> HashSet<Uuid> {
        let tracked = own.iter().filter(|property| property.tracked).map(|property| property.id);
        match self {
            Self::Exactly(wanted) => wanted.iter().copied().collect(),
            Self::Among { shown, wanted } => {
                tracked.filter(|id| !shown.contains(id)).chain(wanted.iter().copied()).collect()
            }
            Self::Changed { add, remove } => {
                tracked.filter(|id| !remove.contains(id)).chain(add.iter().copied()).collect()
            }
        }
    }
}

/// Tracks the chosen properties, or changes nothing. Takes the quota from the member's record after locking it.
///
/// # Errors
/// [`Error::RoleTooLow`] or [`Error::NoSuch`] if a property is not the member's own; [`Error::SubscriptionRequired`] if the plan tracks
/// none; [`Error::PreconditionFailed`] if `If-Match` does not name the current selection; [`Error::PropertyQuotaExceeded`].
pub async fn replace(change: &MemberChange, config: &Config, selection: &Selection) -> Result<Tracking, Error> {
    let user = change.lock().await?;
    let entitlement = Entitlement::of(config, &user, change.now);
    let quota = entitlement.tracked_properties;
    let before = within(change.tx(), user.id, quota).await?;
    selection.check(change, &user, &before.properties).await?;
    entitlement.require_tracking()?;
    change.check(&before)?;
    let wanted = selection.tracked(&before.properties);
    // A member whose plan shrank may untrack some properties and keep others. A whole selection is always held to the quota.
    let is_held = matches!(selection, Selection::Exactly(_))
        || before.properties.iter().any(|property| !property.tracked && wanted.contains(&property.id));
    if let Some(allowed) = before.quota.filter(|quota| is_held && wanted.len() as u64 > u64::from(*quota)) {
        return Err(Error::PropertyQuotaExceeded { field: selection.field(), allowed, asked: wanted.len() });
    }
    for (tracked, action) in [(false, AuditAction::TrackingEnded), (true, AuditAction::TrackingBegun)] {
        let changed = before.properties.iter().filter(|p| p.tracked != tracked && wanted.contains(&p.id) == tracked);
        let changed: Vec<&property::Model> = changed.collect();
        if !changed.is_empty() {
            change.note(Event::own(user.id, action).record(named(&changed))).await?;
        }
        set(change.tx(), changed.iter().map(|property| property.id).collect(), tracked, change.now).await?;
    }
    within(change.tx(), user.id, quota).await
}

/// The names of properties for the audit trail: so many of them, and the number of the others.
fn named(properties: &[&property::Model]) -> String {
    let addresses: Vec<&str> = properties.iter().map(|one| one.site_url.as_str()).collect();
    let names: Vec<String> = sites::among(&addresses).iter().take(MOST_NAMES).map(ToString::to_string).collect();
    let more = properties.len() - names.len();
    let names = names.join(", ");
    if more == 0 { names } else { format!("{names} and {more} more") }
}

async fn set(tx: &Transaction, own: Vec<Uuid>, tracked: bool, now: DateTime<Utc>) -> Result<(), Error> {
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
        let choose = async |selection: Selection| {
            let member = world.member(&config, world.owner).await;
            world.change(&member, async |change| super::replace(change, &config, &selection).await).await
        };
        let replace = async |wanted: &[Uuid]| choose(Selection::Exactly(wanted.to_vec())).await;

        assert_eq!(replace(&[c, b, b]).await.unwrap().used(), 2);
        assert_eq!(tracked().await, [b, c]);
        assert!(matches!(replace(&[a, foreign]).await, Err(Error::NoSuch { .. })));
        assert!(matches!(replace(&[Uuid::nil()]).await, Err(Error::NoSuch { .. })));
        let over = replace(&[a, b, c]).await.unwrap_err();
        assert!(matches!(over, Error::PropertyQuotaExceeded { field: "propertyIds", allowed: 2, asked: 3 }), "{over}");
        assert_eq!(tracked().await, [b, c]);
        let changed = async |add: &[Uuid], remove: &[Uuid]| {
            choose(Selection::Changed { add: add.to_vec(), remove: remove.to_vec() }).await
        };
        changed(&[a], &[b]).await.unwrap();
        assert_eq!(tracked().await, [a, c]);
        let over = changed(&[b], &[]).await.unwrap_err();
        assert!(matches!(over, Error::PropertyQuotaExceeded { field: "add", allowed: 2, asked: 3 }), "{over}");
        assert!(matches!(changed(&[], &[foreign]).await, Err(Error::NoSuch { hint }) if hint.starts_with("remove[0]")));
        assert_eq!(tracked().await, [a, c]);
        assert_eq!(changed(&[], &[a, b]).await.unwrap().used(), 1, "removing an untracked one changes nothing");
        assert_eq!(replace(&[]).await.unwrap().used(), 0);

        replace(&[a, b]).await.unwrap();
        config.plans.pro.tracked_properties = 1;
        let choose = async |selection: Selection| {
            let member = world.member(&config, world.owner).await;
            world.change(&member, async |change| super::replace(change, &config, &selection).await).await
        };
        let changed = async |add: &[Uuid], remove: &[Uuid]| {
            choose(Selection::Changed { add: add.to_vec(), remove: remove.to_vec() }).await
        };
        assert_eq!(changed(&[a], &[]).await.unwrap().used(), 2, "a smaller plan lets what is tracked stay");
        let swap = changed(&[c], &[b]).await.unwrap_err();
        assert!(matches!(swap, Error::PropertyQuotaExceeded { field: "add", allowed: 1, asked: 2 }), "{swap}");
        assert_eq!(changed(&[], &[b]).await.unwrap().used(), 1);
    }

    #[test]
    fn a_selection_has_one_form() {
        let (a, b) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let read = |property_ids, add, remove| {
            let sent = properties::TrackingSelection { property_ids, add, remove };
            Selection::of(sent).map_err(|error| error.hint().unwrap_or_default().into_owned())
        };
        for (property_ids, add, remove, hint) in [
            (None, None, None, "propertyIds: is missing; send it, or add or remove"),
            (
                Some(vec![a]),
                Some(vec![b]),
                None,
                "propertyIds: cannot be sent with add or remove; send one or the other",
            ),
            (None, Some(vec![a, b]), Some(vec![b]), "remove[0]: is also in add"),
        ] {
            assert_eq!(read(property_ids, add, remove).unwrap_err(), hint);
        }
        assert!(read(Some(Vec::new()), None, None).is_ok());
        assert!(read(None, None, Some(vec![a])).is_ok());
    }
}
