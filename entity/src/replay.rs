//! Replays: stored responses to writes with an idempotency key.

use sea_orm::entity::prelude::*;

/// One row of `replay`. A key belongs to a user, a method and a path, and is compared byte for byte.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "replay")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Id of the user who sent the request.
    pub user_id: Uuid,
    /// The HTTP method of the request.
    pub method: String,
    /// The path of the request.
    pub path: String,
    /// The key, as it was sent.
    pub idempotency_key: String,
    /// SHA-256 of the request's JSON value, in the shape of `api_version`.
    pub request_hash: Vec<u8>,
    /// HTTP status of the response.
    pub status: i32,
    /// `Content-Type` of the response.
    pub content_type: Option<String>,
    /// `Location` of the response.
    pub location: Option<String>,
    /// `ETag` of the response.
    pub etag: Option<String>,
    /// Body of the response, encrypted.
    pub body: Vec<u8>,
    /// Size of the encrypted body, in bytes.
    pub size: i32,
    /// Version of the API in whose shape the response is.
    pub api_version: String,
    /// Time of the response.
    pub created_at: DateTimeUtc,
    /// Time from which the key counts as new.
    pub expires_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// The response stored for a key.
    #[must_use]
    pub fn to_key(user_id: Uuid, method: &str, path: &str, idempotency_key: &str) -> Select<Self> {
        Self::find()
            .filter(Column::UserId.eq(user_id))
            .filter(Column::Method.eq(method))
            .filter(Column::Path.eq(path))
            .filter(Column::IdempotencyKey.eq(idempotency_key))
    }
}
