//! What the service's own records have in common: tags of their state, limits of their number, names.

use std::fmt::Debug;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use entity::{property, user};
use sea_orm::{ConnectionTrait, EntityTrait, PaginatorTrait, QuerySelect as _, Select, sea_query::LockType};
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use super::access::PropertyAccess;
use crate::error::Error;

/// The values of `If-Match`; none where the header was not sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IfMatch(pub Vec<String>);

/// The strong tag of a record's state: 128 bits of the SHA-256 of everything that its row holds.
#[must_use]
pub fn etag(row: &impl Debug) -> String {
    let digest = Sha256::digest(format!("{row:?}"));
    format!("\"{}\"", URL_SAFE_NO_PAD.encode(&digest[..16]))
}

impl IfMatch {
    /// Refuses a change where the header was sent and does not name the state that `row` is in. Weak tags never match.
    pub fn check(&self, row: &impl Debug) -> Result<(), Error> {
        let current = etag(row);
        let named = |list: &String| list.split(',').map(str::trim).any(|tag| tag == "*" || tag == current);
        if self.0.is_empty() || self.0.iter().any(named) { Ok(()) } else { Err(Error::PreconditionFailed) }
    }
}

/// Keeps others from changing what belongs to the property until the transaction ends, so that counts and names hold.
///
/// The lock lets rows that refer to the property be written meanwhile: a person's tags are, under a lock of that person, and two that
/// wait for each other would end in a deadlock.
pub async fn hold_property(transaction: &impl ConnectionTrait, access: &PropertyAccess) -> Result<Uuid, Error> {
    let id = access.property().id;
    property::Entity::find_by_id(id).lock(LockType::NoKeyUpdate).one(transaction).await?.ok_or(Error::NotFound)?;
    Ok(id)
}

/// The same for what belongs to a person.
pub async fn hold_user(transaction: &impl ConnectionTrait, user_id: Uuid) -> Result<user::Model, Error> {
    user::Entity::find_by_id(user_id).lock(LockType::NoKeyUpdate).one(transaction).await?.ok_or(Error::NotFound)
}

/// Refuses one more of `existing` where there are `most`; `what` names them in the plural.
pub async fn check_room<E>(db: &impl ConnectionTrait, existing: Select<E>, most: u64, what: &str) -> Result<(), Error>
where
    E: EntityTrait,
    E::Model: Send + Sync,
{
    let count = existing.count(db).await?;
    if count < most {
        Ok(())
    } else {
        Err(Error::invalid(format!("body: there are {count} {what}, and at most {most} are kept")))
    }
}

/// The refusal of a name that another record has.
#[must_use]
pub fn name_taken(name: &str) -> Error {
    Error::invalid(format!("name: {name:?} is taken, upper and lower case aside; choose another"))
}

/// A name as it is kept.
#[must_use]
pub fn trimmed(name: &str) -> String {
    name.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_let_through_where_the_state_is_the_one_that_was_read() {
        let row = ("a", 1);
        let sent = |values: &[&str]| IfMatch(values.iter().map(|value| (*value).to_owned()).collect());
        let current = etag(&row);
        for fits in [sent(&[]), sent(&["*"]), sent(&[&current]), sent(&["\"x\"", &format!("\"y\", {current}")])] {
            assert!(fits.check(&row).is_ok(), "{fits:?}");
        }
        for stale in [sent(&["\"x\""]), sent(&[&format!("W/{current}")]), sent(&[&etag(&("a", 2))]), sent(&[""])] {
            assert!(stale.check(&row).is_err(), "{stale:?}");
        }
    }
}
