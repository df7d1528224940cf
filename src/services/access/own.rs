//! The properties that a body names, which must be the caller's own.

use std::collections::HashSet;

use api::models::Role;
use chrono::{DateTime, Utc};
use entity::{property, user};
use sea_orm::ConnectionTrait;
use serde_json::Value;
use uuid::Uuid;

use super::{is_member, parse_id};
use crate::error::Error;

/// The fields of bodies that name properties of the caller.
const FIELDS: [&str; 3] = ["propertyIds", "add", "remove"];

/// Returns the properties that a body names, by field, as far as it can be read.
#[must_use]
pub fn named(body: &Value) -> Vec<(&'static str, Vec<Uuid>)> {
    let ids = |field: &str| body[field].as_array().into_iter().flatten().map_while(|id| parse_id(id.as_str()?));
    FIELDS.into_iter().map(|field| (field, ids(field).collect())).collect()
}

/// Checks that a person owns every property of `named`, fields of a body with their values.
///
/// # Errors
/// The errors of `check_known`.
pub async fn check_own(
    db: &impl ConnectionTrait,
    person: &user::Model,
    named: &[(&str, &[Uuid])],
    now: DateTime<Utc>,
) -> Result<(), Error> {
    if named.iter().all(|(_, ids)| ids.is_empty()) {
        return Ok(());
    }
    let own = property::Entity::of_owner(person.id).all(db).await?;
    let own: HashSet<Uuid> = own.into_iter().map(|property| property.id).collect();
    for (field, ids) in named {
        check_known(db, person, (*field, *ids), &own, now).await?;
    }
    Ok(())
}

/// Checks that every property of `named` is in `own`, the person's own properties.
///
/// # Errors
/// [`Error::RoleTooLow`] for a property that the person sees as a member, and [`Error::NoSuch`] for every other one.
pub(in crate::services) async fn check_known(
    db: &impl ConnectionTrait,
    person: &user::Model,
    (field, named): (&str, &[Uuid]),
    own: &HashSet<Uuid>,
    now: DateTime<Utc>,
) -> Result<(), Error> {
    if let Some(index) = named.iter().position(|id| !own.contains(id))
        && is_member(db, person, named[index], now).await?
    {
        return Err(Error::RoleTooLow { needed: Role::Owner, at: Some(format!("{field}[{index}]")) });
    }
    Error::check_named(field, named, own, "your properties")
}
