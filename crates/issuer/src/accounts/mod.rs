//! Accounts of people who sign in at the embedded issuer with an e-mail address and a password, or by another provider.

pub(super) mod attempts;
pub(super) mod devices;
pub(super) mod ending;
pub mod links;
pub mod operator;
pub(super) mod password;
pub mod policy;
pub(super) mod sign_in;

use common::mail_address;
use entity::account::{Column, Entity, Model};
use sea_orm::{ColumnTrait as _, ConnectionTrait, DbErr, EntityTrait as _, PaginatorTrait as _, QueryFilter as _};

/// Returns the account with this address.
pub(super) async fn with_email(db: &impl ConnectionTrait, address: &str) -> Result<Option<Model>, DbErr> {
    Entity::with_email(&mail_address::key(address)).one(db).await
}

/// Returns whether anybody can sign in with a password.
pub(super) async fn any_password(db: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(Entity::find().filter(Column::PasswordHash.is_not_null()).count(db).await? > 0)
}

/// Returns whether there is any account.
pub(super) async fn any(db: &impl ConnectionTrait) -> Result<bool, DbErr> {
    Ok(Entity::find().count(db).await? > 0)
}
