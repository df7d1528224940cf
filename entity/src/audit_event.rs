//! The audit trail: who granted, shared, revoked, connected or deleted what, and when. It holds no search data.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

/// The action of a person who allows an application.
pub const APPLICATION_ALLOWED: &str = "application_allowed";

/// One event.
#[derive(Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit_event")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Id of the user whose trail it is: the owner of the changed record.
    pub owner_id: Uuid,
    /// Id of the user who acted; `None` once that user is deleted.
    pub actor_id: Option<Uuid>,
    /// The name of the action, as the API has it.
    pub action: String,
    /// The name of the changed record.
    #[sea_orm(column_type = "Text", nullable)]
    pub what: Option<String>,
    /// Id of the property that it belongs to.
    pub property_id: Option<Uuid>,
    /// The e-mail address of the person concerned, as it was entered.
    #[sea_orm(column_type = "Text", nullable)]
    pub whom: Option<String>,
    /// That address folded for comparison ([`crate::email_key`]).
    #[sea_orm(column_type = "Text", nullable)]
    pub whom_key: Option<String>,
    /// The role that was given or taken.
    #[sea_orm(column_type = "Text", nullable)]
    pub role: Option<String>,
    /// Time of the event.
    pub at: DateTimeUtc,
}

/// Prints no address.
impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("audit_event").field("id", &self.id).field("action", &self.action).finish_non_exhaustive()
    }
}

/// No declared relations: finders select by user.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// The trail of a user, latest first.
    #[must_use]
    pub fn of_owner(owner_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::OwnerId.eq(owner_id)).order_by_desc(Column::At).order_by_desc(Column::Id)
    }
}
