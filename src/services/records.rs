//! What the service's own records have in common: tags of their state, limits of their number, names.

use entity::user;
use sea_orm::{
    ActiveModelTrait, ColumnTrait as _, ConnectionTrait, EntityTrait, QuerySelect, Select,
    sea_query::{Asterisk, Expr, Func, LockType},
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

/// The records beside one that is to be written: those of its kind, on the same property or of the same person. One statement reads
/// all that is asked of them.
#[derive(Debug, Clone, Copy)]
pub struct Others {
    /// How many there are.
    pub count: u64,
    bytes: u64,
    same_key: u64,
}

impl Others {
    /// Counts `others` and those with the folded `key`, and sums the bytes of the column `text`.
    pub async fn read<E: EntityTrait>(
        db: &impl ConnectionTrait,
        mut others: Select<E>,
        key: Option<(E::Column, String)>,
        text: Option<E::Column>,
    ) -> Result<Self, Error> {
        QuerySelect::query(&mut others).clear_order_by();
        let sum = |of: Expr| Func::coalesce([Expr::from(Func::sum(of)), Expr::val(0)]);
        let bytes = text.map_or_else(|| Expr::val(0), |text| Func::cust("octet_length").arg(text.into_expr()).into());
        let same_key =
            key.map_or_else(|| Expr::val(0), |(column, key)| Expr::case(column.eq(key), 1).finally(0).into());
        let counted = others.select_only().expr(Func::count(Expr::col(Asterisk))).expr(sum(bytes)).expr(sum(same_key));
        let (count, bytes, same_key): (i64, i64, i64) = counted.into_tuple().one(db).await?.unwrap_or_default();
        let unsigned = |number: i64| u64::try_from(number).map_err(Error::internal);
        Ok(Self { count: unsigned(count)?, bytes: unsigned(bytes)?, same_key: unsigned(same_key)? })
    }

    /// Refuses one more where there are `max`; `noun` names them in the plural.
    pub fn check_room(&self, (max, noun): (u64, &str)) -> Result<(), Error> {
        if self.count < max { Ok(()) } else { Err(too_many(self.count, max, noun)) }
    }

    /// Refuses a text of `bytes` in the body's `field` where all texts together would take too many.
    pub fn check_bytes(&self, field: &str, bytes: usize, noun: &str) -> Result<(), Error> {
        let together = self.bytes + bytes as u64;
        if together <= MAX_TOTAL_BYTES {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{field}: with this, the {field} of all {noun} would take {together} bytes, and at most {MAX_TOTAL_BYTES} (4 MiB) are \
             kept; shorten some or delete some"
        )))
    }

    /// Refuses a name that one of them has; they leave out the record that is to have it.
    pub fn check_name(&self, name: &str) -> Result<(), Error> {
        if self.same_key == 0 {
            Ok(())
        } else {
            Err(Error::invalid(format!("name: {name:?} is taken (ignoring case); choose another")))
        }
    }
}

/// The refusal of one more where there are `max`.
#[must_use]
pub fn too_many(count: u64, max: u64, noun: &str) -> Error {
    Error::invalid(format!("body: there are {count} {noun}, and at most {max} are kept"))
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
