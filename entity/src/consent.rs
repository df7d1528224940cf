//! Consents that the embedded issuer remembers: which client may have which scopes of a person at which
//! address without asking again.

use sea_orm::{DeleteMany, QueryOrder, UpdateMany, entity::prelude::*, sea_query::Expr};

/// One remembered consent.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "consent")]
pub struct Model {
    /// Subject of the person.
    #[sea_orm(primary_key, auto_increment = false)]
    pub subject: String,
    /// Id of the client.
    #[sea_orm(primary_key, auto_increment = false)]
    pub client_id: String,
    /// Address of the client that answers go to, or `device` for device codes. A loopback address stands for all its ports.
    #[sea_orm(primary_key, auto_increment = false, column_type = "Text")]
    pub address: String,
    /// Every scope that the person has allowed the client there, separated by spaces.
    pub scope: String,
    /// True if the tokens are for the REST API, false if they are for the tool endpoint only.
    pub opens_api: bool,
    /// The person's choice: `read`, `records` or `everything`. All rows of a person and client agree.
    pub allows: String,
    /// Time of the first consent.
    pub created_at: DateTimeUtc,
    /// Time of the last consent.
    pub updated_at: DateTimeUtc,
}

/// No declared relations: finders select by subject and client.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// Deletes the consents of a person to a client, so that the person is asked again.
    #[must_use]
    pub fn forget(subject: &str, client_id: &str) -> DeleteMany<Self> {
        Self::forget_all(subject).filter(Column::ClientId.eq(client_id))
    }

    /// A person's remembered consents, by client and address.
    #[must_use]
    pub fn of_subject(subject: &str) -> Select<Self> {
        Self::find().filter(Column::Subject.eq(subject)).order_by_asc(Column::ClientId).order_by_asc(Column::Address)
    }

    /// Sets how much a person lets a client do, at all its addresses.
    #[must_use]
    pub fn allow(subject: &str, client_id: &str, allows: &str) -> UpdateMany<Self> {
        let of_pair = Self::update_many().filter(Column::Subject.eq(subject)).filter(Column::ClientId.eq(client_id));
        of_pair.col_expr(Column::Allows, Expr::value(allows))
    }

    /// Deletes all consents to a client, so that everybody is asked again.
    #[must_use]
    pub fn forget_client(client_id: &str) -> DeleteMany<Self> {
        Self::delete_many().filter(Column::ClientId.eq(client_id))
    }

    /// Deletes everything that is remembered of a person.
    #[must_use]
    pub fn forget_all(subject: &str) -> DeleteMany<Self> {
        Self::delete_many().filter(Column::Subject.eq(subject))
    }
}
