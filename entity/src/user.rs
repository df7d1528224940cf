//! Users: everyone who has signed in, identified by (issuer, subject).

use sea_orm::entity::prelude::*;

/// One row of `users`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "users")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// The identity provider that authenticates the user.
    pub issuer: String,
    /// Identifier of the user at that issuer; unique there.
    pub subject: String,
    /// E-mail address, as the issuer stated it.
    pub email: Option<String>,
    /// E-mail address folded for comparison ([`crate::email_key`]).
    pub email_key: Option<String>,
    /// True if the issuer has verified the address; only then do grants to it apply. At most one user holds a verified address.
    pub email_verified: bool,
    /// Issue time of the last token that stated something about the address.
    pub email_stated_at: Option<DateTimeUtc>,
    /// Display name.
    pub name: Option<String>,
    /// Issue time of the token that the name was taken from.
    pub name_stated_at: Option<DateTimeUtc>,
    /// Plan that the user has, tries or had. Its state and the time tell whether it is in force.
    pub plan: Plan,
    /// State of the subscription, as last set. It means nothing without a plan.
    pub plan_state: PlanState,
    /// Start of the period of the subscription, if known.
    pub period_starts_at: Option<DateTimeUtc>,
    /// End of the period of the subscription, if it has one. The end of a trial is separate.
    pub period_ends_at: Option<DateTimeUtc>,
    /// End of the trial, for users who try a plan.
    pub trial_ends_at: Option<DateTimeUtc>,
    /// Creation time of the row.
    pub created_at: DateTimeUtc,
    /// Time of the row's last change.
    pub updated_at: DateTimeUtc,
}

/// Tables that this table refers to.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// Plans of users. The configuration states what each plan includes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::None)", rename_all = "snake_case")]
pub enum Plan {
    /// No access.
    None,
    /// The plan free of charge.
    Free,
    /// For users with a few sites.
    Pro,
    /// For users who manage other people's sites.
    Agency,
}

/// State of a subscription, as an operator or a payment sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::None)", rename_all = "snake_case")]
pub enum PlanState {
    /// The plan is tried until the end of the trial.
    Trialing,
    /// The plan is paid for until the end of the period, or without an end.
    Active,
    /// The payment for the time after the period has failed.
    PastDue,
    /// The subscription is not renewed after the period.
    Cancelled,
}

impl Plan {
    /// Name of the plan in configuration, API and database.
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
    /// The user with this issuer and subject.
    #[must_use]
    pub fn known_as(issuer: &str, subject: &str) -> Select<Self> {
        Self::find().filter(Column::Issuer.eq(issuer)).filter(Column::Subject.eq(subject))
    }

    /// Users whose issuer has verified this address. There is more than one only until the address has been assigned to
    /// one of them.
    #[must_use]
    pub fn verified_holders(email_key: &str) -> Select<Self> {
        Self::find().filter(Column::EmailKey.eq(email_key)).filter(Column::EmailVerified.eq(true))
    }
}
