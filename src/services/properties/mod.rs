//! Properties as a person sees them, and the person's own marks: favourite and hidden.

mod daily;
pub mod headlines;
mod order;
mod overlap;
pub mod portfolio;
mod recent;
pub mod reference;
#[cfg(test)]
mod rows_read;
pub mod sync;
pub mod tracking;
mod visible;

use api::properties::{OwnedProperty, PropertyPreference, SitePermission};
use common::names::sites;
use entity::{property, property_preference};
use sea_orm::{ActiveValue::Set, EntityTrait as _, sea_query::OnConflict};

pub use self::visible::{ListedProperty, VisibleSite, unordered_sites, visible, visible_sites};
use super::change::PropertyChange;
use crate::error::Error;

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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use api::models::Role;
    use entity::team_grant;
    use test_data::noon;

    use super::*;
    use crate::{config::Config, testing::World};

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
