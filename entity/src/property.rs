//! Properties: sites found in a search account.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;
use sea_orm::sea_query::{Func, Query, SelectStatement};
use sea_orm::{ExprTrait, FromQueryResult, QueryOrder, QuerySelect, SelectModel, Selector};
use serde::Serialize;

/// One row of `property`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Serialize)]
#[sea_orm(table_name = "property")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The search account it was found in.
    pub account_id: Uuid,
    /// Its owner: who connected that account.
    pub user_id: Uuid,
    /// The site's name at the search engine, byte for byte (`https://…/` or `sc-domain:…`).
    #[sea_orm(column_type = "Text")]
    pub site_url: String,
    /// The account's permission on the site, as the search engine spells it.
    pub permission_level: String,
    /// Whether the owner selected it.
    pub tracked: bool,
    /// Since when it is tracked without a break; none while it is not.
    pub tracked_at: Option<DateTimeUtc>,
    /// Since when the account no longer lists it.
    pub lost_at: Option<DateTimeUtc>,
    /// When the row was made.
    pub created_at: DateTimeUtc,
    /// When the row last changed.
    pub updated_at: DateTimeUtc,
}

/// The tables this one refers to.
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
    /// Everything a person owns, in order of site.
    #[must_use]
    pub fn of_owner(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id)).order_by_asc(Column::SiteUrl).order_by_asc(Column::Id)
    }

    /// What was found in one search account.
    #[must_use]
    pub fn of_account(account_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::AccountId.eq(account_id)).order_by_asc(Column::SiteUrl)
    }
}
