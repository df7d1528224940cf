//! Team grants: an owner gives the holder of an e-mail address a role on properties.

use std::collections::HashMap;

use api::{
    models::Feature,
    privacy::AuditAction,
    team::{GrantRole, GrantStatus, GrantUpdate, InviteInput, TeamGrant},
};
use chrono::{DateTime, TimeDelta, Utc};
use common::mail_address;
use entity::{
    property,
    team_grant::{self, Column, Entity},
    team_grant_property, user,
};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, Condition, ConnectionTrait, DatabaseConnection, DbErr,
    EntityTrait, IntoActiveModel, ModelTrait, QueryFilter, QuerySelect as _, QueryTrait as _, sea_query::LockType,
};
use store::transaction::Transaction;
use uuid::Uuid;

use super::{
    access::{own, shown, verified_email_key},
    audit::Event,
    change::{Limit, MemberChange, Others, etag, insert_all, trimmed},
    sharing,
    users::{Member, plans::Entitlement},
};
use crate::{
    config::Config,
    error::{Error, Responsible},
};

/// The maximum number of grants that a person makes.
pub(super) const MAX_GRANTS: Limit = Limit { max: 500, noun: "grants" };

/// Returns the grants that a person made, by address.
pub async fn list(db: &impl ConnectionTrait, member: &Member) -> Result<Vec<TeamGrant>, Error> {
    let mut rows = Entity::of_owner(member.user.id).all(db).await?;
    rows.sort_by(|a, b| (&a.email_key, a.id).cmp(&(&b.email_key, b.id)));
    let mut named = named_in(db, &rows).await?;
    Ok(rows.into_iter().map(|row| to_api(row, &mut named)).collect())
}

/// Returns the grants that others made to a person, oldest first, with details of the givers. Returns none for an unverified
/// address, because anyone could claim it.
pub async fn received(db: &impl ConnectionTrait, member: &Member, now: DateTime<Utc>) -> Result<Vec<TeamGrant>, Error> {
    let Some(email_key) = verified_email_key(&member.user, now) else { return Ok(Vec::new()) };
    as_received(db, Entity::to_email(email_key).all(db).await?).await
}

/// Returns a grant that a person made or received.
pub async fn one(db: &impl ConnectionTrait, member: &Member, id: Uuid, now: DateTime<Utc>) -> Result<TeamGrant, Error> {
    let row = Entity::find_by_id(id).filter(theirs(&member.user, now)).one(db).await?.ok_or(Error::NotFound)?;
    if row.owner_id == member.user.id {
        return as_made(db, row).await;
    }
    as_received(db, vec![row]).await?.pop().ok_or(Error::NotFound)
}

/// Selects the grants that a person made or received.
fn theirs(user: &user::Model, now: DateTime<Utc>) -> Condition {
    let made = Condition::any().add(Column::OwnerId.eq(user.id));
    match verified_email_key(user, now) {
        Some(email_key) => made.add(Column::EmailKey.eq(email_key)),
        None => made,
    }
}

/// Converts grants to API grants, for the person who received them.
async fn as_received(db: &impl ConnectionTrait, rows: Vec<team_grant::Model>) -> Result<Vec<TeamGrant>, Error> {
    let owners =
        user::Entity::find().filter(user::Column::Id.is_in(rows.iter().map(|row| row.owner_id))).all(db).await?;
    let owners: HashMap<Uuid, user::Model> = owners.into_iter().map(|owner| (owner.id, owner)).collect();
    let tracked = property::Entity::find().filter(property::Column::Tracked.eq(true));
    let tracked = tracked.select_only().column(property::Column::Id).into_query();
    let named = team_grant_property::Entity::of_grants(rows.iter().map(|row| row.id))
        .filter(team_grant_property::Column::PropertyId.in_subquery(tracked));
    let mut named = by_grant(named.all(db).await?);
    let grant = |row: team_grant::Model| {
        let (owner_name, owner_email) = owners.get(&row.owner_id).map(shown).unwrap_or_default();
        let (owner_name, owner_email) = (owner_name.map(str::to_owned), owner_email.map(str::to_owned));
        TeamGrant { owner_name, owner_email, ..to_api(row, &mut named) }
    };
    Ok(rows.into_iter().map(grant).collect())
}

/// Grants the holder of an address access to some properties or to all.
pub async fn invite(change: &MemberChange, config: &Config, input: InviteInput) -> Result<TeamGrant, Error> {
    let owner = change.lock().await?;
    let named = input.property_ids.as_deref().unwrap_or_default();
    own::check_own(change.tx(), &owner, &[("propertyIds", named)], change.now).await?;
    require_team(config, &owner, change.now)?;
    let coverage = Coverage::of(input.property_ids, input.all_properties)?;
    // As the provider of the invited person writes it.
    let email = mail_address::in_ascii(&input.email).unwrap_or_else(|| trimmed(&input.email));
    let email_key = entity::email_key(&email);
    if owner.email_key.as_deref() == Some(email_key.as_str()) {
        return Err(Error::invalid("email: is your own address; invite somebody else"));
    }
    let same_key = Column::EmailKey.eq(email_key.as_str());
    let others = Others::read(change.tx(), Entity::of_owner(owner.id), Some(same_key), None).await?;
    if others.check_name(&input.email).is_err() {
        return Err(Error::invalid("email: has a grant already; change its role, or remove it first"));
    }
    others.check_room(MAX_GRANTS)?;
    let id = change.new_id();
    let row = team_grant::ActiveModel {
        id: Set(id),
        owner_id: Set(owner.id),
        email: Set(email),
        email_key: Set(email_key),
        role: Set(stored(input.role)),
        all_properties: Set(coverage.is_all()),
        accepted_at: Set(None),
        created_at: Set(change.now),
        updated_at: Set(change.now),
    };
    let row = row.insert(change.tx()).await?;
    change.note(noted(change, AuditAction::GrantMade, &row)).await?;
    coverage.insert(change.tx(), id).await?;
    Ok(to_api(row, &mut HashMap::from([(id, coverage.named().to_vec())])))
}

/// Changes the role or the properties of a grant, with effect from the next request. Revokes the share links that the grant no longer
/// allows.
pub async fn update(change: &MemberChange, config: &Config, id: Uuid, input: GrantUpdate) -> Result<TeamGrant, Error> {
    let owner = change.lock().await?;
    let row = Entity::one_of_owner(owner.id, id).one(change.tx()).await?.ok_or(Error::NotFound)?;
    let named = input.property_ids.as_deref().unwrap_or_default();
    own::check_own(change.tx(), &owner, &[("propertyIds", named)], change.now).await?;
    require_team(config, &owner, change.now)?;
    change.check(&state(&row))?;
    let coverage = match (input.property_ids, input.all_properties) {
        (None, None) => None,
        (named, all) => Some(Coverage::of(named, all)?),
    };
    if input.role.is_none() && coverage.is_none() {
        return Err(Error::invalid("body: changes nothing; send role, propertyIds or allProperties: true"));
    }
    // `updated_at` is the version of a grant, so it always increases, even within a millisecond.
    let later = Ord::max(change.now, row.updated_at + TimeDelta::milliseconds(1));
    let mut row = row.into_active_model();
    if let Some(role) = input.role {
        row.role = Set(stored(role));
    }
    if let Some(coverage) = &coverage {
        row.all_properties = Set(coverage.is_all());
    }
    row.updated_at = Set(later);
    // The grant is locked from here on. A share link in the making holds that lock, so it exists now and can be revoked.
    let row = row.update(change.tx()).await?;
    change.note(noted(change, AuditAction::GrantChanged, &row)).await?;
    if let Some(coverage) = &coverage {
        let named_before = team_grant_property::Column::GrantId.eq(id);
        team_grant_property::Entity::delete_many().filter(named_before).exec(change.tx()).await?;
        coverage.insert(change.tx(), id).await?;
    }
    let answer = as_made(change.tx(), row).await?;
    if answer.role < GrantRole::Admin {
        sharing::revoke_made_under(change.tx(), id, &[], change.now).await?;
    } else if !answer.all_properties {
        sharing::revoke_made_under(change.tx(), id, &answer.property_ids, change.now).await?;
    }
    Ok(answer)
}

/// The properties that a grant covers.
enum Coverage {
    /// All of the owner's properties, including later ones.
    All,
    /// These.
    Named(Vec<Uuid>),
}

impl Coverage {
    /// Reads the two fields of a body.
    fn of(property_ids: Option<Vec<Uuid>>, all_properties: Option<bool>) -> Result<Self, Error> {
        match (property_ids, all_properties) {
            (Some(ids), None | Some(false)) => Ok(Self::Named(ids)),
            (None, Some(true)) => Ok(Self::All),
            _ => Err(Error::invalid("propertyIds: send either propertyIds or allProperties: true")),
        }
    }

    fn is_all(&self) -> bool {
        matches!(self, Self::All)
    }

    fn named(&self) -> &[Uuid] {
        match self {
            Self::All => &[],
            Self::Named(ids) => ids,
        }
    }

    /// Stores the named properties of a grant that names none yet.
    async fn insert(&self, tx: &Transaction, grant_id: Uuid) -> Result<(), Error> {
        let covered =
            |property: &Uuid| team_grant_property::ActiveModel { grant_id: Set(grant_id), property_id: Set(*property) };
        insert_all(tx, self.named().iter().map(covered).collect()).await
    }
}

/// Deletes a grant that the person made or received, and revokes the share links made under it. Takes effect from the next request.
pub async fn remove(change: &MemberChange, id: Uuid) -> Result<(), Error> {
    // The person's row comes first in every transaction that also locks a grant.
    let user = &change.lock().await?;
    // A share link in the making holds a lock on its grant. Once the grant is locked here, the link exists and can be revoked.
    let row = Entity::find_by_id(id).filter(theirs(user, change.now)).lock(LockType::Update).one(change.tx()).await?;
    let row = row.ok_or(Error::NotFound)?;
    change.check(&state(&row))?;
    let event = noted(change, AuditAction::GrantRemoved, &row);
    row.delete(change.tx()).await?;
    change.note(event).await?;
    Ok(sharing::revoke_made_under(change.tx(), id, &[], change.now).await?)
}

/// An event about a grant, in the trail of the owner who made it.
fn noted(change: &MemberChange, action: AuditAction, grant: &team_grant::Model) -> Event {
    let role = match grant.role {
        team_grant::Role::Viewer => "viewer",
        team_grant::Role::Editor => "editor",
        team_grant::Role::Admin => "admin",
    };
    Event::new(grant.owner_id, change.by.user.id, action).whom(&grant.email).role(role)
}

/// Ends every grant that a person made, known by their subject alone, and revokes the share links made under them.
pub async fn end_made_by(tx: &Transaction, subject: &str, now: DateTime<Utc>) -> Result<(), DbErr> {
    let owners = user::Entity::find().select_only().column(user::Column::Id).filter(user::Column::Subject.eq(subject));
    let made = Entity::find().filter(Column::OwnerId.in_subquery(owners.into_query()));
    // As in `remove`: a share link in the making holds a lock on its grant.
    for row in made.lock(LockType::Update).all(tx).await? {
        let id = row.id;
        row.delete(tx).await?;
        sharing::revoke_made_under(tx, id, &[], now).await?;
    }
    Ok(())
}

/// Records the first use of a grant, which counts as accepting it. Later uses change nothing.
pub async fn note_use(db: &DatabaseConnection, id: Uuid, now: DateTime<Utc>) -> Result<(), Error> {
    Entity::update_many()
        .set(team_grant::ActiveModel { accepted_at: Set(Some(now)), ..Default::default() })
        .filter(Column::Id.eq(id))
        .filter(Column::AcceptedAt.is_null())
        .exec(db)
        .await?;
    Ok(())
}

/// Fails if the owner's plan does not include a team.
fn require_team(config: &Config, owner: &user::Model, now: DateTime<Utc>) -> Result<(), Error> {
    Entitlement::of(config, owner, now).require(Feature::Team, || Responsible::Caller)
}

/// Converts a grant to an API grant, for its owner.
async fn as_made(db: &impl ConnectionTrait, row: team_grant::Model) -> Result<TeamGrant, Error> {
    let mut named = named_in(db, std::slice::from_ref(&row)).await?;
    Ok(to_api(row, &mut named))
}

/// Returns the properties that grants name, by grant.
async fn named_in(db: &impl ConnectionTrait, rows: &[team_grant::Model]) -> Result<HashMap<Uuid, Vec<Uuid>>, Error> {
    Ok(by_grant(team_grant_property::Entity::of_grants(rows.iter().map(|row| row.id)).all(db).await?))
}

fn by_grant(rows: Vec<team_grant_property::Model>) -> HashMap<Uuid, Vec<Uuid>> {
    let mut named: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
    for row in rows {
        named.entry(row.grant_id).or_default().push(row.property_id);
    }
    named
}

/// Returns the state that `If-Match` covers. It excludes whether the grant has been used.
fn state(row: &team_grant::Model) -> team_grant::Model {
    team_grant::Model { accepted_at: None, ..row.clone() }
}

fn to_api(row: team_grant::Model, named: &mut HashMap<Uuid, Vec<Uuid>>) -> TeamGrant {
    let mut property_ids = named.remove(&row.id).unwrap_or_default();
    property_ids.sort_unstable();
    TeamGrant {
        id: row.id,
        etag: etag(&state(&row)),
        email: row.email,
        role: granted(row.role),
        status: if row.accepted_at.is_some() { GrantStatus::Active } else { GrantStatus::Pending },
        all_properties: row.all_properties,
        property_ids,
        owner_name: None,
        owner_email: None,
        accepted_at: row.accepted_at.map(Into::into),
        created_at: row.created_at.into(),
        updated_at: row.updated_at.into(),
    }
}

fn stored(role: GrantRole) -> team_grant::Role {
    match role {
        GrantRole::Viewer => team_grant::Role::Viewer,
        GrantRole::Editor => team_grant::Role::Editor,
        GrantRole::Admin => team_grant::Role::Admin,
    }
}

fn granted(role: team_grant::Role) -> GrantRole {
    match role {
        team_grant::Role::Viewer => GrantRole::Viewer,
        team_grant::Role::Editor => GrantRole::Editor,
        team_grant::Role::Admin => GrantRole::Admin,
    }
}
