//! Connected applications: the clients that act for a person, and how the person ends that.

pub mod uses;

use std::{
    cmp::Reverse,
    collections::{HashMap, HashSet},
};

use api::{privacy::AuditAction, scope::Scopes};
use chrono::{DateTime, Utc};
use common::{allowance::Allowance, random::Random};
use entity::{client_refusal, client_use, consent, oauth_client, user};
use identity::{audit_notes::Allowed, clients, grants, local::local_subject};
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, DatabaseConnection, EntityTrait, QueryFilter};
use store::database;

use super::{audit::Event, users};
use crate::error::Error;

/// The issuer of the tokens that clients present.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenIssuer {
    /// The embedded one. Access ends with the grants that it rests on.
    Embedded,
    /// An external issuer. The service cannot end access there, so it refuses the client here.
    External,
}

/// A client that acts, or acted, for a person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// The client id.
    pub client_id: String,
    /// The name that the client registered, or that of a part of this service.
    pub name: Option<String>,
    /// True for a client that is part of this service.
    pub own: bool,
    /// The addresses that the client registered for answers to sign-in.
    pub redirect_uris: Vec<String>,
    /// The scopes that it has.
    pub scopes: Vec<String>,
    /// The scopes that it asked for.
    pub asked: Scopes,
    /// The person's choice. `None` if they have not been asked here.
    pub allowance: Option<Allowance>,
    /// True if its tokens open the REST API, false if they open the tool endpoint only.
    pub opens_api: bool,
    /// The time of the oldest consent that is in force. Only the embedded issuer states it.
    pub allowed_at: Option<DateTime<Utc>>,
    /// True if the person was asked, the answer is remembered, and no access is in force: the client gets it without a question.
    pub remembered_only: bool,
    /// The times of its first and last recorded use.
    pub used: Option<(DateTime<Utc>, DateTime<Utc>)>,
    /// The time of its last recorded use of the tool endpoint. An application with one is an assistant.
    pub tools_used_at: Option<DateTime<Utc>>,
    /// The time since which it is refused.
    pub refused_at: Option<DateTime<Utc>>,
}

impl Application {
    fn new(client_id: &str) -> Self {
        Self {
            client_id: client_id.to_owned(),
            name: None,
            own: false,
            redirect_uris: Vec::new(),
            scopes: Vec::new(),
            asked: Scopes::NONE,
            allowance: None,
            opens_api: true,
            allowed_at: None,
            remembered_only: false,
            used: None,
            tools_used_at: None,
            refused_at: None,
        }
    }

    fn add_scopes(&mut self, scopes: &str) {
        for scope in scopes.split_ascii_whitespace() {
            if !self.scopes.iter().any(|known| known == scope) {
                self.scopes.push(scope.to_owned());
            }
        }
        self.asked = self.asked.or(Scopes::asked(scopes.split_ascii_whitespace()));
    }

    /// Its scopes, as far as the person allows them now.
    #[must_use]
    pub fn rights(&self) -> Scopes {
        self.asked.and(self.allowance.map_or(Scopes::EVERY, Allowance::scopes))
    }

    fn allowed_since(&mut self, at: DateTime<Utc>) {
        self.allowed_at = Some(self.allowed_at.map_or(at, |known| known.min(at)));
    }
}

/// Returns the clients that may act for a person, the one used last first. Clients of an external issuer are
/// known only by their use; refused ones are included. `api` is the audience of the REST API.
pub async fn list(
    db: &impl ConnectionTrait,
    user: &user::Model,
    issuer: TokenIssuer,
    api: &str,
    now: DateTime<Utc>,
) -> Result<Vec<Application>, Error> {
    let recorded = client_use::Entity::of_user(user.id).all(db).await?;
    let mut found = match issuer {
        TokenIssuer::Embedded => match local_subject(true, user) {
            Some(subject) => allowed_here(db, subject, api, now).await?,
            None => HashMap::new(),
        },
        TokenIssuer::External => known_by_use(&recorded, &client_refusal::Entity::of_user(user.id).all(db).await?),
    };
    for used in &recorded {
        if let Some(application) = found.get_mut(&used.client_id) {
            application.used = Some((used.first_used_at, used.last_used_at));
            application.tools_used_at = used.tools_used_at;
        }
    }
    let mut applications: Vec<_> = found.into_values().collect();
    applications.sort_by(|a, b| {
        let order = |one: &Application| {
            (one.refused_at.is_some(), Reverse(one.used.map(|(_, last)| last)), Reverse(one.allowed_at))
        };
        order(a).cmp(&order(b)).then_with(|| a.client_id.cmp(&b.client_id))
    });
    Ok(applications)
}

/// The clients with a grant of the person that is in force, and clients that get one without a question. The browser sign-in of the service itself is a session and not listed.
async fn allowed_here(
    db: &impl ConnectionTrait,
    subject: &str,
    api: &str,
    now: DateTime<Utc>,
) -> Result<HashMap<String, Application>, Error> {
    let (mut found, mut opening_api) = (HashMap::new(), HashSet::new());
    for grant in grants::of_subject(db, subject, now).await? {
        if grant.client_id == clients::WEB {
            continue;
        }
        let application = found.entry(grant.client_id.clone()).or_insert_with(|| Application::new(&grant.client_id));
        let resources: Vec<String> = serde_json::from_str(&grant.resources).unwrap_or_default();
        if resources.is_empty() || resources.iter().any(|one| one == api) {
            opening_api.insert(grant.client_id);
        }
        application.add_scopes(&grant.scope);
        application.allowed_since(grant.created_at);
    }
    let acting: HashSet<String> = found.keys().cloned().collect();
    for remembered in consent::Entity::of_subject(subject).all(db).await? {
        let id = &remembered.client_id;
        let application = found.entry(id.clone()).or_insert_with(|| Application::new(id));
        application.remembered_only = !acting.contains(id);
        application.add_scopes(&remembered.scope);
        let allowance = Allowance::stored(&remembered.allows);
        application.allowance = Some(application.allowance.map_or(allowance, |known| known.min(allowance)));
        if remembered.opens_api {
            opening_api.insert(id.clone());
        }
        application.allowed_since(remembered.created_at);
        application.redirect_uris.push(remembered.address);
    }
    let ids: Vec<String> = found.keys().cloned().collect();
    for client in oauth_client::Entity::find().filter(oauth_client::Column::Id.is_in(ids)).all(db).await? {
        if let Some(application) = found.get_mut(&client.id) {
            application.name = client.name;
            application.redirect_uris = serde_json::from_str(&client.redirect_uris).unwrap_or_default();
        }
    }
    for application in found.values_mut() {
        application.opens_api = opening_api.contains(&application.client_id);
        if let Some(name) = clients::own_name(&application.client_id) {
            application.name = Some(name.to_owned());
            application.own = true;
        }
    }
    Ok(found)
}

fn known_by_use(recorded: &[client_use::Model], refusals: &[client_refusal::Model]) -> HashMap<String, Application> {
    let mut found = HashMap::new();
    for used in recorded {
        let mut application = Application::new(&used.client_id);
        application.add_scopes(&used.scopes);
        found.insert(used.client_id.clone(), application);
    }
    for refusal in refusals {
        let application =
            found.entry(refusal.client_id.clone()).or_insert_with(|| Application::new(&refusal.client_id));
        application.refused_at = Some(refusal.refused_at);
    }
    found
}

/// Ends a client's access for a person. Its next request is refused.
///
/// # Errors
/// [`Error::NotFound`] if the client never acted for the person, and may not.
pub async fn revoke(
    db: &DatabaseConnection,
    random: &Random,
    user: &user::Model,
    issuer: TokenIssuer,
    client_id: &str,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    let tx = database::begin(db).await?;
    users::lock(&tx, user.id).await?;
    match issuer {
        TokenIssuer::Embedded => {
            let subject = local_subject(true, user).ok_or(Error::NotFound)?;
            let forgotten = consent::Entity::forget(subject, client_id).exec(&tx).await?.rows_affected;
            let is_known = forgotten > 0 || grants::has_any(&tx, subject, client_id).await?;
            if client_id == clients::WEB || !is_known {
                return Err(Error::NotFound);
            }
            grants::end_of_client(&tx, subject, client_id, now).await?;
        }
        TokenIssuer::External => {
            let known = client_use::Entity::find_by_id((user.id, client_id.to_owned())).one(&tx).await?;
            known.ok_or(Error::NotFound)?;
            let row = client_refusal::ActiveModel {
                user_id: Set(user.id),
                client_id: Set(client_id.to_owned()),
                refused_at: Set(now),
            };
            // A refusal keeps its first time.
            let pair = [client_refusal::Column::UserId, client_refusal::Column::ClientId];
            client_refusal::Entity::insert(row).on_conflict_do_nothing_on(pair).exec_without_returning(&tx).await?;
        }
    }
    let name = clients::name(&tx, client_id).await?;
    let event = Event::own(user.id, AuditAction::ApplicationRevoked).record(name);
    event.note(&tx, random.id(now), now).await?;
    Ok(tx.commit().await?)
}

/// Sets how much a person allows a client of the embedded issuer. Its tokens can do that from the next request on.
///
/// # Errors
/// [`Error::NotFound`] if the person has not been asked about the client.
pub async fn limit(
    db: &DatabaseConnection,
    random: &Random,
    user: &user::Model,
    client_id: &str,
    allowance: Allowance,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    let tx = database::begin(db).await?;
    users::lock(&tx, user.id).await?;
    let subject = local_subject(true, user).ok_or(Error::NotFound)?;
    if consent::Entity::allow(subject, client_id, allowance.as_str()).exec(&tx).await?.rows_affected == 0 {
        return Err(Error::NotFound);
    }
    let known = consent::Entity::of_subject(subject).filter(consent::Column::ClientId.eq(client_id)).all(&tx).await?;
    let scope = known.iter().map(|known| &*known.scope).collect::<Vec<_>>().join(" ");
    let allowed = Allowed { application: &clients::name(&tx, client_id).await?, scope: &scope, allowance };
    let event = Event::own(user.id, AuditAction::ApplicationChanged).record(allowed.words());
    event.note(&tx, random.id(now), now).await?;
    Ok(tx.commit().await?)
}

/// Lets a refused client act for a person again.
///
/// # Errors
/// [`Error::NotFound`] if the person does not refuse the client.
pub async fn allow(
    db: &DatabaseConnection,
    random: &Random,
    user: &user::Model,
    client_id: &str,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    let tx = database::begin(db).await?;
    users::lock(&tx, user.id).await?;
    let refusal = client_refusal::Entity::delete_by_id((user.id, client_id.to_owned()));
    if refusal.exec(&tx).await?.rows_affected == 0 {
        return Err(Error::NotFound);
    }
    let name = clients::name(&tx, client_id).await?;
    let event = Event::own(user.id, AuditAction::ApplicationAllowed).record(name);
    event.note(&tx, random.id(now), now).await?;
    Ok(tx.commit().await?)
}
