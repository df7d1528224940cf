//! Grants: an owner lets the holder of an e-mail address see properties.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;
use serde::Serialize;

/// One row of `team_grant`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Serialize)]
#[sea_orm(table_name = "team_grant")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Who granted.
    pub owner_id: Uuid,
    /// The address as it was written.
    pub email: String,
    /// The address folded for comparison ([`crate::email_key`]).
    pub email_key: String,
    /// What the holder may do.
    pub role: Role,
    /// Whether it covers all of the owner's properties, also later ones; otherwise those in `team_grant_property`.
    pub all_properties: bool,
    /// When its holder first used it.
    pub accepted_at: Option<DateTimeUtc>,
    /// When the row was made.
    pub created_at: DateTimeUtc,
    /// When the row last changed.
    pub updated_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// What a grant allows, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, EnumIter, DeriveActiveEnum, Serialize)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::None)", rename_all = "snake_case")]
pub enum Role {
    /// Reads.
    Viewer,
    /// Also writes annotations, segments, clusters and branded keywords.
    Editor,
    /// Also manages share links.
    Admin,
}

impl Entity {
    /// The grants a person made, oldest first.
    #[must_use]
    pub fn of_owner(owner_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::OwnerId.eq(owner_id)).order_by_asc(Column::Id)
    }

    /// One grant of a person.
    #[must_use]
    pub fn one_of_owner(owner_id: Uuid, id: Uuid) -> Select<Self> {
        Self::find_by_id(id).filter(Column::OwnerId.eq(owner_id))
    }

    /// The grants made to an address; the caller proves that it is verified.
    #[must_use]
    pub fn to_email(email_key: &str) -> Select<Self> {
        Self::find().filter(Column::EmailKey.eq(email_key)).order_by_asc(Column::Id)
    }
}
