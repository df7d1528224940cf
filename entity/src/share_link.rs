//! Share links: anyone with the token can read the property's dashboard.

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
    /// Id of the shared property.
    pub property_id: Uuid,
    /// Id of the user who made it; `None` once that user is deleted.
    pub created_by: Option<Uuid>,
    /// Id of the grant that it was made under; `None` if the property's owner made it.
    pub grant_id: Option<Uuid>,
    /// Name that tells links apart.
    pub name: Option<String>,
    /// SHA-256 of the token, used to look up the link.
    pub token_hash: Vec<u8>,
    /// The token, encrypted, so that the link can be shown again.
    pub sealed_token: Vec<u8>,
    /// First of the days that its readers see, if it is bound to some.
    pub first_day: Option<Date>,
    /// Last of these days.
    pub last_day: Option<Date>,
    /// Conditions that narrow every question of its readers, as JSON.
    pub filters: Option<String>,
    /// Classification that narrows every question of its readers, as the API writes it.
    pub classification: Option<String>,
    /// What the classification stood for when the link was made, as JSON of the API's `PinnedClassification`. `None` without one, and for links
    /// of version 0.1.0 that are not yet pinned. It is no part of the version of the record: it never changes for people.
    #[serde(skip)]
    pub pinned: Option<String>,
    /// True if its readers see queries.
    pub shows_queries: bool,
    /// True if its readers see pages.
    pub shows_pages: bool,
    /// True if its readers see annotations.
    pub shows_notes: bool,
    /// Expiry time, if any.
    pub expires_at: Option<DateTimeUtc>,
    /// Time when it was revoked, if it was.
    pub revoked_at: Option<DateTimeUtc>,
    /// Creation time of the row.
    pub created_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// A property's links that are active at `now`, oldest first.
    #[must_use]
    pub fn active_of_property(property_id: Uuid, now: DateTimeUtc) -> Select<Self> {
        Self::find().filter(Column::PropertyId.eq(property_id)).filter(active(now)).order_by_asc(Column::Id)
    }

    /// One active link of a property.
    #[must_use]
    pub fn active_one_of_property(property_id: Uuid, id: Uuid, now: DateTimeUtc) -> Select<Self> {
        Self::find_by_id(id).filter(Column::PropertyId.eq(property_id)).filter(active(now))
    }
}

fn active(now: DateTimeUtc) -> Condition {
    Condition::all()
        .add(Column::RevokedAt.is_null())
        .add(Condition::any().add(Column::ExpiresAt.is_null()).add(Column::ExpiresAt.gt(now)))
}
