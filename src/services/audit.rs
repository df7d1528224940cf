//! The audit trail: who granted, shared, allowed, revoked, connected, tracked or deleted what, and when. It belongs to the owner of what was changed
//! and holds no search data.

use api::privacy::{AuditAction, AuditActor, AuditEvent};
use chrono::{DateTime, TimeDelta, Utc};
use common::names::sites;
use entity::{
    audit_event::{ActiveModel, Column, Entity, Model},
    user,
};
use sea_orm::{
    ActiveValue::Set,
    ColumnTrait as _, Condition, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait as _, ExprTrait as _,
    FromQueryResult as _, QueryFilter as _, QueryOrder as _, QuerySelect as _, QueryTrait as _,
    sea_query::{Asterisk, Expr, Order, Query, SelectStatement, UnionType},
};
use store::{expired, transaction::Transaction};
use uuid::Uuid;

use super::access::{Authors, PropertyAccess};
use crate::error::Error;

/// The time for which events are kept.
pub const KEEP: TimeDelta = TimeDelta::days(90);

/// The number of latest events that are kept of a trail, so that nobody fills the database by making and deleting records.
const MAX_EVENTS: i64 = 10_000;

/// The words for a person who has deleted their data.
pub const FORMER_MEMBER: &str = "a former member";

/// An event that is about to be noted.
#[derive(Debug, Clone)]
pub struct Event {
    owner_id: Uuid,
    actor_id: Option<Uuid>,
    action: AuditAction,
    what: Option<String>,
    property_id: Option<Uuid>,
    whom: Option<String>,
    role: Option<String>,
}

impl Event {
    /// An event in the trail of `owner`, by `actor`.
    #[must_use]
    pub fn new(owner_id: Uuid, actor_id: Uuid, action: AuditAction) -> Self {
        let actor_id = Some(actor_id);
        Self { owner_id, actor_id, action, what: None, property_id: None, whom: None, role: None }
    }

    /// An event about a person's own records.
    #[must_use]
    pub fn own(user_id: Uuid, action: AuditAction) -> Self {
        Self::new(user_id, user_id, action)
    }

    /// An event on a property. It is in the trail of the property's owner.
    #[must_use]
    pub fn on(access: &PropertyAccess, action: AuditAction) -> Self {
        let property = access.property();
        let site = sites::name(&property.site_url);
        let event = Self::new(property.user_id, access.user_id(), action);
        Self { what: Some(site), property_id: Some(property.id), ..event }
    }

    /// The end of a grant whose holder has deleted their data.
    #[must_use]
    pub fn left(owner_id: Uuid) -> Self {
        let event = Self::own(owner_id, AuditAction::GrantRemoved);
        Self { actor_id: None, whom: Some(FORMER_MEMBER.to_owned()), ..event }
    }

    /// Names the record, after the property if there is one.
    #[must_use]
    pub fn record(mut self, name: impl Into<String>) -> Self {
        let name = name.into();
        self.what = Some(self.what.map_or_else(|| name.clone(), |site| format!("{site}: {name}")));
        self
    }

    /// Names the person concerned by their e-mail address.
    #[must_use]
    pub fn whom(self, address: &str) -> Self {
        Self { whom: Some(address.to_owned()), ..self }
    }

    /// Names the role that is given or taken.
    #[must_use]
    pub fn role(self, role: &str) -> Self {
        Self { role: Some(role.to_owned()), ..self }
    }

    /// Writes the event, which happens at `now`, with the change that it is about.
    pub async fn note(self, tx: &Transaction, id: Uuid, now: DateTime<Utc>) -> Result<(), Error> {
        let named = self.whom.as_deref().filter(|_| self.actor_id.is_some());
        let row = ActiveModel {
            id: Set(id),
            owner_id: Set(self.owner_id),
            actor_id: Set(self.actor_id),
            action: Set(self.action.name()),
            what: Set(self.what),
            property_id: Set(self.property_id),
            whom_key: Set(named.map(entity::email_key)),
            whom: Set(self.whom),
            role: Set(self.role),
            at: Set(now),
        };
        Ok(Entity::insert(row).exec_without_returning(tx).await.map(|_| ())?)
    }
}

/// Returns up to `limit` events before the event `before`, latest first: events of the user's own trail, and events of others' trails
/// that name the user or, if it is given, the address.
pub async fn about(
    db: &impl ConnectionTrait,
    user: &user::Model,
    email_key: Option<&str>,
    before: Option<(DateTime<Utc>, Uuid)>,
    limit: u64,
) -> Result<Vec<AuditEvent>, Error> {
    let latest = |theirs: Expr| latest(theirs, before, limit);
    // One condition with `OR` would read and sort the whole trail for each page. Each of these reads as much of its index as a page takes.
    let mut found = latest(Column::OwnerId.eq(user.id));
    found.union(UnionType::Distinct, latest(Column::ActorId.eq(user.id)));
    if let Some(key) = email_key {
        found.union(UnionType::Distinct, latest(Column::WhomKey.eq(key)));
    }
    let found = found.order_by("at", Order::Desc).order_by("id", Order::Desc).limit(limit);
    let found = Model::find_by_statement(db.get_database_backend().build(found)).all(db).await?;
    let actors = found.iter().map(|event| event.actor_id.filter(|actor| *actor != user.id)).collect();
    let actors = Authors::named(db, &[], actors).await?;
    found.into_iter().map(|row| to_api(row, user.id, &actors)).collect()
}

/// The latest events for which a condition holds, before an event.
fn latest(theirs: Expr, before: Option<(DateTime<Utc>, Uuid)>, limit: u64) -> SelectStatement {
    let mut found = Entity::find().filter(theirs);
    if let Some((at, id)) = before {
        let earlier = Condition::any().add(Column::At.lt(at)).add(Column::Id.lt(id));
        found = found.filter(Column::At.lte(at)).filter(earlier);
    }
    let found = found.order_by_desc(Column::At).order_by_desc(Column::Id).limit(limit);
    // `SQLite` takes an order of a part of a union only within.
    Query::select().column(Asterisk).from_subquery(found.into_query(), "latest").take()
}

fn to_api(row: Model, user_id: Uuid, actors: &Authors) -> Result<AuditEvent, Error> {
    let action: AuditAction = serde_json::from_value(row.action.into()).map_err(Error::internal)?;
    let actor = match row.actor_id {
        None => AuditActor::FormerMember,
        Some(actor) if actor == user_id => AuditActor::You,
        Some(_) => AuditActor::Other,
    };
    Ok(AuditEvent {
        id: row.id,
        at: row.at.into(),
        action,
        actor,
        actor_name: actors.name(row.actor_id),
        what: row.what,
        property_id: row.property_id,
        whom: row.whom,
        role: row.role,
        elsewhere: row.owner_id != user_id,
    })
}

/// Deletes events that are too old, and events beyond the maximum of a trail. Returns the number of deleted rows.
pub async fn sweep(db: &DatabaseConnection, now: DateTime<Utc>) -> Result<u64, DbErr> {
    let mut deleted = expired::delete::<Entity>(db, Column::Id, Column::At.lt(now - KEEP)).await?;
    let long = Entity::find().select_only().column(Column::OwnerId).group_by(Column::OwnerId);
    let long = long.having(Column::Id.count().gt(MAX_EVENTS)).into_tuple::<Uuid>().all(db).await?;
    for owner in long {
        let trail = || Entity::find().filter(Column::OwnerId.eq(owner));
        let latest = trail().order_by_desc(Column::At).order_by_desc(Column::Id);
        let Some(first) = latest.offset(MAX_EVENTS.unsigned_abs()).one(db).await? else { continue };
        let same_time = Condition::all().add(Column::At.eq(first.at)).add(Column::Id.lte(first.id));
        let beyond = Condition::any().add(Column::At.lt(first.at)).add(same_time);
        let beyond = Condition::all().add(Column::OwnerId.eq(owner)).add(beyond);
        deleted += expired::delete::<Entity>(db, Column::Id, beyond).await?;
    }
    Ok(deleted)
}

#[cfg(test)]
mod tests {
    use store::database;
    use test_data::noon;

    use super::*;
    use crate::{services::users, testing::World};

    async fn noted(world: &World, event: Event, at: DateTime<Utc>) {
        let tx = database::begin(&world.db).await.unwrap();
        event.note(&tx, world.random.id(at), at).await.unwrap();
        tx.commit().await.unwrap();
    }

    async fn read(world: &World, user: Uuid) -> Vec<AuditEvent> {
        let user = users::by_id(&world.db, user).await.unwrap();
        about(&world.db, &user, user.email_key.as_deref(), None, 100).await.unwrap()
    }

    #[tokio::test]
    async fn an_event_is_visible_to_owner_actor_and_subject() {
        let world = World::new().await;
        let member = world.add_person("member", true).await;
        let event =
            Event::new(world.owner, world.stranger, AuditAction::GrantMade).whom("Member@demo.test").role("viewer");
        noted(&world, event, noon()).await;
        let seen = [world.owner, world.stranger, member].map(|user| (user, &world));
        let mut shown = Vec::new();
        for (user, world) in seen {
            let events = read(world, user).await;
            shown.push((events[0].actor, events[0].actor_name.clone(), events[0].elsewhere));
        }
        let stranger = Some("stranger@demo.test".to_owned());
        assert_eq!(
            shown,
            [
                (AuditActor::Other, stranger.clone(), false),
                (AuditActor::You, None, true),
                (AuditActor::Other, stranger, true),
            ]
        );
        let other = world.add_person("other", true).await;
        assert!(read(&world, other).await.is_empty());
    }

    #[tokio::test]
    async fn a_trail_is_kept_for_ninety_days() {
        let world = World::new().await;
        for days in [0, 1] {
            let event = Event::own(world.owner, AuditAction::TagDeleted).record(format!("{days}"));
            noted(&world, event, noon() + TimeDelta::days(days)).await;
        }
        assert_eq!(sweep(&world.db, noon() + KEEP).await.unwrap(), 0);
        assert_eq!(sweep(&world.db, noon() + KEEP + TimeDelta::seconds(1)).await.unwrap(), 1);
        assert_eq!(read(&world, world.owner).await[0].what.as_deref(), Some("1"));
    }

    #[tokio::test]
    async fn pages_of_a_trail_follow_one_another_without_a_gap_or_an_event_twice() {
        let world = World::new().await;
        let member = world.add_person("member", true).await;
        // Events of one time are told apart by their ids. Two of three name the member in one way, and the third in two.
        for number in 0..12 {
            let event = match number % 3 {
                0 => Event::own(member, AuditAction::TagDeleted),
                1 => Event::new(world.owner, member, AuditAction::GrantMade),
                _ => Event::new(world.owner, member, AuditAction::GrantMade).whom("member@demo.test"),
            };
            noted(&world, event, noon() + TimeDelta::minutes(number / 4)).await;
        }
        let user = users::by_id(&world.db, member).await.unwrap();
        let (mut seen, mut before) = (Vec::new(), None);
        loop {
            let page = about(&world.db, &user, user.email_key.as_deref(), before, 5).await.unwrap();
            let Some(last) = page.last() else { break };
            before = Some((last.at.into(), last.id));
            seen.extend(page.iter().map(|event| (DateTime::<Utc>::from(event.at), event.id)));
        }
        let mut expected = seen.clone();
        expected.sort_unstable_by(|one, other| other.cmp(one));
        expected.dedup();
        assert_eq!((seen.len(), &seen), (12, &expected));
    }

    #[tokio::test]
    async fn a_trail_keeps_its_latest_events_only() {
        let world = World::new().await;
        let most = usize::try_from(MAX_EVENTS).unwrap();
        let row = |owner: Uuid, number: usize| ActiveModel {
            id: Set(world.random.id(noon())),
            owner_id: Set(owner),
            actor_id: Set(None),
            action: Set(AuditAction::TagDeleted.name()),
            what: Set(Some(number.to_string())),
            property_id: Set(None),
            whom_key: Set(None),
            whom: Set(None),
            role: Set(None),
            at: Set(noon() + TimeDelta::seconds(i64::try_from(number / 2).unwrap())),
        };
        let rows: Vec<ActiveModel> = (0..most + 3).map(|number| row(world.owner, number)).collect();
        for some in rows.chunks(1_000) {
            Entity::insert_many(some.to_vec()).exec_without_returning(&world.db).await.unwrap();
        }
        Entity::insert(row(world.stranger, 0)).exec_without_returning(&world.db).await.unwrap();
        assert_eq!(sweep(&world.db, noon()).await.unwrap(), 3);
        assert_eq!(sweep(&world.db, noon()).await.unwrap(), 0);
        assert_eq!(read(&world, world.owner).await[0].what, Some((most + 2).to_string()));
        assert_eq!(read(&world, world.stranger).await.len(), 1);
    }

    #[test]
    fn every_action_is_stored_by_its_name_in_the_api() {
        assert_eq!(AuditAction::GrantMade.name(), "grant_made");
        assert_eq!(AuditAction::ApplicationAllowed.name(), entity::audit_event::APPLICATION_ALLOWED);
        let read: AuditAction = serde_json::from_value(AuditAction::BrandedKeywordDeleted.name().into()).unwrap();
        assert_eq!(read, AuditAction::BrandedKeywordDeleted);
    }
}
