//! Grants: an owner gives the holder of an e-mail address access to properties.

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
    /// Id of the owner who made the grant.
    pub owner_id: Uuid,
    /// The address, as the owner wrote it.
    pub email: String,
    /// The address folded for comparison ([`crate::email_key`]).
    pub email_key: String,
    /// Role that the grant gives.
    pub role: Role,
    /// True if it covers all of the owner's properties, including later ones. If false, it covers those in `team_grant_property`.
    pub all_properties: bool,
    /// Time when its holder first used it, if they did.
    pub accepted_at: Option<DateTimeUtc>,
    /// Creation time of the row.
    pub created_at: DateTimeUtc,
    /// Time of the row's last change.
    pub updated_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Role that a grant gives, lowest first.
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
    /// Grants that a user made, oldest first.
    #[must_use]
    pub fn of_owner(owner_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::OwnerId.eq(owner_id)).order_by_asc(Column::Id)
    }

    /// One grant that a user made.
    #[must_use]
    pub fn one_of_owner(owner_id: Uuid, id: Uuid) -> Select<Self> {
        Self::find_by_id(id).filter(Column::OwnerId.eq(owner_id))
    }

    /// Grants made to an address. The caller must have checked that the address is verified.
    #[must_use]
    pub fn to_email(email_key: &str) -> Select<Self> {
        Self::find().filter(Column::EmailKey.eq(email_key)).order_by_asc(Column::Id)
    }
}
