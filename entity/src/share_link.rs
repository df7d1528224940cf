//! Share links: whoever holds the token reads the property's dashboard.

use sea_orm::entity::prelude::*;
use sea_orm::{Condition, QueryOrder};
use serde::Serialize;

/// One row of `share_link`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel, Serialize)]
#[sea_orm(table_name = "share_link")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// What is shown.
    pub property_id: Uuid,
    /// Who made it.
    pub created_by: Option<Uuid>,
    /// The grant that it was made under; none where the property's owner made it.
    pub grant_id: Option<Uuid>,
    /// A name to tell links apart.
    pub name: Option<String>,
    /// SHA-256 of the token; links are looked up by it.
    pub token_hash: Vec<u8>,
    /// The token, sealed, to show the link again.
    pub sealed_token: Vec<u8>,
    /// From when on it opens nothing.
    pub expires_at: Option<DateTimeUtc>,
    /// Since when it is revoked.
    pub revoked_at: Option<DateTimeUtc>,
    /// When the row was made.
    pub created_at: DateTimeUtc,
}

/// Relations are followed by id, explicitly.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// A property's links that open something at `now`, oldest first.
    #[must_use]
    pub fn active_of_property(property_id: Uuid, now: DateTimeUtc) -> Select<Self> {
        Self::find().filter(Column::PropertyId.eq(property_id)).filter(active(now)).order_by_asc(Column::Id)
    }

    /// One active link of a property.
    #[must_use]
    pub fn active_one_of_property(property_id: Uuid, id: Uuid, now: DateTimeUtc) -> Select<Self> {
        Self::find_by_id(id).filter(Column::PropertyId.eq(property_id)).filter(active(now))
    }

    /// The link that a token opens at `now`.
    #[must_use]
    pub fn opened_by(token_hash: &[u8], now: DateTimeUtc) -> Select<Self> {
        Self::find().filter(Column::TokenHash.eq(token_hash)).filter(active(now))
    }
}

fn active(now: DateTimeUtc) -> Condition {
    Condition::all()
        .add(Column::RevokedAt.is_null())
        .add(Condition::any().add(Column::ExpiresAt.is_null()).add(Column::ExpiresAt.gt(now)))
}
