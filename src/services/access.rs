//! Who may do what with a property. Having the value is having the right.

use api::models::{Feature, Role};
use chrono::{DateTime, Utc};
use entity::{property, share_link, team_grant, team_grant_property, user};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QuerySelect as _, sea_query::LockType};
use uuid::Uuid;

use super::users::{self, addresses, plans::Entitlement};
use crate::{config::Config, error::Error};

/// Characters of a UUID in its usual form; the others that parse are not how ids are written here.
const HYPHENATED: usize = 36;

/// Proof that a tracked property is visible to a user. It suffices for the user's own marks: favourite, hidden, tags.
#[derive(Debug, Clone)]
pub struct VisibleProperty {
    property: property::Model,
    /// How many of its owner's properties have been tracked for longer.
    longer: u64,
    role: Role,
    user_id: Option<Uuid>,
    /// The grant that the role comes from; none for the owner and the reader of a share link.
    grant_id: Option<Uuid>,
    /// Whether nobody has used that grant before.
    grant_is_new: bool,
}

impl VisibleProperty {
    /// Resolves the id in a path. Whether the id is malformed, unknown, untracked or not visible, the answer is the same.
    pub async fn resolve(
        db: &impl ConnectionTrait,
        user: &user::Model,
        property_id: &str,
        now: DateTime<Utc>,
    ) -> Result<Self, Error> {
        let id = Some(property_id).filter(|text| text.len() == HYPHENATED);
        let id = id.and_then(|text| Uuid::try_parse(text).ok()).ok_or(Error::NotFound)?;
        let found = Self { user_id: Some(user.id), ..Self::tracked(db, id).await? };
        if found.property.user_id == user.id {
            return Ok(Self { role: Role::Owner, ..found });
        }
        let grant = granted(db, user, &found.property, now).await?.ok_or(Error::NotFound)?;
        let (grant_id, grant_is_new) = (Some(grant.id), grant.accepted_at.is_none());
        Ok(Self { role: role_of(grant.role), grant_id, grant_is_new, ..found })
    }

    /// A property that is tracked, as whoever has no name may see it.
    async fn tracked(db: &impl ConnectionTrait, id: Uuid) -> Result<Self, Error> {
        let Some(found) = property::Entity::tracked(id).one(db).await? else { return Err(Error::NotFound) };
        let longer = u64::try_from(found.longer).map_err(Error::internal)?;
        let property = found.property;
        Ok(Self { property, longer, role: Role::Viewer, user_id: None, grant_id: None, grant_is_new: false })
    }

    /// The property.
    #[must_use]
    pub fn property(&self) -> &property::Model {
        &self.property
    }

    /// The caller's role on it.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The caller; none for the reader of a share link.
    #[must_use]
    pub fn user_id(&self) -> Option<Uuid> {
        self.user_id
    }

    /// The grant that the role comes from; none for the owner and the reader of a share link.
    #[must_use]
    pub fn grant_id(&self) -> Option<Uuid> {
        self.grant_id
    }

    /// That grant, where nobody has used it before.
    #[must_use]
    pub fn new_grant(&self) -> Option<Uuid> {
        self.grant_id.filter(|_| self.grant_is_new)
    }

    /// Whether the owner, rather than the caller, must act on the plan or the search account.
    #[must_use]
    pub fn owner_must(&self) -> bool {
        self.role != Role::Owner
    }
}

/// Proof that a property is visible, tracked and paid for, and that the caller's role suffices.
#[derive(Debug, Clone)]
pub struct PropertyAccess {
    visible: VisibleProperty,
    entitlement: Entitlement,
    /// The least role that suffices.
    needed: Role,
}

impl PropertyAccess {
    /// Resolves the id in a path for an operation that needs the role `needed`. The order of refusals is 404, 402, 403.
    pub async fn resolve(
        db: &impl ConnectionTrait,
        config: &Config,
        user: &user::Model,
        property_id: &str,
        needed: Role,
        now: DateTime<Utc>,
    ) -> Result<Self, Error> {
        let visible = VisibleProperty::resolve(db, user, property_id, now).await?;
        let access = if visible.role == Role::Owner {
            Self::paid(config, visible, user, needed, now)?
        } else {
            let owner = users::by_id(db, visible.property.user_id).await?;
            Self::paid(config, visible, &owner, needed, now)?
        };
        access.require(access.role())?;
        Ok(access)
    }

    /// What the reader of a share link that is open may see: the property, as a viewer, while its owner's plan includes share
    /// links.
    pub async fn of_share_link(
        db: &impl ConnectionTrait,
        config: &Config,
        link: &share_link::Model,
        now: DateTime<Utc>,
    ) -> Result<Self, Error> {
        let visible = VisibleProperty::tracked(db, link.property_id).await?;
        let owner = users::by_id(db, visible.property.user_id).await?;
        let access = Self::paid(config, visible, &owner, Role::Viewer, now)?;
        access.require_feature(Feature::ShareLinks)?;
        Ok(access)
    }

    fn paid(
        config: &Config,
        visible: VisibleProperty,
        owner: &user::Model,
        needed: Role,
        now: DateTime<Utc>,
    ) -> Result<Self, Error> {
        let entitlement = Entitlement::of(config, owner, now);
        match entitlement.lack(visible.grant_id.is_some(), visible.longer) {
            None => Ok(Self { visible, entitlement, needed }),
            Some(lack) => Err(Error::SubscriptionRequired { owner_must: visible.owner_must(), lack }),
        }
    }

    /// Keeps others from changing what belongs to the property until the transaction ends, so that counts and names hold, and
    /// makes sure that nothing was withdrawn while the request waited: a member who is removed, or whose role is lowered, writes
    /// nothing after that was answered. Answers the property's id.
    ///
    /// The lock lets rows that refer to the property be written meanwhile: a person's tags are, under a lock of that person, and two
    /// that wait for each other would end in a deadlock.
    pub async fn hold(&self, transaction: &impl ConnectionTrait) -> Result<Uuid, Error> {
        let id = self.property.id;
        let row = property::Entity::find_by_id(id).filter(property::Column::Tracked.eq(true));
        row.lock(LockType::NoKeyUpdate).one(transaction).await?.ok_or(Error::NotFound)?;
        if let Some(grant_id) = self.grant_id {
            let grant = team_grant::Entity::find_by_id(grant_id).lock(LockType::Share).one(transaction).await?;
            self.require(role_of(grant.ok_or(Error::NotFound)?.role))?;
        }
        Ok(id)
    }

    /// Refuses where `role` does not suffice.
    fn require(&self, role: Role) -> Result<(), Error> {
        if role >= self.needed { Ok(()) } else { Err(Error::RoleTooLow { needed: self.needed }) }
    }

    /// Refuses where the owner's plan does not include `feature`.
    pub fn require_feature(&self, feature: Feature) -> Result<(), Error> {
        self.entitlement.require(feature, self.visible.owner_must())
    }

    /// What the owner's plan includes.
    #[must_use]
    pub fn entitlement(&self) -> &Entitlement {
        &self.entitlement
    }
}

impl std::ops::Deref for PropertyAccess {
    type Target = VisibleProperty;

    fn deref(&self) -> &VisibleProperty {
        &self.visible
    }
}

/// The grant that the owner made to the user's e-mail, which counts only if it is verified.
async fn granted(
    db: &impl ConnectionTrait,
    user: &user::Model,
    property: &property::Model,
    now: DateTime<Utc>,
) -> Result<Option<team_grant::Model>, Error> {
    let Some(email_key) = verified_email_key(user, now) else { return Ok(None) };
    let to_user = team_grant::Entity::to_email(email_key);
    let Some(grant) = to_user.filter(team_grant::Column::OwnerId.eq(property.user_id)).one(db).await? else {
        return Ok(None);
    };
    let named = || team_grant_property::Entity::find_by_id((grant.id, property.id)).one(db);
    let covers = grant.all_properties || named().await?.is_some();
    Ok(covers.then_some(grant))
}

/// The address that grants are matched by: one that the issuer vouches for, and that a token stated not too long ago.
pub(super) fn verified_email_key(user: &user::Model, now: DateTime<Utc>) -> Option<&str> {
    let is_current = user.email_stated_at.is_some_and(|stated_at| now - stated_at < addresses::COUNTS_FOR);
    user.email_key.as_deref().filter(|_| user.email_verified && is_current)
}

/// The wire's name of a granted role.
pub(super) fn role_of(granted: team_grant::Role) -> Role {
    match granted {
        team_grant::Role::Viewer => Role::Viewer,
        team_grant::Role::Editor => Role::Editor,
        team_grant::Role::Admin => Role::Admin,
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;
    use entity::user::Plan;
    use sea_orm::{ActiveModelTrait as _, ActiveValue::Set, DatabaseConnection, ModelTrait as _};

    use super::*;
    use crate::{
        store::database,
        testing::{World, noon, person},
    };

    async fn ask(world: &World, user: Uuid, property: &str, needed: Role) -> Result<Role, Error> {
        let (config, user) = (Config::default(), users::by_id(&world.db, user).await?);
        PropertyAccess::resolve(&world.db, &config, &user, property, needed, noon()).await.map(|access| access.role())
    }

    async fn set_plan(db: &DatabaseConnection, user: Uuid, plan: Plan) {
        crate::services::users::subscriptions::set(db, &user.to_string(), plan, noon()).await.unwrap();
    }

    #[test]
    fn an_address_counts_for_a_week_after_it_was_stated() {
        let key = |email_verified: bool, email_stated_at: Option<DateTime<Utc>>| {
            let user = user::Model { email_verified, email_stated_at, ..person("ann") };
            verified_email_key(&user, noon()).is_some()
        };
        let second = TimeDelta::seconds(1);
        assert!(key(true, Some(noon())) && key(true, Some(noon() - addresses::COUNTS_FOR + second)));
        assert!(key(true, Some(noon() + second)), "the issuer's clock may be ahead");
        assert!(!key(true, Some(noon() - addresses::COUNTS_FOR)) && !key(true, None) && !key(false, Some(noon())));
    }

    #[tokio::test]
    async fn missing_untracked_invisible_and_malformed_are_one_answer() {
        let world = World::new().await;
        let untracked = world.add_property(world.owner, "https://untracked.test/", false).await;
        let foreign = world.add_property(world.stranger, "https://foreign.test/", true).await;
        set_plan(&world.db, world.stranger, Plan::None).await;
        let unknown = Uuid::nil();
        for id in ["x".to_owned(), String::new(), unknown.to_string(), untracked.to_string(), foreign.to_string()] {
            let error = ask(&world, world.owner, &id, Role::Owner).await.unwrap_err();
            assert!(matches!(error, Error::NotFound), "{id}: {error}");
        }
    }

    #[tokio::test]
    async fn roles_come_from_ownership_and_verified_grants() {
        let world = World::new().await;
        let named = world.add_property(world.owner, "https://named.test/", true).await.to_string();
        let other = world.add_property(world.owner, "https://other.test/", true).await.to_string();
        let editor = world.add_person("editor", true).await;
        let unverified = world.add_person("unverified", false).await;
        let admin = world.add_person("admin", true).await;
        world.grant("Editor@demo.test", team_grant::Role::Editor, &[named.parse().unwrap()]).await;
        world.grant("unverified@demo.test", team_grant::Role::Editor, &[named.parse().unwrap()]).await;
        world.grant("admin@demo.test", team_grant::Role::Admin, &[]).await;

        let cases = [
            (world.owner, &named, Role::Owner, Ok(Role::Owner)),
            (editor, &named, Role::Viewer, Ok(Role::Editor)),
            (editor, &named, Role::Editor, Ok(Role::Editor)),
            (editor, &named, Role::Admin, Err(403)),
            (editor, &other, Role::Viewer, Err(404)),
            (unverified, &named, Role::Viewer, Err(404)),
            (admin, &other, Role::Admin, Ok(Role::Admin)),
            (admin, &other, Role::Owner, Err(403)),
            (world.stranger, &named, Role::Viewer, Err(404)),
        ];
        for (user, property, needed, expected) in cases {
            let found = ask(&world, user, property, needed).await.map_err(|error| error.code().status().as_u16());
            assert_eq!(found, expected);
        }
    }

    /// What was withdrawn between the look at a request and the lock that its write waited for.
    #[tokio::test]
    async fn what_is_withdrawn_while_a_write_waits_is_not_written() {
        let world = World::new().await;
        let id = world.add_property(world.owner, "https://named.test/", true).await;
        let editor = users::by_id(&world.db, world.add_person("editor", true).await).await.unwrap();
        world.grant("editor@demo.test", team_grant::Role::Editor, &[id]).await;
        let access =
            PropertyAccess::resolve(&world.db, &Config::default(), &editor, &id.to_string(), Role::Editor, noon())
                .await
                .unwrap();
        let hold = async || {
            let transaction = database::begin(&world.db).await.unwrap();
            access.hold(&transaction).await.map_err(|error| error.code().status().as_u16())
        };
        let grant = team_grant::Entity::to_email("editor@demo.test").one(&world.db).await.unwrap().unwrap();
        for (role, expected) in [
            (team_grant::Role::Editor, Ok(id)),
            (team_grant::Role::Viewer, Err(403)),
            (team_grant::Role::Admin, Ok(id)),
        ] {
            let row = team_grant::ActiveModel { id: Set(grant.id), role: Set(role), ..Default::default() };
            row.update(&world.db).await.unwrap();
            assert_eq!(hold().await, expected, "{role:?}");
        }
        for (tracked, expected) in [(false, Err(404)), (true, Ok(id))] {
            let row = property::ActiveModel { id: Set(id), tracked: Set(tracked), ..Default::default() };
            row.update(&world.db).await.unwrap();
            assert_eq!(hold().await, expected);
        }
        grant.delete(&world.db).await.unwrap();
        assert_eq!(hold().await, Err(404));
    }

    #[tokio::test]
    async fn invisible_comes_before_locked_and_locked_before_the_role() {
        let world = World::new().await;
        let id = world.add_property(world.owner, "https://named.test/", true).await;
        let viewer = world.add_person("viewer", true).await;
        world.grant("viewer@demo.test", team_grant::Role::Viewer, &[id]).await;
        set_plan(&world.db, world.owner, Plan::None).await;

        let id = id.to_string();
        let locked = ask(&world, viewer, &id, Role::Owner).await.unwrap_err();
        assert!(matches!(locked, Error::SubscriptionRequired { owner_must: true, .. }), "{locked}");
        let own = ask(&world, world.owner, &id, Role::Owner).await.unwrap_err();
        assert!(matches!(own, Error::SubscriptionRequired { owner_must: false, .. }), "{own}");
        assert!(matches!(ask(&world, world.stranger, &id, Role::Viewer).await, Err(Error::NotFound)));
        let viewer = users::by_id(&world.db, viewer).await.unwrap();
        assert_eq!(VisibleProperty::resolve(&world.db, &viewer, &id, noon()).await.unwrap().role(), Role::Viewer);
    }
}
