//! The demo data of the embedded issuer. Each step runs once: a second start changes nothing, including what people have
//! changed.

use std::collections::HashSet;

use chrono::{DateTime, Utc};
use common::random::Random;
use entity::{
    branded_keyword,
    classification::{self, Kind},
    property, search_account, team_grant, team_grant_property,
    user::{self, Plan},
};
use identity::{Claims, Email, departures::Departures};
use sea_orm::{ActiveModelTrait, ActiveValue::Set, ColumnTrait, DatabaseConnection, EntityTrait, QueryFilter};
use serde_json::json;
use store::{database, transaction::Transaction};
use uuid::Uuid;

use crate::{
    error::Error,
    services::{
        properties::sync::{self, Site},
        users,
    },
};

/// A demo person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Person {
    /// The name to sign in with. The subject is `demo-` and the name.
    pub name: &'static str,
    /// The plan set at first start.
    pub plan: Plan,
    /// True if a search account is connected at first start.
    pub connected: bool,
}

/// The demo people.
pub const PEOPLE: [Person; 5] = [
    Person { name: "owner", plan: Plan::Pro, connected: true },
    Person { name: "editor", plan: Plan::Free, connected: false },
    Person { name: "viewer", plan: Plan::Free, connected: false },
    Person { name: "stranger", plan: Plan::Pro, connected: true },
    Person { name: "lapsed", plan: Plan::None, connected: true },
];

/// The demo person with the sites of `simulator.sites`. There is none without sites.
pub static NETWORK: Person = Person { name: "network", plan: Plan::Agency, connected: true };

/// The owner's grants at first start: recipient, role, and number of tracked properties.
const GRANTS: [(&str, team_grant::Role, usize); 2] =
    [("editor", team_grant::Role::Editor, 3), ("viewer", team_grant::Role::Viewer, 2)];

impl Person {
    /// The person's subject at the embedded issuer.
    #[must_use]
    pub fn subject(&self) -> String {
        format!("demo-{}", self.name)
    }

    /// The person's e-mail address.
    #[must_use]
    pub fn email(&self) -> String {
        address(self.name)
    }

    fn claims(&self, issuer: &str) -> Claims {
        let mut name = self.name.to_owned();
        name[..1].make_ascii_uppercase();
        let email = Some(Email { address: self.email(), verified: true });
        // No token has stated these claims yet, so every token is later than this.
        let issued_at = DateTime::UNIX_EPOCH;
        Claims {
            issuer: issuer.to_owned(),
            subject: self.subject(),
            email,
            name: Some(name),
            issued_at,
            auth_time: None,
        }
    }
}

/// The facts about a simulated site. Sites without facts stay untracked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownSite {
    /// The search engine's name of the site.
    pub site_url: String,
    /// The brand terms.
    pub brand_terms: Vec<String>,
    /// A substring of some of its page paths, such as `/guides/`.
    pub section: String,
    /// A word that occurs in many of its queries.
    pub topic: String,
}

/// Returns the demo people in the order of [`PEOPLE`], creating missing ones. People who deleted their data are not created.
pub async fn people(
    db: &DatabaseConnection,
    departures: &Departures,
    random: &Random,
    issuer: &str,
    now: DateTime<Utc>,
) -> Result<Vec<Option<user::Model>>, Error> {
    let mut rows = Vec::with_capacity(PEOPLE.len());
    for person in &PEOPLE {
        rows.push(self::person(db, departures, random, issuer, person, now).await?);
    }
    Ok(rows)
}

/// Returns a demo person, creating a missing one. A person who deleted their data is not created.
pub async fn person(
    db: &DatabaseConnection,
    departures: &Departures,
    random: &Random,
    issuer: &str,
    person: &Person,
    now: DateTime<Utc>,
) -> Result<Option<user::Model>, Error> {
    let subject = person.subject();
    if departures.left_at(db, issuer, &subject).await?.is_none() {
        let fresh = users::fresh(random.id(now), &person.claims(issuer), person.plan, None, now);
        users::insert_if_new(db, fresh).await?;
    }
    Ok(user::Entity::known_as(issuer, &subject).one(db).await?)
}

/// Fills a newly connected demo account: imports the `listed` sites, tracks the `known` ones, classifies them, and creates
/// the owner's grants. All of it is in one transaction with the account's first sync, which marks it as done.
///
/// Returns whether there was anything to do.
pub async fn account(
    db: &DatabaseConnection,
    random: &Random,
    now: DateTime<Utc>,
    account: &search_account::Model,
    listed: &[Site],
    known: &[KnownSite],
) -> Result<bool, Error> {
    let transaction = database::begin(db).await?;
    let row = search_account::Entity::one_of_user(account.user_id, account.id).one(&transaction).await?;
    if row.ok_or(Error::NotFound)?.synced_at.is_some() {
        return Ok(false);
    }
    let found = sync::sync_within(&transaction, random, now, account, listed).await?.properties;
    let mut tracked = Vec::new();
    for site in known {
        let Some(property) = found.iter().find(|property| property.site_url == site.site_url) else { continue };
        classify(&transaction, random, now, property, site).await?;
        tracked.push(property.id);
    }
    track(&transaction, &tracked, now).await?;
    let owner = users::by_id(&transaction, account.user_id).await?;
    if owner.subject == PEOPLE[0].subject() {
        grant(&transaction, random, now, owner.id, &tracked).await?;
    }
    transaction.commit().await?;
    Ok(true)
}

/// Imports the `listed` sites of the account of [`NETWORK`] that are new, and tracks them. Leaves the others as they are.
///
/// Returns the number of new sites.
pub async fn network(
    db: &DatabaseConnection,
    random: &Random,
    now: DateTime<Utc>,
    account: &search_account::Model,
    listed: &[Site],
) -> Result<usize, Error> {
    let transaction = database::begin(db).await?;
    let known = property::Entity::of_owner(account.user_id).all(&transaction).await?;
    let known: HashSet<&str> = known.iter().map(|property| property.site_url.as_str()).collect();
    let mut readable = listed.iter().filter(|site| site.permission_level != "siteUnverifiedUser");
    if account.synced_at.is_some() && readable.all(|site| known.contains(site.site_url.as_str())) {
        return Ok(0);
    }
    let found = sync::sync_within(&transaction, random, now, account, listed).await?.properties;
    let new = found.iter().filter(|property| !known.contains(property.site_url.as_str()));
    let new: Vec<Uuid> = new.map(|property| property.id).collect();
    track(&transaction, &new, now).await?;
    transaction.commit().await?;
    Ok(new.len())
}

async fn track(tx: &Transaction, own: &[Uuid], now: DateTime<Utc>) -> Result<(), Error> {
    let tracked_at = Set(Some(now));
    let row = property::ActiveModel { tracked: Set(true), tracked_at, updated_at: Set(now), ..Default::default() };
    let own = property::Column::Id.is_in(own.iter().copied());
    property::Entity::update_many().set(row).filter(own).exec(tx).await?;
    Ok(())
}

async fn classify(
    tx: &Transaction,
    random: &Random,
    now: DateTime<Utc>,
    property: &property::Model,
    site: &KnownSite,
) -> Result<(), Error> {
    let property_id = Set(property.id);
    for term in &site.brand_terms {
        let keyword = branded_keyword::ActiveModel {
            id: Set(random.id(now)),
            property_id: property_id.clone(),
            keyword: Set(term.clone()),
            keyword_key: Set(entity::key(term)),
            created_at: Set(now),
        };
        keyword.insert(tx).await?;
    }
    let saved = [
        (Kind::Segment, site.section.trim_matches('/'), &site.section),
        (Kind::TopicCluster, &site.topic, &site.topic),
    ];
    for (kind, name, text) in saved {
        let row = classification::ActiveModel {
            id: Set(random.id(now)),
            property_id: property_id.clone(),
            created_by: Set(Some(property.user_id)),
            kind: Set(kind),
            name: Set(name.to_owned()),
            name_key: Set(entity::key(name)),
            color: Set(None),
            conditions: Set(contains(text)),
            created_at: Set(now),
            updated_at: Set(now),
        };
        row.insert(tx).await?;
    }
    Ok(())
}

fn contains(value: &str) -> String {
    json!([{ "operator": "contains", "value": value }]).to_string()
}

async fn grant(
    tx: &Transaction,
    random: &Random,
    now: DateTime<Utc>,
    owner_id: Uuid,
    tracked: &[Uuid],
) -> Result<(), Error> {
    for (name, role, share) in GRANTS {
        let email = address(name);
        let grant = team_grant::ActiveModel {
            id: Set(random.id(now)),
            owner_id: Set(owner_id),
            email_key: Set(entity::email_key(&email)),
            email: Set(email),
            role: Set(role),
            all_properties: Set(false),
            accepted_at: Set(None),
            created_at: Set(now),
            updated_at: Set(now),
        };
        let grant_id = grant.insert(tx).await?.id;
        for property_id in tracked.iter().take(share) {
            let row = team_grant_property::ActiveModel { grant_id: Set(grant_id), property_id: Set(*property_id) };
            team_grant_property::Entity::insert(row).exec_without_returning(tx).await?;
        }
    }
    Ok(())
}

fn address(name: &str) -> String {
    format!("{name}@demo.test")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use api::models::Role;
    use common::secrets::Secrets;
    use test_data::noon;

    use super::*;
    use crate::{
        config::Config,
        services::{
            properties::{self, tracking},
            search_accounts,
            users::Member,
        },
        testing::change,
    };

    async fn start(db: &DatabaseConnection, known: &[KnownSite]) -> (Vec<user::Model>, bool) {
        let (random, secrets) = (Random::seeded(5), Secrets::new([1; 32], Random::seeded(6)));
        let departures = Departures::new([1; 32]);
        let rows = people(db, &departures, &random, "http://127.0.0.1", noon()).await.unwrap();
        let rows: Vec<_> = rows.into_iter().flatten().collect();
        let connection = search_accounts::Connection {
            subject: "sim-owner".into(),
            email: None,
            refresh_token: Some("token".into()),
        };
        let accounts = search_accounts::of_user(db, rows[0].id).await.unwrap();
        let account = match accounts.into_iter().next() {
            Some(account) => account,
            None => search_accounts::connect(db, &secrets, &random, noon(), rows[0].id, &connection).await.unwrap(),
        };
        let site = |site_url: String| Site { site_url, permission_level: "siteOwner".into() };
        let listed: Vec<Site> = (0..5).map(|number| site(format!("https://{number}.test/"))).collect();
        let done = super::account(db, &random, noon(), &account, &listed, known).await.unwrap();
        (rows, done)
    }

    #[tokio::test]
    async fn the_first_start_makes_the_demo_world_and_the_second_leaves_it_alone() {
        let (store, config) = (test_data::store().await, Config::default());
        let db = store.writer.clone();
        let known: Vec<KnownSite> = (0..4)
            .map(|number| KnownSite {
                site_url: format!("https://{number}.test/"),
                brand_terms: vec![format!("brand {number}")],
                section: "/guides/".into(),
                topic: "tent".into(),
            })
            .collect();
        let (rows, done) = start(&db, &known).await;
        assert!(done);
        // Grants take effect once a token has stated the address.
        let stated_at = Some(noon());
        let stated = user::ActiveModel { email_stated_at: Set(stated_at), ..Default::default() };
        user::Entity::update_many().set(stated).exec(&db).await.unwrap();
        let rows: Vec<_> = rows.into_iter().map(|row| user::Model { email_stated_at: stated_at, ..row }).collect();
        assert_eq!(rows.iter().map(|row| row.plan).collect::<Vec<_>>(), PEOPLE.map(|person| person.plan));
        let member = |person: usize| Arc::new(Member::of(&config, Arc::new(rows[person].clone()), noon()));
        let roles = async |person: usize| {
            let listed = properties::visible(&db, &config, &member(person), noon()).await.unwrap();
            listed.iter().map(|listed| listed.role).collect::<Vec<_>>()
        };
        assert_eq!(roles(0).await, [Role::Owner; 4]);
        assert_eq!(roles(1).await, [Role::Editor; 3]);
        assert_eq!(roles(2).await, [Role::Viewer; 2]);
        assert_eq!(roles(3).await, []);
        let tracking = tracking::read(&db, &member(0)).await.unwrap();
        assert_eq!((tracking.used(), tracking.properties.len()), (4, 5));
        let property = tracking.properties[0].id;
        assert_eq!(branded_keyword::Entity::of_property(property).all(&db).await.unwrap()[0].keyword, "brand 0");
        let segments = classification::Entity::of_property(property, Kind::Segment).all(&db).await.unwrap();
        assert_eq!(segments[0].conditions, r#"[{"operator":"contains","value":"/guides/"}]"#);
        assert_eq!(classification::Entity::of_property(property, Kind::TopicCluster).all(&db).await.unwrap().len(), 1);

        change(&store, &Random::seeded(4), &member(0), async |change| {
            tracking::replace(change, &config, &tracking::Selection::Exactly(Vec::new())).await
        })
        .await
        .unwrap();
        assert_eq!(start(&db, &known).await, (rows.clone(), false));
        assert_eq!(tracking::read(&db, &member(0)).await.unwrap().used(), 0);
    }
}
