//! People: everyone who ever signed in, known by (issuer, subject).

use sea_orm::entity::prelude::*;

/// One row of `users`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "users")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The identity provider that vouches for the person.
    pub issuer: String,
    /// The person's name at that issuer; unique there.
    pub subject: String,
    /// E-mail as the issuer gave it.
    pub email: Option<String>,
    /// E-mail folded for comparison ([`crate::email_key`]).
    pub email_key: Option<String>,
    /// Whether the issuer vouches for the e-mail; only then do grants to it count. Of all who have it, one at most.
    pub email_verified: bool,
    /// When the token was issued that last said something about the e-mail.
    pub email_stated_at: Option<DateTimeUtc>,
    /// Display name.
    pub name: Option<String>,
    /// When the token was issued that the name was taken from.
    pub name_stated_at: Option<DateTimeUtc>,
    /// The plan that was set for the person; a running trial stands beside it.
    pub plan: Plan,
    /// End of the trial of new users.
    pub trial_ends_at: Option<DateTimeUtc>,
    /// When the row was made.
    pub created_at: DateTimeUtc,
    /// When the row last changed.
    pub updated_at: DateTimeUtc,
}

/// The tables this one refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Plans a person can be on. What each includes is configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::None)", rename_all = "snake_case")]
pub enum Plan {
    /// No access.
    None,
    /// The plan without a price.
    Free,
    /// For people with a handful of sites.
    Pro,
    /// For those who look after other people's sites.
    Agency,
}

impl Plan {
    /// The plan's name in configuration, on the wire and in the database.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Free => "free",
            Self::Pro => "pro",
            Self::Agency => "agency",
        }
    }
}

impl Entity {
    /// The person an issuer calls `subject`.
    #[must_use]
    pub fn known_as(issuer: &str, subject: &str) -> Select<Self> {
        Self::find().filter(Column::Issuer.eq(issuer)).filter(Column::Subject.eq(subject))
    }

    /// Those whom an issuer vouched to have an address; more than one only until it is settled whose it is.
    #[must_use]
    pub fn verified_holders(email_key: &str) -> Select<Self> {
        Self::find().filter(Column::EmailKey.eq(email_key)).filter(Column::EmailVerified.eq(true))
    }
}
