//! The search accounts that list each property's site.

use sea_orm::entity::prelude::*;

/// One row of `property_account`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "property_account")]
pub struct Model {
    /// Id of the property.
    #[sea_orm(primary_key, auto_increment = false)]
    pub property_id: Uuid,
    /// Id of the search account.
    #[sea_orm(primary_key, auto_increment = false)]
    pub account_id: Uuid,
    /// Permission of the account on the site, as the search engine spells it.
    pub permission_level: String,
    /// Time since which the account no longer lists the site; `None` if it does.
    pub lost_at: Option<DateTimeUtc>,
}

/// Tables that this table refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The property.
    #[sea_orm(belongs_to = "super::property::Entity", from = "Column::PropertyId", to = "super::property::Column::Id")]
    Property,
}

impl Related<super::property::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Property.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// All listings of a user's properties.
    #[must_use]
    pub fn of_owner(user_id: Uuid) -> Select<Self> {
        Self::find().inner_join(super::property::Entity).filter(super::property::Column::UserId.eq(user_id))
    }

    /// The listings of one search account.
    #[must_use]
    pub fn of_account(account_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::AccountId.eq(account_id))
    }
}
