//! Accounts of the embedded issuer: people who sign in with a password, or at another provider.

use sea_orm::entity::prelude::*;

/// One account.
#[derive(Clone, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "account")]
pub struct Model {
    /// `UUIDv7`. It is the subject (`sub`) of the person's tokens.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// E-mail address, as it was entered.
    pub email: String,
    /// E-mail address folded for comparison ([`crate::email_key`]); unique.
    pub email_key: String,
    /// Display name.
    pub name: Option<String>,
    /// The password's Argon2id hash in PHC format. Without one, nobody can sign in with a password.
    #[sea_orm(column_type = "Text", nullable)]
    pub password_hash: Option<String>,
    /// Time when the holder of the address used a link that was sent or handed to them.
    pub email_verified_at: Option<DateTimeUtc>,
    /// Time when the password was last set, changed or taken away.
    pub password_changed_at: DateTimeUtc,
    /// Time of the last sign-in.
    pub last_sign_in_at: Option<DateTimeUtc>,
    /// The issuer of another provider at which the person signs in.
    pub upstream_issuer: Option<String>,
    /// The person's identifier at that issuer; unique there.
    pub upstream_subject: Option<String>,
    /// True if an operator added the account or made a link for it. Others may sign in only while the settings or an invitation allow
    /// their address.
    pub added_by_operator: bool,
    /// The address by which an operator added the account, folded for comparison. Another provider may have changed `email` since.
    #[sea_orm(column_type = "Text", nullable)]
    pub added_as_key: Option<String>,
    /// Creation time of the row.
    pub created_at: DateTimeUtc,
    /// Time of the row's last change.
    pub updated_at: DateTimeUtc,
}

/// Prints neither the hash nor the address.
impl std::fmt::Debug for Model {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("account").field("id", &self.id).finish_non_exhaustive()
    }
}

/// No declared relations: finders select by id or address.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

impl Entity {
    /// The account with this address, in any spelling.
    #[must_use]
    pub fn with_email(address: &str) -> Select<Self> {
        Self::find().filter(Column::EmailKey.eq(crate::email_key(address)))
    }

    /// The accounts that an operator added by this address, in any spelling.
    #[must_use]
    pub fn added_as(address: &str) -> Select<Self> {
        Self::find().filter(Column::AddedAsKey.eq(crate::email_key(address)))
    }

    /// The account of the person whom another provider knows by `subject`.
    #[must_use]
    pub fn with_upstream(issuer: &str, subject: &str) -> Select<Self> {
        Self::find().filter(Column::UpstreamIssuer.eq(issuer)).filter(Column::UpstreamSubject.eq(subject))
    }
}
