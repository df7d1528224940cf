//! Properties: sites found in a search account.

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
    /// Id of the search account it was found in.
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
    /// Time since which the account no longer lists it; `None` if it does.
    pub lost_at: Option<DateTimeUtc>,
    /// Creation time of the row.
    pub created_at: DateTimeUtc,
    /// Time of the row's last change.
    pub updated_at: DateTimeUtc,
}

/// A tracked property, and its position among its owner's tracked properties.
#[derive(Clone, Debug, FromQueryResult)]
pub struct Tracked {
    /// The property.
    #[sea_orm(nested)]
    pub property: Model,
    /// Number of the owner's properties that have been tracked for longer.
    pub longer: i64,
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

    /// A property with its position, if it is tracked.
    #[must_use]
    pub fn tracked(id: Uuid) -> Selector<SelectModel<Tracked>> {
        let found = Self::find_by_id(id).filter(Column::Tracked.eq(true));
        found.expr_as(tracked_longer(), "longer").into_model()
    }

    /// Properties found in one search account, ordered by site.
    #[must_use]
    pub fn of_account(account_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::AccountId.eq(account_id)).order_by_asc(Column::SiteUrl)
    }
}

/// Counts the properties of the same owner that have been tracked for longer than the selected one. If two began at the
/// same time, the smaller id comes first.
fn tracked_longer() -> SelectStatement {
    let other = |column| Expr::col(("longer", column));
    let own = |column| Expr::col((Entity, column));
    let place = |of: &dyn Fn(Column) -> Expr| Expr::tuple([of(Column::TrackedAt), of(Column::Id)]);
    let mut count = Query::select();
    count
        .expr(Func::count(other(Column::Id)))
        .from_as(Entity, "longer")
        .and_where(other(Column::UserId).eq(own(Column::UserId)))
        .and_where(place(&other).lt(place(&own)));
    count
}
