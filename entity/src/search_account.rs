//! Search-engine accounts that people connected.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

/// One row of `search_account`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "search_account")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Who connected it, and so owns its properties.
    pub user_id: Uuid,
    /// The account's identifier at the search engine.
    pub subject: String,
    /// The account's e-mail there.
    pub email: Option<String>,
    /// Refresh token, sealed; none once disconnected.
    pub refresh_token: Option<Vec<u8>>,
    /// Whether the stored grant still works.
    pub status: Status,
    /// What the search engine last refused, in words fit for the owner.
    pub last_error: Option<String>,
    /// When the grant was given (the latest time).
    pub connected_at: DateTimeUtc,
    /// When its sites were last read.
    pub synced_at: Option<DateTimeUtc>,
    /// When the row last changed.
    pub updated_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Whether the search engine still honours the stored grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::None)", rename_all = "snake_case")]
pub enum Status {
    /// The grant works, as far as is known.
    Connected,
    /// The search engine refused the grant; only its owner can renew it.
    ReconnectRequired,
}

impl Entity {
    /// The accounts that a person connected, oldest first.
    #[must_use]
    pub fn of_user(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id)).order_by_asc(Column::Id)
    }

    /// One account of a person.
    #[must_use]
    pub fn one_of_user(user_id: Uuid, id: Uuid) -> Select<Self> {
        Self::find_by_id(id).filter(Column::UserId.eq(user_id))
    }
}
