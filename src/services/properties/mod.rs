//! Properties as a person sees them, and the person's own marks on them.

pub mod headlines;
pub mod sync;
pub mod tracking;

use std::collections::{HashMap, HashSet};

use api::{
    models::Role,
    properties::{OwnedProperty, PropertyPreference, SitePermission},
};
use chrono::{DateTime, Utc};
use entity::{property, property_preference, property_tag, search_account, tag, team_grant, team_grant_property, user};
use sea_orm::{
    ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, QueryFilter, QueryOrder, sea_query::OnConflict,
};
use uuid::Uuid;

use super::{
    access::{VisibleProperty, role_of, verified_email_key},
    users::{self, plans::Entitlement},
};
use crate::{
    config::Config,
    error::{Error, Lack},
};

/// A tracked property in a person's list.
#[derive(Debug, Clone, PartialEq)]
pub struct Listed {
    /// The property.
    pub property: property::Model,
    /// The person's role on it.
    pub role: Role,
    /// The person's mark.
    pub favorite: bool,
    /// The person's mark.
    pub hidden: bool,
    /// The person's tags on it, in the person's order.
    pub tag_ids: Vec<Uuid>,
    /// What its owner's plan lacks to open it to the person.
    pub lack: Option<Lack>,
    /// The search account it is read with.
    pub account: search_account::Model,
}

/// The tracked properties that a person can see: favourites first, then by site.
pub async fn visible(
    db: &impl ConnectionTrait,
    config: &Config,
    user_id: Uuid,
    now: DateTime<Utc>,
) -> Result<Vec<Listed>, Error> {
    let user = users::by_id(db, user_id).await?;
    let grants = Grants::of(db, &user, now).await?;
    let found = property::Entity::find()
        .filter(property::Column::Tracked.eq(true))
        .filter(property::Column::UserId.is_in(grants.owners.keys().copied().chain([user_id])))
        .find_also_related(search_account::Entity)
        .all(db)
        .await?;
    let marks = Marks::of(db, user_id).await?;
    let (plans, longer) = (plans_of_owners(db, config, &found, now).await?, tracked_longer(&found));
    let mut listed: Vec<_> = found
        .into_iter()
        .filter_map(|(property, account)| {
            let role = if property.user_id == user_id { Role::Owner } else { grants.role(&property)? };
            let lack = plans.get(&property.user_id)?.lack(role != Role::Owner, *longer.get(&property.id)?);
            Some(marks.list(property, role, lack, account?))
        })
        .collect();
    listed.sort_by(|a, b| order(a).cmp(&order(b)));
    Ok(listed)
}

fn order(listed: &Listed) -> (bool, &str, &str, Uuid) {
    (!listed.favorite, display_name(&listed.property.site_url), &listed.property.site_url, listed.property.id)
}

/// The site in short: without `sc-domain:`, scheme, and the slash at the end.
#[must_use]
pub fn display_name(site_url: &str) -> &str {
    let name = ["sc-domain:", "https://", "http://"].iter().find_map(|prefix| site_url.strip_prefix(prefix));
    name.unwrap_or(site_url).trim_end_matches('/')
}

/// A person's own property, as answers say it.
pub(super) fn owned(property: property::Model) -> OwnedProperty {
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

/// Marks or unmarks a favourite. Answers the person's marks on the property.
pub async fn set_favorite(
    db: &impl ConnectionTrait,
    visible: &VisibleProperty,
    favorite: bool,
) -> Result<PropertyPreference, Error> {
    mark(db, visible, (favorite, false), property_preference::Column::Favorite).await
}

/// Hides or shows a property in the person's list. Answers the person's marks on the property.
pub async fn set_hidden(
    db: &impl ConnectionTrait,
    visible: &VisibleProperty,
    hidden: bool,
) -> Result<PropertyPreference, Error> {
    mark(db, visible, (false, hidden), property_preference::Column::Hidden).await
}

async fn mark(
    db: &impl ConnectionTrait,
    visible: &VisibleProperty,
    (favorite, hidden): (bool, bool),
    changed: property_preference::Column,
) -> Result<PropertyPreference, Error> {
    use property_preference::{ActiveModel, Column, Entity};
    let row = ActiveModel {
        user_id: Set(visible.user_id().ok_or(Error::NotFound)?),
        property_id: Set(visible.property().id),
        favorite: Set(favorite),
        hidden: Set(hidden),
    };
    let known = OnConflict::columns([Column::UserId, Column::PropertyId]).update_column(changed).to_owned();
    let marks = Entity::insert(row).on_conflict(known).exec_with_returning(db).await?;
    Ok(PropertyPreference { id: marks.property_id, favorite: marks.favorite, hidden: marks.hidden })
}

/// The grants that reach a person, by owner (one owner grants a person once).
struct Grants {
    owners: HashMap<Uuid, team_grant::Model>,
    named: HashSet<(Uuid, Uuid)>,
}

impl Grants {
    async fn of(db: &impl ConnectionTrait, user: &user::Model, now: DateTime<Utc>) -> Result<Self, Error> {
        let grants = match verified_email_key(user, now) {
            Some(email_key) => team_grant::Entity::to_email(email_key).all(db).await?,
            None => Vec::new(),
        };
        let named = team_grant_property::Entity::of_grants(grants.iter().map(|grant| grant.id)).all(db).await?;
        Ok(Self {
            owners: grants.into_iter().map(|grant| (grant.owner_id, grant)).collect(),
            named: named.into_iter().map(|row| (row.grant_id, row.property_id)).collect(),
        })
    }

    fn role(&self, property: &property::Model) -> Option<Role> {
        let grant = self.owners.get(&property.user_id)?;
        let covers = grant.all_properties || self.named.contains(&(grant.id, property.id));
        covers.then(|| role_of(grant.role))
    }
}

/// A person's own marks on all properties.
struct Marks {
    preferences: HashMap<Uuid, property_preference::Model>,
    tags: HashMap<Uuid, Vec<Uuid>>,
}

impl Marks {
    async fn of(db: &impl ConnectionTrait, user_id: Uuid) -> Result<Self, Error> {
        let preferences = property_preference::Entity::of_user(user_id).all(db).await?;
        let tagged = property_tag::Entity::of_user(user_id)
            .order_by_asc(tag::Column::Position)
            .order_by_asc(tag::Column::NameKey)
            .all(db)
            .await?;
        let mut tags: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
        for row in tagged {
            tags.entry(row.property_id).or_default().push(row.tag_id);
        }
        Ok(Self { preferences: preferences.into_iter().map(|row| (row.property_id, row)).collect(), tags })
    }

    fn list(
        &self,
        property: property::Model,
        role: Role,
        lack: Option<Lack>,
        account: search_account::Model,
    ) -> Listed {
        let preference = self.preferences.get(&property.id);
        Listed {
            role,
            favorite: preference.is_some_and(|row| row.favorite),
            hidden: preference.is_some_and(|row| row.hidden),
            tag_ids: self.tags.get(&property.id).cloned().unwrap_or_default(),
            lack,
            account,
            property,
        }
    }
}

/// What the owners of properties may use, by owner.
async fn plans_of_owners(
    db: &impl ConnectionTrait,
    config: &Config,
    found: &[(property::Model, Option<search_account::Model>)],
    now: DateTime<Utc>,
) -> Result<HashMap<Uuid, Entitlement>, Error> {
    let ids: HashSet<Uuid> = found.iter().map(|(property, _)| property.user_id).collect();
    let owners = user::Entity::find().filter(user::Column::Id.is_in(ids)).all(db).await?;
    Ok(owners.iter().map(|owner| (owner.id, Entitlement::of(config, owner, now))).collect())
}

/// For each property, how many of its owner's have been tracked for longer. `found` holds all that are tracked of each owner.
fn tracked_longer(found: &[(property::Model, Option<search_account::Model>)]) -> HashMap<Uuid, u64> {
    let mut ordered: Vec<&property::Model> = found.iter().map(|(property, _)| property).collect();
    ordered.sort_by_key(|property| (property.user_id, property.tracked_at, property.id));
    let by_owner = ordered.chunk_by(|a, b| a.user_id == b.user_id);
    by_owner.flat_map(|own| own.iter().map(|property| property.id).zip(0..)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, noon};

    #[tokio::test]
    async fn lists_what_is_tracked_and_visible_in_a_total_order() {
        let world = World::new().await;
        let b = world.add_property(world.owner, "https://b.test/", true).await;
        let a = world.add_property(world.owner, "sc-domain:a.test", true).await;
        let c = world.add_property(world.owner, "https://c.test/", true).await;
        world.add_property(world.owner, "https://untracked.test/", false).await;
        world.add_property(world.stranger, "https://foreign.test/", true).await;
        let editor = world.add_person("editor", true).await;
        world.grant("editor@demo.test", team_grant::Role::Editor, &[a, c]).await;

        let config = Config::default();
        let ids = async |user| {
            let listed = visible(&world.db, &config, user, noon()).await.unwrap();
            listed.iter().map(|listed| listed.property.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(world.owner).await, [a, b, c]);
        assert_eq!(ids(editor).await, [a, c]);

        let person = users::by_id(&world.db, editor).await.unwrap();
        let proof = VisibleProperty::resolve(&world.db, &person, &c.to_string(), noon()).await.unwrap();
        assert!(set_favorite(&world.db, &proof, true).await.unwrap().favorite);
        let marks = set_hidden(&world.db, &proof, true).await.unwrap();
        assert_eq!((marks.favorite, marks.hidden), (true, true));
        assert!(!set_favorite(&world.db, &proof, false).await.unwrap().favorite);
        assert!(set_favorite(&world.db, &proof, true).await.unwrap().hidden);
        assert_eq!(ids(editor).await, [c, a]);
        assert_eq!(ids(world.owner).await, [a, b, c], "marks are each person's own");
    }

    #[test]
    fn the_display_name_is_derived() {
        let cases = [
            ("sc-domain:a.test", "a.test"),
            ("https://www.a.test/", "www.a.test"),
            ("http://a.test/shop/", "a.test/shop"),
        ];
        for (site, name) in cases {
            assert_eq!(display_name(site), name);
        }
    }
}
