//! What the service's own records have in common: tags of their state, limits of their number, names.

use entity::user;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, EntityTrait, PaginatorTrait, QueryFilter as _, QuerySelect, Select,
    sea_query::{Expr, Func, LockType},
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use uuid::Uuid;

use crate::{digest::opaque_tag_of, error::Error};

/// The most bytes that the texts or conditions of all records of a kind take together, on a property or of a person: 4 MiB.
const MAX_TOTAL_BYTES: u64 = 4 * 1024 * 1024;

/// Rows, or values to compare with, of one statement.
pub const AT_ONCE: usize = 1_000;

/// The values of `If-Match`; none where the header was not sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IfMatch(pub Vec<String>);

/// The strong tag of a record's state: 128 bits of the SHA-256 of everything that its row holds, as JSON.
#[must_use]
pub fn etag(row: &impl Serialize) -> String {
    let mut hash = Sha256::new();
    // A digest takes every byte, and no row has keys that JSON has not.
    let written = serde_json::to_writer(&mut hash, row);
    debug_assert!(written.is_ok(), "a row that is no JSON: {written:?}");
    format!("\"{}\"", opaque_tag_of(hash))
}

impl IfMatch {
    /// Refuses a change where the header was sent and does not name the state that `row` is in. Weak tags never match; a tag without
    /// its quotes is none.
    pub fn check(&self, row: &impl Serialize) -> Result<(), Error> {
        let current = etag(row);
        let named = |list: &String| list.split(',').map(str::trim).any(|tag| tag == "*" || tag == current);
        if self.0.is_empty() || self.0.iter().any(named) {
            Ok(())
        } else if self.0.iter().any(|list| !list.contains('"')) {
            Err(Error::invalid("If-Match: must be a tag with its quotes, as the ETag header has it, or *"))
        } else {
            Err(Error::PreconditionFailed)
        }
    }
}

/// The record that `one` finds, in the state that the caller means to change. Whoever changes it next waits only if the caller
/// holds what it belongs to.
pub async fn found<E>(transaction: &impl ConnectionTrait, one: Select<E>, if_match: &IfMatch) -> Result<E::Model, Error>
where
    E: EntityTrait,
    E::Model: Serialize,
{
    let row = one.one(transaction).await?.ok_or(Error::NotFound)?;
    if_match.check(&row)?;
    Ok(row)
}

/// Keeps others from changing what belongs to a person until the transaction ends, so that counts, names and places hold. Rows that
/// refer to the person can be written meanwhile. Of a property, [`super::access::PropertyAccess::hold`] does the same.
pub async fn hold_user(transaction: &impl ConnectionTrait, user_id: Uuid) -> Result<user::Model, Error> {
    user::Entity::find_by_id(user_id).lock(LockType::NoKeyUpdate).one(transaction).await?.ok_or(Error::NotFound)
}

/// Refuses one more of `existing` where there are `most`; `what` names them in the plural. Answers how many there are.
pub async fn check_room<E>(db: &impl ConnectionTrait, existing: Select<E>, most: u64, what: &str) -> Result<u64, Error>
where
    E: EntityTrait,
    E::Model: Send + Sync,
{
    let count = existing.count(db).await?;
    if count < most { Ok(count) } else { Err(too_many(count, most, what)) }
}

/// The refusal of one more of what there are `most` of.
#[must_use]
pub fn too_many(count: u64, most: u64, what: &str) -> Error {
    Error::invalid(format!("body: there are {count} {what}, and at most {most} are kept"))
}

/// Refuses a record where there are `most` `others` of its kind, or where the texts of all of them would take too many bytes together.
/// `column` holds the text, which is the body's `field` and takes `bytes`.
pub async fn check_room_and_bytes<E>(
    db: &impl ConnectionTrait,
    mut others: Select<E>,
    (column, field, bytes): (E::Column, &str, usize),
    (most, what): (u64, &str),
) -> Result<(), Error>
where
    E: EntityTrait,
{
    QuerySelect::query(&mut others).clear_order_by();
    let sum = Func::sum(Func::cust("octet_length").arg(column.into_expr()));
    let sum = Func::coalesce([Expr::from(sum), Expr::val(0)]);
    let counted = others.select_only().expr(Func::count(column.into_expr())).expr(sum);
    let (count, sum): (i64, i64) = counted.into_tuple().one(db).await?.unwrap_or_default();
    let (count, sum) = (u64::try_from(count).map_err(Error::internal)?, u64::try_from(sum).map_err(Error::internal)?);
    if count >= most {
        return Err(too_many(count, most, what));
    }
    let together = sum + bytes as u64;
    if together > MAX_TOTAL_BYTES {
        return Err(Error::invalid(format!(
            "{field}: with this, the {field} of all {what} would take {together} bytes, and at most {MAX_TOTAL_BYTES} (4 MiB) are \
             kept; shorten some or delete some"
        )));
    }
    Ok(())
}

/// Refuses a name that one of `others` has; they leave out the record that is to have it. `key` is the column of folded names.
pub async fn check_name<E>(
    db: &impl ConnectionTrait,
    others: Select<E>,
    key: impl ColumnTrait,
    name: &str,
) -> Result<(), Error>
where
    E: EntityTrait,
    E::Model: Send + Sync,
{
    if others.filter(key.eq(entity::key(name))).count(db).await? == 0 {
        Ok(())
    } else {
        Err(Error::invalid(format!("name: {name:?} is taken (ignoring case); choose another")))
    }
}

/// Inserts rows, so many with each statement that none has more parameters than a database takes.
pub async fn insert_all<A>(transaction: &impl ConnectionTrait, rows: Vec<A>) -> Result<(), Error>
where
    A: ActiveModelTrait + Clone,
{
    for rows in rows.chunks(AT_ONCE) {
        A::Entity::insert_many(rows.to_vec()).exec_without_returning(transaction).await?;
    }
    Ok(())
}

/// A name as it is kept.
#[must_use]
pub fn trimmed(name: &str) -> String {
    name.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row that is dear to print.
    #[derive(serde::Serialize)]
    struct Row(&'static str);

    impl std::fmt::Debug for Row {
        fn fmt(&self, _: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            panic!("printed")
        }
    }

    #[test]
    fn a_state_is_tagged_by_its_bytes_and_not_by_its_print() {
        assert_eq!(etag(&Row("a")), etag(&Row("a")));
        assert_ne!(etag(&Row("a")), etag(&Row("b")));
    }

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
