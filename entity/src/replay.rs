//! Replays: answers to writes with an idempotency key.

use sea_orm::entity::prelude::*;

/// One row of `replay`. A key belongs to a person, a method and a path, and is compared byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "replay")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Who wrote.
    pub user_id: Uuid,
    /// The HTTP method.
    pub method: String,
    /// The path as it was asked for.
    pub path: String,
    /// The key as it was sent.
    pub idempotency_key: String,
    /// SHA-256 of the request's JSON value.
    pub request_hash: Vec<u8>,
    /// The status of the answer.
    pub status: i32,
    /// Its `Content-Type`.
    pub content_type: Option<String>,
    /// Its `Location`.
    pub location: Option<String>,
    /// Its `ETag`.
    pub etag: Option<String>,
    /// Its body, sealed.
    pub body: Vec<u8>,
    /// How many bytes that takes.
    pub size: i32,
    /// When it was given.
    pub created_at: DateTimeUtc,
    /// From when on the key is a new one.
    pub expires_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// The answer that was given to a key.
    #[must_use]
    pub fn to_key(user_id: Uuid, method: &str, path: &str, idempotency_key: &str) -> Select<Self> {
        Self::find()
            .filter(Column::UserId.eq(user_id))
            .filter(Column::Method.eq(method))
            .filter(Column::Path.eq(path))
            .filter(Column::IdempotencyKey.eq(idempotency_key))
    }
}
