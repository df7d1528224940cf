//! Tests of rights on properties: who reads, who writes, and what refuses.

use std::sync::Mutex;

use api::team::GrantUpdate;
use entity::user::Plan;
use sea_orm::{ActiveModelTrait as _, ActiveValue::Set, DatabaseConnection, ModelTrait as _};
use store::database;
use test_data::noon;

use super::*;
use crate::{
    services::{change::MemberChange, team},
    testing::World,
};

async fn ask(world: &World, user: Uuid, property: &str, needed: Role) -> Result<Role, Error> {
    world.access(user, property, needed).await.map(|access| access.role())
}

async fn set_plan(db: &DatabaseConnection, user: Uuid, plan: Plan) {
    crate::services::users::subscriptions::set(db, &user.to_string(), plan, noon()).await.unwrap();
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

/// A property that a person cannot see is not read, so neither the statements nor their counts depend on its owner.
#[tokio::test]
async fn what_somebody_cannot_see_is_read_as_what_does_not_exist() {
    let mut world = World::new().await;
    let untracked = world.add_property(world.owner, "https://untracked.test/", false).await;
    let named = world.add_property(world.owner, "https://named.test/", true).await;
    let other = world.add_property(world.owner, "https://other.test/", true).await;
    let member = world.add_person("member", true).await;
    let unverified = world.add_person("unverified", false).await;
    let admin = world.add_person("admin", true).await;
    for (email, properties) in
        [("member@demo.test", &[named][..]), ("unverified@demo.test", &[named]), ("admin@demo.test", &[])]
    {
        world.grant(email, team_grant::Role::Viewer, properties).await;
    }
    let sent = Arc::new(Mutex::new(Vec::new()));
    let texts = sent.clone();
    world.db.set_metric_callback(move |ask| texts.lock().unwrap().push(ask.statement.sql.clone()));
    let look = async |person: Uuid, property: Uuid| {
        sent.lock().unwrap().clear();
        let is_seen = world.facts(person, Some(property)).await.property.is_some();
        (is_seen, std::mem::take(&mut *sent.lock().unwrap()))
    };
    let (_, as_for_none) = look(world.stranger, Uuid::nil()).await;
    assert!(!as_for_none.is_empty());
    for (person, property, expected) in [
        (world.stranger, Uuid::nil(), false),
        (world.stranger, named, false),
        (world.owner, untracked, false),
        (world.owner, named, true),
        (member, named, true),
        (member, other, false),
        (member, untracked, false),
        (unverified, named, false),
        (admin, other, true),
        (admin, untracked, false),
    ] {
        let (is_seen, texts) = look(person, property).await;
        assert_eq!((is_seen, &texts), (expected, &as_for_none), "{person} {property}");
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

/// A grant can be withdrawn between admission and the lock that a write waits for.
#[tokio::test]
async fn what_is_withdrawn_while_a_write_waits_is_not_written() {
    let world = World::new().await;
    let id = world.add_property(world.owner, "https://named.test/", true).await;
    let editor = world.add_person("editor", true).await;
    world.grant("editor@demo.test", team_grant::Role::Editor, &[id]).await;
    let access = world.access(editor, &id.to_string(), Role::Editor).await.unwrap();
    let lock = async || {
        let transaction = database::begin(&world.db).await.unwrap();
        access.lock(&transaction).await.map_err(|error| error.code().status().as_u16())
    };
    let grant = team_grant::Entity::to_email("editor@demo.test").one(&world.db).await.unwrap().unwrap();
    for (role, expected) in
        [(team_grant::Role::Editor, Ok(id)), (team_grant::Role::Viewer, Err(403)), (team_grant::Role::Admin, Ok(id))]
    {
        let row = team_grant::ActiveModel { id: Set(grant.id), role: Set(role), ..Default::default() };
        row.update(&world.db).await.unwrap();
        assert_eq!(lock().await, expected, "{role:?}");
    }
    for (tracked, expected) in [(false, Err(404)), (true, Ok(id))] {
        let row = property::ActiveModel { id: Set(id), tracked: Set(tracked), ..Default::default() };
        row.update(&world.db).await.unwrap();
        assert_eq!(lock().await, expected);
    }
    let other = world.add_property(world.owner, "https://other.test/", true).await;
    let owner = world.member(&Config::default(), world.owner).await;
    for (covered, expected) in [(other, Err(404)), (id, Ok(id))] {
        let input = GrantUpdate { role: None, property_ids: Some(vec![covered]), all_properties: None };
        let config = Config::default();
        let narrow = async |change: &MemberChange| team::update(change, &config, grant.id, input.clone()).await;
        world.change(&owner, narrow).await.unwrap();
        assert_eq!(lock().await, expected);
    }
    grant.delete(&world.db).await.unwrap();
    assert_eq!(lock().await, Err(404));
}

#[tokio::test]
async fn invisible_comes_before_the_role_and_the_role_before_the_plan() {
    let world = World::new().await;
    let id = world.add_property(world.owner, "https://named.test/", true).await;
    let viewer = world.add_person("viewer", true).await;
    world.grant("viewer@demo.test", team_grant::Role::Viewer, &[id]).await;
    set_plan(&world.db, world.owner, Plan::None).await;

    let id = id.to_string();
    let too_low = ask(&world, viewer, &id, Role::Editor).await.unwrap_err();
    assert!(matches!(too_low, Error::RoleTooLow { needed: Role::Editor, at: None }), "no plan gives a role: {too_low}");
    let locked = ask(&world, viewer, &id, Role::Viewer).await.unwrap_err();
    assert_eq!(
        locked.hint().unwrap(),
        "The owner of the property, \"owner@demo.test\", must subscribe to a plan that includes this."
    );
    let own = ask(&world, world.owner, &id, Role::Owner).await.unwrap_err();
    assert!(matches!(own, Error::SubscriptionRequired { by: Responsible::Caller, .. }), "{own}");
    assert!(matches!(ask(&world, world.stranger, &id, Role::Viewer).await, Err(Error::NotFound)));
    let seen = world.facts(viewer, parse_id(&id)).await;
    assert_eq!(seen.property.unwrap().grant.clone().unwrap().role, team_grant::Role::Viewer);
}
