//! Team grants: an owner lets the holder of an e-mail address see properties.

use std::collections::{HashMap, HashSet};

use api::team::{GrantRole, GrantStatus, InviteInput, TeamGrant};
use chrono::{DateTime, Utc};
use entity::{
    property,
    team_grant::{self, Column, Entity},
    team_grant_property, user,
};
use sea_orm::{
    ActiveModelTrait, ActiveValue::Set, ColumnTrait, ConnectionTrait, EntityTrait, IntoActiveModel, ModelTrait,
    QueryFilter,
};
use uuid::Uuid;

use super::{
    plans::{Entitlement, Feature},
    records::{IfMatch, check_room, etag, found, hold_user, insert_all, trimmed},
};
use crate::{config::Config, error::Error};

/// The most grants of a person.
const MOST: u64 = 500;

/// The grants that a person made, by address.
pub async fn list(db: &impl ConnectionTrait, owner_id: Uuid) -> Result<Vec<TeamGrant>, Error> {
    let mut rows = Entity::of_owner(owner_id).all(db).await?;
    rows.sort_by(|a, b| (&a.email_key, a.id).cmp(&(&b.email_key, b.id)));
    wire(db, rows).await
}

/// Grants the holder of an address access to named properties or to all.
pub async fn invite(
    transaction: &impl ConnectionTrait,
    config: &Config,
    owner_id: Uuid,
    input: InviteInput,
    (id, now): (Uuid, DateTime<Utc>),
) -> Result<TeamGrant, Error> {
    let owner = allowed(transaction, config, owner_id, now).await?;
    let (named, all_properties) = match (input.property_ids, input.all_properties) {
        (Some(ids), None | Some(false)) => (ids, false),
        (None, Some(true)) => (Vec::new(), true),
        _ => return Err(Error::invalid("propertyIds: send either propertyIds or allProperties: true")),
    };
    let email_key = entity::email_key(&input.email);
    if owner.email_key.as_deref() == Some(email_key.as_str()) {
        return Err(Error::invalid("email: is your own address; invite somebody else"));
    }
    let same = Entity::find().filter(Column::OwnerId.eq(owner_id)).filter(Column::EmailKey.eq(&email_key));
    if same.one(transaction).await?.is_some() {
        return Err(Error::invalid("email: has a grant already; change its role, or remove it first"));
    }
    check_room(transaction, Entity::of_owner(owner_id), MOST, "grants").await?;
    check_own(transaction, owner_id, &named).await?;
    let row = team_grant::ActiveModel {
        id: Set(id),
        owner_id: Set(owner_id),
        email: Set(trimmed(&input.email)),
        email_key: Set(email_key),
        role: Set(stored(input.role)),
        all_properties: Set(all_properties),
        accepted_at: Set(None),
        created_at: Set(now),
        updated_at: Set(now),
    };
    let row = row.insert(transaction).await?;
    let covered = |property| team_grant_property::ActiveModel { grant_id: Set(id), property_id: Set(property) };
    insert_all(transaction, named.into_iter().map(covered).collect()).await?;
    one(transaction, row).await
}

/// Changes what a grant allows, from the next request on.
pub async fn change_role(
    transaction: &impl ConnectionTrait,
    config: &Config,
    owner_id: Uuid,
    (id, if_match): (Uuid, &IfMatch),
    role: GrantRole,
    now: DateTime<Utc>,
) -> Result<TeamGrant, Error> {
    allowed(transaction, config, owner_id, now).await?;
    let mut row = found(transaction, Entity::one_of_owner(owner_id, id), if_match).await?.into_active_model();
    row.role = Set(stored(role));
    row.updated_at = Set(now);
    one(transaction, row.update(transaction).await?).await
}

/// Revokes a grant, from the next request on.
pub async fn remove(
    transaction: &impl ConnectionTrait,
    owner_id: Uuid,
    (id, if_match): (Uuid, &IfMatch),
) -> Result<(), Error> {
    hold_user(transaction, owner_id).await?;
    found(transaction, Entity::one_of_owner(owner_id, id), if_match).await?.delete(transaction).await?;
    Ok(())
}

/// The owner, whose plan must include a team.
async fn allowed(
    transaction: &impl ConnectionTrait,
    config: &Config,
    owner_id: Uuid,
    now: DateTime<Utc>,
) -> Result<user::Model, Error> {
    let owner = hold_user(transaction, owner_id).await?;
    Entitlement::of(config, &owner, now).require(Feature::Team, false)?;
    Ok(owner)
}

async fn check_own(db: &impl ConnectionTrait, owner_id: Uuid, named: &[Uuid]) -> Result<(), Error> {
    let own: HashSet<Uuid> =
        property::Entity::of_owner(owner_id).all(db).await?.into_iter().map(|property| property.id).collect();
    Error::check_named("propertyIds", named, &own, "your own properties")
}

async fn one(db: &impl ConnectionTrait, row: team_grant::Model) -> Result<TeamGrant, Error> {
    wire(db, vec![row]).await?.pop().ok_or_else(|| Error::internal("a grant was not found again"))
}

async fn wire(db: &impl ConnectionTrait, rows: Vec<team_grant::Model>) -> Result<Vec<TeamGrant>, Error> {
    let mut named: HashMap<Uuid, Vec<Uuid>> = HashMap::new();
    for row in team_grant_property::Entity::of_grants(rows.iter().map(|row| row.id)).all(db).await? {
        named.entry(row.grant_id).or_default().push(row.property_id);
    }
    let addresses = rows.iter().map(|row| row.email_key.clone());
    let holders = user::Entity::find()
        .filter(user::Column::EmailVerified.eq(true))
        .filter(user::Column::EmailKey.is_in(addresses))
        .all(db)
        .await?;
    let mut since: HashMap<String, DateTime<Utc>> = HashMap::new();
    for holder in holders {
        if let Some(key) = holder.email_key {
            let first = since.entry(key).or_insert(holder.created_at);
            *first = holder.created_at.min(*first);
        }
    }
    let grant = |row: team_grant::Model| {
        let accepted_at = since.get(&row.email_key).map(|since| row.created_at.max(*since));
        let mut property_ids = named.remove(&row.id).unwrap_or_default();
        property_ids.sort_unstable();
        TeamGrant {
            id: row.id,
            etag: etag(&row),
            email: row.email,
            role: shown(row.role),
            status: if accepted_at.is_some() { GrantStatus::Active } else { GrantStatus::Pending },
            all_properties: row.all_properties,
            property_ids,
            accepted_at,
            created_at: row.created_at,
            updated_at: row.updated_at,
        }
    };
    Ok(rows.into_iter().map(grant).collect())
}

fn stored(role: GrantRole) -> team_grant::Role {
    match role {
        GrantRole::Viewer => team_grant::Role::Viewer,
        GrantRole::Editor => team_grant::Role::Editor,
        GrantRole::Admin => team_grant::Role::Admin,
    }
}

fn shown(role: team_grant::Role) -> GrantRole {
    match role {
        team_grant::Role::Viewer => GrantRole::Viewer,
        team_grant::Role::Editor => GrantRole::Editor,
        team_grant::Role::Admin => GrantRole::Admin,
    }
}
