//! Credentials of SEO providers that users stored.

use sea_orm::QueryOrder;
use sea_orm::entity::prelude::*;

/// One row of `provider_connection`.
#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "provider_connection")]
pub struct Model {
    /// `UUIDv7`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    /// Id of the user who stored them.
    pub user_id: Uuid,
    /// The provider. A user has at most one row for each.
    pub provider: Provider,
    /// Name by which the user knows the account: a login, or the end of a key.
    #[sea_orm(column_type = "Text")]
    pub account: String,
    /// The credentials, encrypted.
    pub sealed: Vec<u8>,
    /// State at the last check.
    pub state: CredentialsState,
    /// Time since which they are in that state.
    pub state_at: DateTimeUtc,
    /// Time of the last check.
    pub checked_at: DateTimeUtc,
    /// Balance in millionths of a dollar or unit, less what was spent since it was read; `None` if unknown or without a limit.
    pub balance_millionths: Option<i64>,
    /// Time when credentials were first stored.
    pub created_at: DateTimeUtc,
    /// Time when they were last replaced.
    pub updated_at: DateTimeUtc,
}

/// No declared relations: finders select by id.
#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}

/// A provider of SEO data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::None)", rename_all = "snake_case")]
pub enum Provider {
    /// Provider A.
    A,
    /// Provider B.
    B,
}

/// State of credentials at their provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::None)", rename_all = "snake_case")]
pub enum CredentialsState {
    /// They work.
    Ok,
    /// The provider does not know them.
    Invalid,
    /// The account is not verified.
    Unverified,
    /// The account's plan has no access.
    PlanLacksAccess,
    /// No credit is left.
    OutOfCredit,
    /// The provider has blocked the account.
    Blocked,
    /// The provider limits the rate of requests.
    RateLimited,
    /// The provider did not answer.
    Unreachable,
}

impl Entity {
    /// The connections of a user, provider A's first.
    #[must_use]
    pub fn of_user(user_id: Uuid) -> Select<Self> {
        Self::find().filter(Column::UserId.eq(user_id)).order_by_asc(Column::Provider)
    }

    /// A user's connection to one provider.
    #[must_use]
    pub fn one_of_user(user_id: Uuid, provider: Provider) -> Select<Self> {
        Self::of_user(user_id).filter(Column::Provider.eq(provider))
    }
}
