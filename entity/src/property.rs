//! Properties: sites found in a search account.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;
use serde::Serialize;

/// One row of `property`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Serialize)]
#[sea_orm(table_name = "property")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Id of the search account that reads it: one of those that list its site.
    pub account_id: Uuid,
    /// Id of its owner, the user who connected that account.
    pub user_id: Uuid,
    /// The search engine's identifier of the site, byte for byte (`https://…/` or `sc-domain:…`).
    #[sea_orm(column_type = "Text")]
    pub site_url: String,
    /// Permission of the account on the site, as the search engine spells it.
    pub permission_level: String,
    /// True if the owner tracks it.
    pub tracked: bool,
    /// Start of the unbroken time for which it has been tracked; `None` if it is not tracked.
    pub tracked_at: Option<DateTimeUtc>,
    /// Time since which no account lists it; `None` if one does.
    pub lost_at: Option<DateTimeUtc>,
    /// Creation time of the row.
    pub created_at: DateTimeUtc,
    /// Time of the row's last change.
    pub updated_at: DateTimeUtc,
}

/// Tables that this table refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The search account.
    #[sea_orm(
        belongs_to = "super::search_account::Entity",
        from = "Column::AccountId",
        to = "super::search_account::Column::Id"
    )]
    Account,
    /// The owner.
    #[sea_orm(belongs_to = "super::user::Entity", from = "Column::UserId", to = "super::user::Column::Id")]
    User,
}

impl Related<super::search_account::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Account.def()
    }
}

impl Related<super::user::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::User.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// All properties of a user, ordered by site.
    #[must_use]
    pub fn of_owner(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id)).order_by_asc(Column::SiteUrl).order_by_asc(Column::Id)
    }

    /// Properties that one search account reads, ordered by site.
    #[must_use]
    pub fn of_account(account_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::AccountId.eq(account_id)).order_by_asc(Column::SiteUrl)
    }
}
