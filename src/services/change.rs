//! Changes to the service's own records.
//!
//! A [`Change`] carries everything that a write needs beside its input. A [`Member`] authorises changes of the member's own
//! records, and a [`PropertyAccess`] changes of a property's records. The reader of a share link has neither.

use std::sync::Arc;

use chrono::{DateTime, Utc};
use common::{
    digest::opaque_tag_of,
    entity_tags::{as_sent, tags},
    plain_text::clean,
    random::Random,
};
use entity::user;
use sea_orm::{
    ActiveModelTrait, ColumnTrait as _, ConnectionTrait, DbBackend, EntityTrait, QuerySelect, Select,
    sea_query::{Asterisk, Expr, ExprTrait, Func},
};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use store::{transaction::Transaction, unit_of_work::UnitOfWork};
use uuid::Uuid;

use super::{
    access::PropertyAccess,
    audit::Event,
    users::{self, Member},
};
use crate::error::Error;

/// The maximum total size of the texts or conditions of one kind of record, per property or person: 4 MiB.
const MAX_TOTAL_BYTES: u64 = 4 * 1024 * 1024;

/// The maximum number of rows, or of values to compare with, in one statement.
pub const AT_ONCE: usize = 1_000;

/// The values of `If-Match`. Empty if the header was not sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IfMatch(pub Vec<String>);

/// Returns the strong `ETag` of a record: 128 bits of the SHA-256 of its row as JSON.
///
/// # Panics
/// The row has keys that JSON cannot represent. None has.
#[must_use]
pub fn etag(row: &impl Serialize) -> String {
    let mut hash = Sha256::new();
    // Writing to a digest cannot fail.
    let written = serde_json::to_writer(&mut hash, row);
    assert!(written.is_ok(), "a row that is not JSON: {written:?}");
    format!("\"{}\"", opaque_tag_of(hash))
}

impl IfMatch {
    /// Fails if the header was sent and does not name the current state of `row`. The part after a dot in a tag is not part of the state.
    /// Anything but a list of tags, or `*` alone, is invalid (RFC 9110 section 13.1.1).
    ///
    /// Proxies that compress answers make their tags weak or add a suffix, and clients send back what they got. The tag of a record is a
    /// digest of its state, so its value decides although RFC 9110 section 13.1.1 asks for a strong comparison.
    pub fn check(&self, row: &impl Serialize) -> Result<(), Error> {
        let current = etag(row);
        let is_current = |tag: &str| {
            let tag = as_sent(tag);
            tag == current || state_of(&tag).is_some_and(|tag| tag == current)
        };
        let list = self.0.join(",");
        if self.0.is_empty() || list.trim() == "*" {
            return Ok(());
        }
        let tags = tags(&list).ok_or_else(|| {
            Error::invalid("If-Match: must be the value of an ETag header with its quotes, several of them, or * alone")
        })?;
        if tags.into_iter().any(is_current) { Ok(()) } else { Err(Error::PreconditionFailed) }
    }
}

/// Returns the record's tag in the tag of an answer that shows more than the record's state.
fn state_of(tag: &str) -> Option<String> {
    let (state, _) = tag.strip_suffix('"')?.split_once('.')?;
    Some(format!("{state}\""))
}

/// One write: its author, transaction, precondition and time.
pub struct Change<By> {
    /// The caller, or the caller's access to the property.
    pub by: Arc<By>,
    /// The time of the change.
    pub now: DateTime<Utc>,
    tx: Arc<Transaction>,
    if_match: IfMatch,
    random: Random,
}

/// A change of a member's own records.
pub type MemberChange = Change<Member>;

/// A change of a property's records.
pub type PropertyChange = Change<PropertyAccess>;

/// A proof of the right to make a change.
pub trait Author: Send + Sync + 'static {}

impl Author for Member {}

impl Author for PropertyAccess {}

impl<By: Author> Change<By> {
    /// Begins a change within `unit`. Drop the change before committing `unit`.
    ///
    /// # Errors
    /// The database cannot begin a transaction.
    pub async fn begin(
        by: Arc<By>,
        unit: &UnitOfWork,
        if_match: IfMatch,
        now: DateTime<Utc>,
        random: Random,
    ) -> Result<Self, Error> {
        let tx = unit.transaction().await?.clone();
        Ok(Self { by, now, tx, if_match, random })
    }

    /// The transaction.
    #[must_use]
    pub fn tx(&self) -> &Transaction {
        &self.tx
    }

    /// Returns an id for a new record.
    #[must_use]
    pub fn new_id(&self) -> Uuid {
        self.random.id(self.now)
    }

    /// Notes the change in the audit trail.
    ///
    /// # Errors
    /// The database cannot answer.
    pub async fn note(&self, event: Event) -> Result<(), Error> {
        event.note(self.tx(), self.new_id(), self.now).await
    }

    /// Returns a secret of 256 bits for a new record.
    #[must_use]
    pub fn new_token(&self) -> String {
        self.random.token()
    }

    /// Returns the record that `one` finds, after checking `If-Match`. This does not lock the record. Concurrent changes wait only
    /// if the caller has locked the record's owner.
    ///
    /// # Errors
    /// [`Error::NotFound`], and the errors of [`Change::check`].
    pub async fn current<E>(&self, one: Select<E>) -> Result<E::Model, Error>
    where
        E: EntityTrait,
        E::Model: Serialize,
    {
        let row = one.one(self.tx()).await?.ok_or(Error::NotFound)?;
        self.check(&row)?;
        Ok(row)
    }

    /// Fails if `text` has no room among the `others`, which have their texts in `column`.
    ///
    /// # Errors
    /// [`Error::InvalidRequest`] names the field and the limit.
    pub async fn check_text<E: EntityTrait>(
        &self,
        others: Select<E>,
        column: E::Column,
        text: NewText,
        limit: Limit,
    ) -> Result<(), Error> {
        let others = Others::read(self.tx(), others, None, Some(column)).await?;
        if text.is_new {
            others.check_room(limit)?;
        }
        others.check_bytes(text.field, text.bytes, limit)
    }

    /// Fails if `If-Match` was sent and does not name `state`.
    ///
    /// # Errors
    /// [`Error::PreconditionFailed`], or [`Error::InvalidRequest`] if the header contains no valid tag.
    pub fn check(&self, state: &impl Serialize) -> Result<(), Error> {
        self.if_match.check(state)
    }
}

impl MemberChange {
    /// Locks the member with [`users::lock`]. Returns the member's current record.
    ///
    /// # Errors
    /// [`Error::CallerGone`] if the record no longer exists.
    pub async fn lock(&self) -> Result<user::Model, Error> {
        users::lock(self.tx(), self.by.user.id).await.map_err(|error| match error {
            Error::NotFound => Error::CallerGone,
            error => error,
        })
    }
}

impl PropertyChange {
    /// Locks the property and re-checks access with [`PropertyAccess::lock`]. Returns the property's id.
    ///
    /// # Errors
    /// The errors of [`PropertyAccess::lock`].
    pub async fn lock(&self) -> Result<Uuid, Error> {
        self.by.lock(self.tx()).await
    }
}

/// The maximum number of records of a kind, per property or person.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// The maximum number.
    pub max: u64,
    /// The plural name of the records, for hints.
    pub noun: &'static str,
}

/// The text of a record to be written.
#[derive(Debug, Clone, Copy)]
pub struct NewText {
    /// The field of the body, for hints.
    pub field: &'static str,
    /// Its length.
    pub bytes: usize,
    /// True if the record is new, false if the text replaces another.
    pub is_new: bool,
}

/// Statistics on the other records of the same kind, property and person, read in one statement.
#[derive(Debug, Clone, Copy)]
pub struct Others {
    /// The number of records.
    pub count: u64,
    bytes: u64,
    same_key: u64,
}

impl Others {
    /// Counts `others` and those with the `same_key`, and sums the bytes of the column `text`.
    pub async fn read<E: EntityTrait>(
        db: &impl ConnectionTrait,
        mut others: Select<E>,
        same_key: Option<Expr>,
        text: Option<E::Column>,
    ) -> Result<Self, Error> {
        QuerySelect::query(&mut others).clear_order_by();
        let sum = |of: Expr| Func::coalesce([Expr::from(Func::sum(of)), Expr::val(0)]);
        let bytes = text.map_or_else(|| Expr::val(0), |text| bytes_of(db.get_database_backend(), text.into_expr()));
        let same_key = same_key.map_or_else(|| Expr::val(0), |same_key| Expr::case(same_key, 1).finally(0).into());
        let counted = others.select_only().expr(Func::count(Expr::col(Asterisk))).expr(sum(bytes)).expr(sum(same_key));
        let (count, bytes, same_key): (i64, i64, i64) = counted.into_tuple().one(db).await?.unwrap_or_default();
        let unsigned = |number: i64| u64::try_from(number).map_err(Error::internal);
        Ok(Self { count: unsigned(count)?, bytes: unsigned(bytes)?, same_key: unsigned(same_key)? })
    }

    /// Fails if the number of records has reached the limit.
    pub fn check_room(&self, limit: Limit) -> Result<(), Error> {
        let (count, Limit { max, noun }) = (self.count, limit);
        if count < max {
            Ok(())
        } else {
            Err(Error::invalid(format!("body: there are {count} {noun}, and at most {max} are kept")))
        }
    }

    /// Fails if a text of `bytes` in the body's `field` would exceed the total size.
    pub fn check_bytes(&self, field: &str, bytes: usize, limit: Limit) -> Result<(), Error> {
        let (together, noun) = (self.bytes + bytes as u64, limit.noun);
        if together <= MAX_TOTAL_BYTES {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "{field}: with this, the {field} of all {noun} would take {together} bytes, and at most {MAX_TOTAL_BYTES} (4 MiB) are \
             kept; shorten some or delete some"
        )))
    }

    /// Fails if another record has the name. The record to be named must not be counted.
    pub fn check_name(&self, name: &str) -> Result<(), Error> {
        if self.same_key == 0 {
            Ok(())
        } else {
            Err(Error::invalid(format!("name: \"{name}\" is taken (ignoring case); choose another")))
        }
    }
}

/// The length of a text in bytes, as the index of annotations has it. `SQLite` has `octet_length` since version 3.43 only.
fn bytes_of(backend: DbBackend, text: Expr) -> Expr {
    if backend == DbBackend::Sqlite {
        return Func::cust("length").arg(ExprTrait::cast_as(text, "BLOB")).into();
    }
    Func::cust("octet_length").arg(text).into()
}

/// Inserts rows. Splits them into statements that stay below the database's limit of parameters.
pub async fn insert_all<A>(tx: &Transaction, rows: Vec<A>) -> Result<(), Error>
where
    A: ActiveModelTrait + Clone,
{
    for rows in rows.chunks(AT_ONCE) {
        A::Entity::insert_many(rows.to_vec()).exec_without_returning(tx).await?;
    }
    Ok(())
}

/// Returns the name as it is stored: without characters that nobody sees, and without surrounding white space.
#[must_use]
pub fn trimmed(name: &str) -> String {
    clean(name).trim().to_owned()
}

/// Returns the key by which names are compared.
#[must_use]
pub fn name_key(name: &str) -> String {
    entity::key(&clean(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row that is expensive to serialise.
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
        let shown = format!("{}.shown\"", current.trim_end_matches('"'));
        assert!(sent(&[&shown]).check(&row).is_ok(), "the tag of an answer names the state of its record");
        let other = format!("{}.shown\"", etag(&("a", 2)).trim_end_matches('"'));
        assert!(sent(&[&other]).check(&row).is_err());
        let opaque = current.trim_matches('"');
        for coded in ["W/\"{}\"", "\"{}-gzip\"", "W/\"{}-gzip\"", "\"{}--gzip\"", "\"{};br\"", "\"{}.shown-gzip\""] {
            assert!(
                sent(&[&coded.replace("{}", opaque)]).check(&row).is_ok(),
                "{coded}: a proxy compressed the answer"
            );
        }
        for stale in [
            sent(&["\"x\""]),
            sent(&["W/\"x\""]),
            sent(&["\"x-gzip\""]),
            sent(&[&etag(&("a", 2))]),
            sent(&["\"x\"", "\"y,z\""]),
        ] {
            assert!(matches!(stale.check(&row), Err(Error::PreconditionFailed)), "{stale:?}");
        }
        let lists = ["", "W/*", "*, \"x\"", "*, *", "x", "\"x\", x", "\"x", "x\"", "w/\"x\"", "\"x\" \"y\"", "\"x y\""];
        for malformed in lists.map(|list| sent(&[list])).into_iter().chain([sent(&["*", &current])]) {
            let refusal = malformed.check(&row);
            let is_named =
                matches!(&refusal, Err(Error::InvalidRequest { hint }) if hint.starts_with("If-Match: must be "));
            assert!(is_named, "{malformed:?}: {refusal:?}");
        }
    }
}
