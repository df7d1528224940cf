//! Properties as a person sees them, and the person's own marks: favourite and hidden.

pub mod headlines;
mod order;
mod overlap;
pub mod portfolio;
mod recent;
pub mod reference;
pub mod sync;
pub mod tracking;

use std::{collections::HashMap, sync::LazyLock};

use api::{
    models::Role,
    properties::{OwnedProperty, PropertyPreference, SitePermission},
};
use chrono::{DateTime, Utc};
use common::names::sites;
use entity::{property, property_preference, property_tag, search_account, tag, team_grant, user};
use sea_orm::{
    ActiveValue::Set, ConnectionTrait, DbErr, EntityTrait, FromQueryResult as _, QueryOrder, QueryResult, Statement,
    sea_query::OnConflict,
};
use uuid::Uuid;

use super::{
    access::{
        facts::{columns, covers, grant_of},
        responsible, role_of, shown, verified_email_key,
    },
    change::PropertyChange,
    users::{Member, plans::Entitlement},
};
use crate::{
    config::Config,
    error::{Error, Lack, Responsible},
};

/// A tracked property in a person's list.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedProperty {
    /// The property.
    pub property: property::Model,
    /// The person's role on it.
    pub role: Role,
    /// True if the person marked it as a favourite.
    pub favorite: bool,
    /// True if the person hid it.
    pub hidden: bool,
    /// The person's tags on it, in the person's order.
    pub tag_ids: Vec<Uuid>,
    /// The reason why its owner's plan does not open it to the person, if so.
    pub lack: Option<Lack>,
    /// The search account whose grant reads it.
    pub account: search_account::Model,
    /// The person whose plan and search account it uses.
    pub responsible: Responsible,
    /// The name of the owner as the team shows it, if it is not the person.
    pub owner_name: Option<String>,
    /// The verified e-mail address of the owner, if it is not the person.
    pub owner_email: Option<String>,
}

/// Returns the tracked properties that a person can see: favourites first, then by site. Executes two statements.
pub async fn visible(
    db: &impl ConnectionTrait,
    config: &Config,
    member: &Member,
    now: DateTime<Utc>,
) -> Result<Vec<ListedProperty>, Error> {
    let user = &member.user;
    let email_key = verified_email_key(user, now).unwrap_or_default();
    let ask = Statement::from_sql_and_values(db.get_database_backend(), &*VISIBLE, [user.id.into(), email_key.into()]);
    let found: Result<Vec<Found>, DbErr> = db.query_all_raw(ask).await?.iter().map(Found::of).collect();
    let found = found?;
    let (longer, mut tags) = (tracked_longer(&found), tags_of(db, user.id).await?);
    let mut plans = HashMap::new();
    let mut listed: Vec<_> = found
        .into_iter()
        .filter_map(|found| {
            let property = found.property;
            let role = if property.user_id == user.id { Role::Owner } else { found.role? };
            let (owner_name, owner_email) = if role == Role::Owner { (None, None) } else { shown(&found.owner) };
            let plan = plans.entry(property.user_id).or_insert_with(|| Entitlement::of(config, &found.owner, now));
            Some(ListedProperty {
                role,
                favorite: found.favorite,
                hidden: found.hidden,
                tag_ids: tags.remove(&property.id).unwrap_or_default(),
                lack: plan.lack(role != Role::Owner, *longer.get(&property.id)?),
                account: found.account,
                responsible: responsible(&found.owner, user.id),
                owner_name: owner_name.map(str::to_owned),
                owner_email: owner_email.map(str::to_owned),
                property,
            })
        })
        .collect();
    listed.sort_by_cached_key(usual_order);
    Ok(listed)
}

fn usual_order(listed: &ListedProperty) -> (bool, String, String, Uuid) {
    let site_url = &listed.property.site_url;
    (!listed.favorite, sites::name(site_url), site_url.clone(), listed.property.id)
}

/// Converts a person's own property to an API property.
pub(in crate::services) fn owned(property: property::Model) -> OwnedProperty {
    OwnedProperty {
        id: property.id,
        name: sites::name(&property.site_url),
        permission: permission(&property.permission_level),
        tracked: property.tracked,
        lost_at: property.lost_at.map(Into::into),
        site_url: property.site_url,
    }
}

/// Converts a permission to an API permission.
pub(in crate::services) fn permission(level: &str) -> SitePermission {
    match level {
        "siteOwner" => SitePermission::Owner,
        "siteFullUser" => SitePermission::Full,
        _ => SitePermission::Restricted,
    }
}

/// A person's mark on a property.
#[derive(Debug, Clone, Copy)]
enum Mark {
    Favorite(bool),
    Hidden(bool),
}

/// Marks or unmarks a favourite. Returns the person's marks on the property.
pub async fn set_favorite(change: &PropertyChange, favorite: bool) -> Result<PropertyPreference, Error> {
    set(change, Mark::Favorite(favorite)).await
}

/// Hides or shows a property in the person's list. Returns the person's marks on the property.
pub async fn set_hidden(change: &PropertyChange, hidden: bool) -> Result<PropertyPreference, Error> {
    set(change, Mark::Hidden(hidden)).await
}

async fn set(change: &PropertyChange, mark: Mark) -> Result<PropertyPreference, Error> {
    use property_preference::{ActiveModel, Column, Entity};
    let (favorite, hidden, changed) = match mark {
        Mark::Favorite(favorite) => (favorite, false, Column::Favorite),
        Mark::Hidden(hidden) => (false, hidden, Column::Hidden),
    };
    let row = ActiveModel {
        user_id: Set(change.by.user_id()),
        property_id: Set(change.by.property().id),
        favorite: Set(favorite),
        hidden: Set(hidden),
    };
    let known = OnConflict::columns([Column::UserId, Column::PropertyId]).update_column(changed).to_owned();
    let marks = Entity::insert(row).on_conflict(known).exec_with_returning(change.tx()).await?;
    Ok(PropertyPreference { id: marks.property_id, favorite: marks.favorite, hidden: marks.hidden })
}

/// Selects the tracked properties of a person (`$1`) and of everybody who has a grant to the person's verified e-mail address
/// (`$2`).
static VISIBLE: LazyLock<String> = LazyLock::new(|| {
    let (property, owner, account, grant) = (
        columns::<property::Entity>("p"),
        columns::<user::Entity>("o"),
        columns::<search_account::Entity>("a"),
        columns::<team_grant::Entity>("g"),
    );
    format!(
        "SELECT {property}, {owner}, {account}, {grant}, f.favorite, f.hidden, \
         {} AS covered \
         FROM property p JOIN users o ON o.id = p.user_id JOIN search_account a ON a.id = p.account_id \
         LEFT JOIN team_grant g ON g.owner_id = p.user_id AND g.email_key = $2 \
         LEFT JOIN property_preference f ON f.property_id = p.id AND f.user_id = $1 \
         WHERE p.tracked AND (p.user_id = $1 OR g.id IS NOT NULL)",
        covers("g", "p.id")
    )
});

/// A row of [`VISIBLE`].
struct Found {
    property: property::Model,
    owner: user::Model,
    account: search_account::Model,
    /// The role of the owner's grant, if the grant covers the property.
    role: Option<Role>,
    favorite: bool,
    hidden: bool,
}

impl Found {
    fn of(row: &QueryResult) -> Result<Self, DbErr> {
        Ok(Self {
            property: property::Model::from_query_result(row, "p_")?,
            owner: user::Model::from_query_result(row, "o_")?,
            account: search_account::Model::from_query_result(row, "a_")?,
            role: grant_of(row)?.map(|grant| role_of(grant.role)),
            favorite: row.try_get::<Option<bool>>("", "favorite")?.unwrap_or_default(),
            hidden: row.try_get::<Option<bool>>("", "hidden")?.unwrap_or_default(),
        })
    }
}

/// Returns a person's tags on each property, in the person's order.
async fn tags_of(db: &impl ConnectionTrait, user_id: Uuid) -> Result<HashMap<Uuid, Vec<Uuid>>, Error> {
    let tagged = property_tag::Entity::of_user(user_id)
        .order_by_asc(tag::Column::Position)
        .order_by_asc(tag::Column::NameKey)
        .all(db)
        .await?;
    let mut tags: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
    for row in tagged {
        tags.entry(row.property_id).or_default().push(row.tag_id);
    }
    Ok(tags)
}

/// Returns for each property how many of its owner's properties have been tracked for longer. `found` must contain all tracked
/// properties of each owner.
fn tracked_longer(found: &[Found]) -> HashMap<Uuid, u64> {
    let mut ordered: Vec<&property::Model> = found.iter().map(|found| &found.property).collect();
    ordered.sort_by_key(|property| (property.user_id, property.tracked_at, property.id));
    let by_owner = ordered.chunk_by(|a, b| a.user_id == b.user_id);
    by_owner.flat_map(|own| own.iter().map(|property| property.id).zip(0..)).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use test_data::noon;

    use super::*;
    use crate::testing::World;

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
            let member = world.member(&config, user).await;
            let listed = visible(&world.db, &config, &member, noon()).await.unwrap();
            listed.iter().map(|listed| listed.property.id).collect::<Vec<_>>()
        };
        assert_eq!(ids(world.owner).await, [a, b, c]);
        assert_eq!(ids(editor).await, [a, c]);

        let access = Arc::new(world.access(editor, &c.to_string(), Role::Viewer).await.unwrap());
        let favorite = async |is| world.change(&access, async |change| set_favorite(change, is).await).await.unwrap();
        let hidden = async |is| world.change(&access, async |change| set_hidden(change, is).await).await.unwrap();
        assert!(favorite(true).await.favorite);
        let marks = hidden(true).await;
        assert_eq!((marks.favorite, marks.hidden), (true, true));
        assert!(!favorite(false).await.favorite);
        assert!(favorite(true).await.hidden);
        assert_eq!(ids(editor).await, [c, a]);
        assert_eq!(ids(world.owner).await, [a, b, c], "marks are each person's own");
    }
}
