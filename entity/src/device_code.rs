//! Device codes of the embedded issuer, stored by hash: a machine without a browser asks, and a person decides in a browser elsewhere.

use sea_orm::entity::prelude::*;

/// One device code. It is deleted when it is redeemed.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "device_code")]
pub struct Model {
    /// SHA-256 of the device code, lower-case hex.
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// A keyed hash of the code that the person types.
    pub user_code: String,
    /// Id of the client that asks. No other client can redeem the code.
    #[sea_orm(column_type = "Text")]
    pub client_id: String,
    /// Scopes that it asks for, separated by spaces.
    pub scope: String,
    /// Resources that it asks for, a JSON array; empty means all.
    #[sea_orm(column_type = "Text")]
    pub resources: String,
    /// Address that it asks from, until a person has decided.
    #[sea_orm(column_type = "Text", nullable)]
    pub asked_from: Option<String>,
    /// Time of the request.
    pub created_at: DateTimeUtc,
    /// Expiry time of both codes.
    pub expires_at: DateTimeUtc,
    /// Seconds that the client must wait between two polls.
    pub interval_seconds: i32,
    /// Time of the next poll that is not too early.
    pub next_poll_at: DateTimeUtc,
    /// Id of the grant, if a person has allowed it.
    pub grant_id: Option<Uuid>,
    /// Time when a person denied it, if one did.
    pub denied_at: Option<DateTimeUtc>,
}

/// No declared relations: finders select by a hash.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
