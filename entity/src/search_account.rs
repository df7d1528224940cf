//! Search-engine accounts that users connected.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

/// One row of `search_account`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "search_account")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Id of the user who connected it and so owns its properties.
    pub user_id: Uuid,
    /// The account's identifier at the search engine.
    pub subject: String,
    /// E-mail address of the account at the search engine.
    pub email: Option<String>,
    /// Refresh token, encrypted; `None` once disconnected.
    pub refresh_token: Option<Vec<u8>>,
    /// State of the stored grant.
    pub status: Status,
    /// Time since which it is no longer connected; `None` while it is.
    pub status_at: Option<DateTimeUtc>,
    /// The search engine's last refusal, in words for the owner.
    pub last_error: Option<String>,
    /// Time of the latest consent.
    pub connected_at: DateTimeUtc,
    /// Time when its sites were last read.
    pub synced_at: Option<DateTimeUtc>,
    /// Time of the row's last change.
    pub updated_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// State of the stored grant at the search engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::None)", rename_all = "snake_case")]
pub enum Status {
    /// The grant works, as far as known.
    Connected,
    /// The search engine refused the grant; only its owner can renew it.
    ReconnectRequired,
    /// The grant does not allow reading search data; only its owner can widen it.
    ScopeMissing,
    /// Its owner disconnected it here.
    Disconnected,
}

impl Entity {
    /// Search accounts of a user, oldest first.
    #[must_use]
    pub fn of_user(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id)).order_by_asc(Column::Id)
    }

    /// Connected search accounts of other users with the same identifier at the search engine.
    #[must_use]
    pub fn connected_by_others(user_id: Uuid, subject: &str) -> Select<Self> {
        Self::find()
            .filter(Column::Subject.eq(subject))
            .filter(Column::UserId.ne(user_id))
            .filter(Column::Status.eq(Status::Connected))
    }

    /// One search account of a user.
    #[must_use]
    pub fn one_of_user(user_id: Uuid, id: Uuid) -> Select<Self> {
        Self::find_by_id(id).filter(Column::UserId.eq(user_id))
    }
}
