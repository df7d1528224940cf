//! Ends a person's access: sessions here and at the service, grants of clients, and remembered consents.

use chrono::{DateTime, Utc};
use entity::{account_link, consent, issuer_session, session, user};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QuerySelect as _, QueryTrait as _,
    sea_query::Expr,
};
use uuid::Uuid;

use crate::grants;

/// Ends everything of `subject` but the issuer's session `kept` and the service's session that belongs to it.
///
/// The subject of an account is a UUID, so the person's record is found by it alone. A command that is run with another `base_url`
/// must not leave sessions behind.
pub(crate) async fn end_everything(
    db: &impl ConnectionTrait,
    subject: &str,
    kept: Option<Uuid>,
    now: DateTime<Utc>,
) -> Result<(), DbErr> {
    let users = user::Entity::find().select_only().column(user::Column::Id).filter(user::Column::Subject.eq(subject));
    let mut here = issuer_session::Entity::delete_many().filter(issuer_session::Column::Subject.eq(subject));
    let mut at_the_service =
        session::Entity::delete_many().filter(session::Column::UserId.in_subquery(users.into_query()));
    if let Some(kept) = kept {
        let column = session::Column::IssuerSessionId;
        here = here.filter(issuer_session::Column::Id.ne(kept));
        at_the_service = at_the_service.filter(Condition::any().add(column.is_null()).add(column.ne(kept)));
    }
    here.exec(db).await?;
    at_the_service.exec(db).await?;
    grants::end_all(db, subject, now).await?;
    consent::Entity::forget_all(subject).exec(db).await.map(|_| ())
}

/// Withdraws the links of an account that have not been used.
pub(crate) async fn end_links(db: &impl ConnectionTrait, account: Uuid, now: DateTime<Utc>) -> Result<(), DbErr> {
    account_link::Entity::update_many()
        .col_expr(account_link::Column::UsedAt, Expr::value(now))
        .filter(account_link::Column::AccountId.eq(account))
        .filter(account_link::Column::UsedAt.is_null())
        .exec(db)
        .await
        .map(|_| ())
}
