//! Test data for services: an owner and an unrelated person on the `pro` plan, each with a search account.

use std::sync::Arc;

use api::models::Role;
use common::random::Random;
use entity::{property, property_account, search_account, team_grant, team_grant_property, user};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, DatabaseConnection, EntityTrait, IntoActiveModel};
use store::{database::OpenDatabase, unit_of_work::UnitOfWork};
use test_data::{noon, person};
use uuid::Uuid;

use crate::{
    config::Config,
    error::Error,
    services::{
        access::{
            PropertyAccess,
            facts::{self, Caller, Facts, Plans},
            parse_id,
        },
        change::{Author, Change, IfMatch},
        users::{self, Member},
    },
};

/// Makes a change and commits it, unless it fails.
pub async fn change<By: Author, T>(
    store: &OpenDatabase,
    random: &Random,
    by: &Arc<By>,
    make: impl AsyncFnOnce(&Change<By>) -> Result<T, Error>,
) -> Result<T, Error> {
    let unit = UnitOfWork::new(store);
    let change = Change::begin(by.clone(), &unit, IfMatch::default(), noon(), random.clone()).await?;
    let answer = make(&change).await?;
    drop(change);
    unit.commit().await?;
    Ok(answer)
}

pub struct World {
    pub store: OpenDatabase,
    pub db: DatabaseConnection,
    pub random: Random,
    pub owner: Uuid,
    pub stranger: Uuid,
}

impl World {
    pub async fn new() -> Self {
        let store = test_data::store().await;
        let db = store.writer.clone();
        let mut world = Self { store, db, random: Random::seeded(1), owner: Uuid::nil(), stranger: Uuid::nil() };
        world.owner = world.add_person("owner", true).await;
        world.stranger = world.add_person("stranger", true).await;
        for user_id in [world.owner, world.stranger] {
            world.add_account(user_id, &user_id.to_string()).await;
        }
        world
    }

    pub async fn add_person(&self, name: &str, email_verified: bool) -> Uuid {
        self.insert(user::Model { email_verified, ..person(name) }).await
    }

    /// Returns a person as the caller of a request.
    pub async fn member(&self, config: &Config, id: Uuid) -> Arc<Member> {
        let user = users::by_id(&self.db, id).await.unwrap();
        Arc::new(Member::of(config, Arc::new(user), noon()))
    }

    /// Returns the records that admission reads of a person and of a property.
    pub async fn facts(&self, id: Uuid, property: Option<Uuid>) -> Facts {
        let user = users::by_id(&self.db, id).await.unwrap();
        let caller = Caller::Token {
            issuer: &user.issuer,
            subject: &user.subject,
            id: "",
            grant: None,
            subject_key: "",
            client: "",
            person: "",
        };
        facts::of_caller(&self.db, Plans::Limit, caller, property).await.unwrap().unwrap()
    }

    /// Returns a person's access to a property, for an operation that needs the role `needed`.
    pub async fn access(&self, id: Uuid, property: &str, needed: Role) -> Result<PropertyAccess, Error> {
        let property = parse_id(property).ok_or(Error::NotFound)?;
        let facts = self.facts(id, Some(property)).await;
        PropertyAccess::of(&Config::default(), &facts.user, facts.property.as_ref(), needed, noon())
    }

    /// Makes a change and commits it, unless it fails.
    pub async fn change<By: Author, T>(
        &self,
        by: &Arc<By>,
        make: impl AsyncFnOnce(&Change<By>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        change(&self.store, &self.random, by, make).await
    }

    /// Stores a person under a new id.
    pub async fn insert(&self, person: user::Model) -> Uuid {
        let row = user::Model { id: self.random.id(noon()), ..person };
        row.into_active_model().reset_all().insert(&self.db).await.unwrap().id
    }

    pub async fn add_account(&self, user_id: Uuid, subject: &str) -> search_account::Model {
        let row = search_account::Model {
            id: self.random.id(noon()),
            user_id,
            subject: subject.to_owned(),
            email: None,
            refresh_token: Some(b"sealed".to_vec()),
            status: search_account::Status::Connected,
            status_at: None,
            last_error: None,
            connected_at: noon(),
            synced_at: None,
            updated_at: noon(),
        };
        row.into_active_model().reset_all().insert(&self.db).await.unwrap()
    }

    pub async fn account(&self, user_id: Uuid) -> search_account::Model {
        search_account::Entity::of_user(user_id).one(&self.db).await.unwrap().unwrap()
    }

    pub async fn add_property(&self, user_id: Uuid, site_url: &str, tracked: bool) -> Uuid {
        let row = property::Model {
            id: self.random.id(noon()),
            account_id: self.account(user_id).await.id,
            user_id,
            site_url: site_url.into(),
            permission_level: "siteOwner".into(),
            tracked,
            tracked_at: tracked.then(noon),
            lost_at: None,
            created_at: noon(),
            updated_at: noon(),
        };
        let property = row.into_active_model().reset_all().insert(&self.db).await.unwrap();
        let listing = property_account::ActiveModel {
            property_id: Set(property.id),
            account_id: Set(property.account_id),
            permission_level: Set(property.permission_level),
            lost_at: Set(None),
        };
        property_account::Entity::insert(listing).exec_without_returning(&self.db).await.unwrap();
        property.id
    }

    /// Grants `role` on the given properties, or on all properties if none is given, in the owner's name.
    pub async fn grant(&self, email: &str, role: team_grant::Role, properties: &[Uuid]) {
        let grant = team_grant::ActiveModel {
            id: Set(self.random.id(noon())),
            owner_id: Set(self.owner),
            email: Set(email.into()),
            email_key: Set(entity::email_key(email)),
            role: Set(role),
            all_properties: Set(properties.is_empty()),
            accepted_at: Set(None),
            created_at: Set(noon()),
            updated_at: Set(noon()),
        };
        let grant_id = grant.insert(&self.db).await.unwrap().id;
        for property_id in properties {
            let row = team_grant_property::ActiveModel { grant_id: Set(grant_id), property_id: Set(*property_id) };
            team_grant_property::Entity::insert(row).exec_without_returning(&self.db).await.unwrap();
        }
    }
}
