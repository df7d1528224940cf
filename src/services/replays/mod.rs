//! Exactly-once writes: stores the response to an idempotency key and tells whether a request with the key is running.
//!
//! The response is stored in the transaction of the write, so neither exists without the other. A key in use is held by something
//! that ends with the process: an entry in memory and, on `PostgreSQL`, which several processes share, an advisory lock of the
//! transaction. A crash therefore frees the key at once, and no lease has to expire.

mod body_hash;

use chrono::{DateTime, TimeDelta, Utc};
use common::secrets::Secrets;
use entity::replay::{self, Column};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseBackend, DatabaseConnection, ExprTrait as _, FromQueryResult as _,
    PaginatorTrait as _, QueryFilter, Statement, Value,
    sea_query::{Expr, Func, OnConflict, Query, SelectStatement},
};
use sha2::{Digest as _, Sha256};
use store::{
    expired,
    resealing::{self, SealedColumn},
    transaction::Transaction,
    unit_of_work::UnitOfWork,
};
use uuid::Uuid;

use crate::error::Error;

pub use self::body_hash::BodyHashes;

/// The time for which a response is replayed.
const LIFETIME: TimeDelta = TimeDelta::hours(24);

/// The name of the table.
const TABLE: &str = "replay";

/// The columns that identify a key.
const KEY: [Column; 4] = [Column::UserId, Column::Method, Column::Path, Column::IdempotencyKey];

/// The maximum size of a stored body, in bytes.
pub const LARGEST_BODY: usize = 256 * 1024;

/// The maximum number of responses stored for a person.
const MAX_ROWS: i64 = 5_000;

/// The scope of a key. The same key of another person or on another path is a different key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The user who writes.
    pub user_id: Uuid,
    /// The HTTP method.
    pub method: String,
    /// The path, in lower case.
    pub path: String,
    /// The key as sent.
    pub key: String,
}

/// A stored response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The status.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: Option<String>,
    /// `Location`.
    pub location: Option<String>,
    /// `ETag`.
    pub etag: Option<String>,
    /// The version of the API in whose shape the body is.
    pub version: String,
    /// The body.
    pub body: Vec<u8>,
}

/// A response to be stored for the next request with its key.
#[derive(Debug)]
pub struct Replay {
    /// The id of its row.
    pub id: Uuid,
    /// The time of the response.
    pub now: DateTime<Utc>,
    /// The key.
    pub scope: Scope,
    /// The hash of the request's body, in the shape of the response's version.
    pub request_hash: Vec<u8>,
    /// The response.
    pub answer: Stored,
}

/// The stored state of a key that was used before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Known {
    /// The key was used with the same body, and this is the response.
    Answered(Stored),
    /// The key was used with another body.
    BodyMismatch,
}

/// The result of storing a response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreOutcome {
    /// The response is stored and will be replayed.
    Stored,
    /// The response is not stored, because the key already has one.
    KeyTaken,
    /// The response is not stored, because it is too large or the person's limit is reached.
    NoRoom,
}

impl Scope {
    fn digest(&self) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in
            [self.user_id.as_bytes().as_slice(), self.method.as_bytes(), self.path.as_bytes(), self.key.as_bytes()]
        {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// The state of a key at the start of a request.
#[derive(Debug, PartialEq, Eq)]
pub enum Start {
    /// The key is unused, and no other process can use it until the unit of work ends.
    Free,
    /// Another process is using the key.
    Locked,
    /// The key was used before.
    Known(Known),
}

/// Locks the key across all processes until the unit of work ends, and looks it up at `now` for a request whose body has one of
/// these hashes.
/// An expired response counts as none. `SQLite` serves a single process, so nothing is locked there: `db` is read and no
/// transaction begins.
///
/// On `PostgreSQL` one statement locks and looks up. It does not see a response that another process commits between the
/// statement's snapshot and its lock. In that case [`store()`] returns [`StoreOutcome::KeyTaken`].
pub async fn start(
    unit: &UnitOfWork,
    db: &impl ConnectionTrait,
    secrets: &Secrets,
    scope: &Scope,
    hashes: &BodyHashes,
    now: DateTime<Utc>,
) -> Result<Start, Error> {
    let row = if unit.backend() == DatabaseBackend::Postgres {
        let number = scope.digest().first_chunk().copied().map_or(0, i64::from_be_bytes);
        let key: [Value; 5] = [
            number.into(),
            scope.user_id.into(),
            scope.method.as_str().into(),
            scope.path.as_str().into(),
            scope.key.as_str().into(),
        ];
        let ask = Statement::from_sql_and_values(
            DatabaseBackend::Postgres,
            "SELECT pg_try_advisory_xact_lock($1) AS free, r.* FROM (SELECT 1) one LEFT JOIN replay r \
             ON r.user_id = $2 AND r.method = $3 AND r.path = $4 AND r.idempotency_key = $5",
            key,
        );
        let row = unit.transaction().await?.query_one_raw(ask).await?;
        let row = row.ok_or_else(|| Error::internal("a lock that is neither taken nor free"))?;
        if !row.try_get("", "free")? {
            return Ok(Start::Locked);
        }
        replay::Model::from_query_result_optional(&row, "")?
    } else {
        replay::Entity::to_key(scope.user_id, &scope.method, &scope.path, &scope.key).one(db).await?
    };
    let Some(row) = row.filter(|row| now < row.expires_at) else { return Ok(Start::Free) };
    if !hashes.include(&row.request_hash) {
        return Ok(Start::Known(Known::BodyMismatch));
    }
    let answer = Stored {
        status: u16::try_from(row.status).map_err(Error::internal)?,
        content_type: row.content_type,
        location: row.location,
        etag: row.etag,
        version: row.api_version,
        body: secrets.open(&row.body, &context(&row.id)).map_err(Error::internal)?,
    };
    Ok(Start::Known(Known::Answered(answer)))
}

/// Stores a response for replay, if the key has none and the person's responses stay within `max_bytes`. The body is sealed,
/// because a share link's response contains its token.
pub async fn store(
    unit: &UnitOfWork,
    secrets: &Secrets,
    replay: Replay,
    max_bytes: u64,
) -> Result<StoreOutcome, Error> {
    let tx: &Transaction = unit.transaction().await?;
    let Replay { id, now, scope, request_hash, answer } = replay;
    if answer.body.len() > LARGEST_BODY {
        return Ok(StoreOutcome::NoRoom);
    }
    let body = secrets.seal(&answer.body, &context(&id));
    let size = i32::try_from(body.len()).map_err(Error::internal)?;
    let free_bytes = i64::try_from(max_bytes).unwrap_or(i64::MAX) - i64::from(size);
    let room = Expr::exists(room_of(scope.user_id, now, free_bytes));
    let to_key = replay::Entity::to_key(scope.user_id, &scope.method, &scope.path, &scope.key);
    let row: [(Column, Expr); 15] = [
        (Column::Id, id.into()),
        (Column::UserId, scope.user_id.into()),
        (Column::Method, scope.method.into()),
        (Column::Path, scope.path.into()),
        (Column::IdempotencyKey, scope.key.into()),
        (Column::RequestHash, request_hash.into()),
        (Column::Status, i32::from(answer.status).into()),
        (Column::ContentType, answer.content_type.into()),
        (Column::Location, answer.location.into()),
        (Column::Etag, answer.etag.into()),
        (Column::Body, body.into()),
        (Column::Size, size.into()),
        (Column::ApiVersion, answer.version.into()),
        (Column::CreatedAt, now.into()),
        (Column::ExpiresAt, (now + LIFETIME).into()),
    ];
    let (columns, values): (Vec<_>, Vec<_>) = row.into_iter().unzip();
    let values = Query::select().exprs(values).and_where(room).take();
    let over_expired = OnConflict::columns(KEY)
        .update_columns(columns.clone())
        .action_and_where(Expr::col((replay::Entity, Column::ExpiresAt)).lte(now))
        .to_owned();
    let mut insert = Query::insert();
    insert.into_table(replay::Entity).columns(columns).select_from(values).map_err(Error::internal)?;
    insert.on_conflict(over_expired);
    if tx.execute(&insert).await?.rows_affected() > 0 {
        return Ok(StoreOutcome::Stored);
    }
    let taken = to_key.filter(Column::ExpiresAt.gt(now)).count(tx).await? > 0;
    Ok(if taken { StoreOutcome::KeyTaken } else { StoreOutcome::NoRoom })
}

/// Selects one row if a person has fewer responses than [`MAX_ROWS`] and they take at most `bytes`, otherwise none.
fn room_of(user_id: Uuid, now: DateTime<Utc>, bytes: i64) -> SelectStatement {
    let count: Expr = Func::count(Expr::col(Column::Size)).into();
    let taken: Expr = Func::coalesce([Expr::from(Func::sum(Expr::col(Column::Size))), Expr::val(0)]).into();
    Query::select()
        .expr(count.clone())
        .from(replay::Entity)
        .and_where(Column::UserId.eq(user_id))
        .and_where(Column::ExpiresAt.gt(now))
        .and_having(count.lt(MAX_ROWS))
        .and_having(taken.lte(bytes))
        .take()
}

/// Seals every response again that is not under the current secrets key. Returns their number.
pub async fn reseal(tx: &Transaction, secrets: &Secrets) -> Result<u64, Error> {
    let place = SealedColumn::<replay::Entity> { name: TABLE, id: Column::Id, sealed: Column::Body };
    Ok(resealing::reseal(tx, secrets, place, context).await?)
}

/// The row that a sealed body is bound to.
fn context(id: &Uuid) -> String {
    format!("{TABLE}/{id}")
}

/// Deletes expired responses.
pub async fn sweep(db: &DatabaseConnection, now: DateTime<Utc>) -> Result<u64, sea_orm::DbErr> {
    expired::delete::<replay::Entity>(db, replay::Column::Id, replay::Column::ExpiresAt.lte(now)).await
}

#[cfg(test)]
mod tests {
    use common::random::Random;
    use test_data::noon;

    use super::*;
    use crate::testing::World;

    #[tokio::test]
    async fn an_answer_that_is_stored_is_not_replaced() {
        let world = World::new().await;
        let scope = Scope { user_id: world.owner, method: "POST".into(), path: "/x".into(), key: "a".into() };
        let version = api::VERSION.to_owned();
        let answer = |status| Stored {
            status,
            content_type: None,
            location: None,
            etag: None,
            version: version.clone(),
            body: Vec::new(),
        };
        let (secrets, hashes) = (Secrets::new([7; 32], Random::seeded(1)), BodyHashes::of(&serde_json::Value::Null));
        let store_at = async |now, status| {
            let unit = UnitOfWork::new(&world.store);
            let (id, scope, request_hash) = (world.random.id(now), scope.clone(), hashes.clone().into_newest());
            let replay = Replay { id, now, scope, request_hash, answer: answer(status) };
            let stored = store(&unit, &secrets, replay, 1_000).await;
            unit.commit().await.unwrap();
            stored.unwrap()
        };
        for (status, outcome) in [(201, StoreOutcome::Stored), (202, StoreOutcome::KeyTaken)] {
            assert_eq!(store_at(noon(), status).await, outcome);
        }
        let at = async |now| {
            let unit = UnitOfWork::new(&world.store);
            let found = start(&unit, &world.db, &secrets, &scope, &hashes, now).await.unwrap();
            unit.roll_back().await.unwrap();
            found
        };
        assert_eq!(at(noon()).await, Start::Known(Known::Answered(answer(201))));

        let later = noon() + LIFETIME;
        assert_eq!(at(later).await, Start::Free, "it has expired");
        assert_eq!(store_at(later, 204).await, StoreOutcome::Stored);
        assert_eq!(at(later).await, Start::Known(Known::Answered(answer(204))));
    }
}
