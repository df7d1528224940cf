//! One-time links with which a person sets a password. Following a link uses nothing up, since programs that scan mail follow
//! links, too; setting the password does.

use chrono::{DateTime, TimeDelta, Utc};
use common::{base_url::BaseUrl, digest::sha256_hex, random::Random};
use entity::{
    account,
    account_link::{ActiveModel, Column, Entity, Purpose},
};
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, sea_query::Expr};
use uuid::Uuid;

use super::ending::{end_everything, end_links};

/// The path of the page that a link leads to.
pub const PATH: &str = "/account/password/set";

/// The URL of the link with this token.
#[must_use]
pub fn url(base_url: &BaseUrl, token: &str) -> String {
    base_url.join(&format!("{PATH}?token={token}"))
}

/// A message that brings a link to its holder.
#[derive(Debug)]
pub struct Letter {
    /// The subject.
    pub subject: &'static str,
    /// The text.
    pub text: String,
}

/// The message to someone whose account an operator has made or reset.
#[must_use]
pub fn letter_of_operator(base_url: &BaseUrl, token: &str, is_new: bool) -> Letter {
    let url = url(base_url, token);
    let done =
        if is_new { "has made an account for you." } else { "has reset your password. You are signed out everywhere." };
    Letter {
        subject: "Set your password for Sightline",
        text: format!(
            "The operator of {base_url} {done}\n\n\
             Set your password here within 24 hours:\n\n{url}\n\n\
             The link works once. Anybody who has it can set your password, so do not pass it on.\n"
        ),
    }
}

/// The message to someone who has forgotten the password.
#[must_use]
pub fn letter_with_link(base_url: &BaseUrl, token: &str) -> Letter {
    let url = url(base_url, token);
    Letter {
        subject: "Set a new password for Sightline",
        text: format!(
            "Somebody asked for a new password for your account at {base_url}.\n\n\
             If it was you, set it here within an hour:\n\n{url}\n\n\
             The link works once. If it was not you, do nothing: your password stays as it is.\n"
        ),
    }
}

/// The message to someone without a password, who signs in at `provider`.
#[must_use]
pub fn letter_without_link(base_url: &BaseUrl, provider: &str) -> Letter {
    Letter {
        subject: "Signing in to Sightline",
        text: format!(
            "Somebody asked for a new password for your account at {base_url}.\n\n\
             Your account has no password: you sign in at {base_url}/account by way of {provider}. Nothing has changed.\n"
        ),
    }
}

/// The time for which a link can be used.
#[must_use]
pub fn lifetime(purpose: Purpose) -> TimeDelta {
    match purpose {
        Purpose::Operator => TimeDelta::hours(24),
        Purpose::Forgotten => TimeDelta::hours(1),
    }
}

/// Makes a link for the account and returns its token.
pub async fn make(
    db: &impl ConnectionTrait,
    random: &Random,
    account_id: Uuid,
    purpose: Purpose,
    now: DateTime<Utc>,
) -> Result<String, DbErr> {
    let token = random.token();
    let row = ActiveModel {
        hash: Set(sha256_hex(&token)),
        account_id: Set(account_id),
        purpose: Set(purpose),
        expires_at: Set(now + lifetime(purpose)),
        used_at: Set(None),
    };
    Entity::insert(row).exec_without_returning(db).await?;
    Ok(token)
}

/// Returns the account whose password the token may set now.
pub async fn account_of(
    db: &impl ConnectionTrait,
    token: &str,
    now: DateTime<Utc>,
) -> Result<Option<account::Model>, DbErr> {
    let link = Entity::find_by_id(sha256_hex(token)).one(db).await?;
    let Some(link) = link.filter(|link| link.used_at.is_none() && now < link.expires_at) else { return Ok(None) };
    account::Entity::find_by_id(link.account_id).one(db).await
}

/// Uses the link up: sets the password's hash and ends everything that the person had running, and the account's other links.
/// Returns the account, or `None` if the link can no longer be used; one statement decides between two requests.
///
/// Must run in a transaction. The account's row is written before sessions are ended, so that a sign-in with the old password
/// either comes before and is ended, or finds the new one.
pub async fn spend(
    tx: &impl ConnectionTrait,
    token: &str,
    password_hash: String,
    now: DateTime<Utc>,
) -> Result<Option<account::Model>, DbErr> {
    let hash = sha256_hex(token);
    let spent = Entity::update_many()
        .col_expr(Column::UsedAt, Expr::value(now))
        .filter(Column::Hash.eq(&hash))
        .filter(Column::UsedAt.is_null())
        .filter(Column::ExpiresAt.gt(now))
        .exec(tx)
        .await?;
    let link = Entity::find_by_id(hash).one(tx).await?;
    let Some(link) = link.filter(|_| spent.rows_affected == 1) else { return Ok(None) };
    account::Entity::update_many()
        .col_expr(account::Column::PasswordHash, Expr::value(password_hash))
        .col_expr(account::Column::PasswordChangedAt, Expr::value(now))
        .col_expr(account::Column::EmailVerifiedAt, Expr::value(now))
        .col_expr(account::Column::UpdatedAt, Expr::value(now))
        .filter(account::Column::Id.eq(link.account_id))
        .exec(tx)
        .await?;
    end_links(tx, link.account_id, now).await?;
    end_everything(tx, &link.account_id.to_string(), None, now).await?;
    account::Entity::find_by_id(link.account_id).one(tx).await
}

/// Deletes links that expired before `limit`. Returns the number of deleted rows.
pub(crate) async fn sweep(db: &impl ConnectionTrait, limit: DateTime<Utc>) -> Result<u64, DbErr> {
    Ok(Entity::delete_many().filter(Column::ExpiresAt.lt(limit)).exec(db).await?.rows_affected)
}
