//! Deletes expired rows.

use chrono::{DateTime, TimeDelta, Utc};
use entity::{authorization_code, client_use, consent, issuer_session, oauth_client, oauth_grant, refresh_token, user};
use sea_orm::{
    ColumnTrait, Condition, DbErr, EntityTrait, ExprTrait as _, PaginatorTrait, QueryFilter,
    sea_query::{Expr, Query},
};
use store::expired;

use super::{
    IdentityProvider,
    accounts::links,
    clients::BUILT_IN,
    counts, device_codes,
    endpoints::registration::MAX_CLIENTS,
    exchanges,
    keys::{KeysError, rotation},
};

/// Time to keep expired codes and grants, so that a replay is still recognised.
const KEEP: TimeDelta = TimeDelta::days(1);
/// A registered client that nobody has allowed is deleted after this long.
const KEEP_UNUSED_CLIENT: TimeDelta = TimeDelta::days(30);
/// The same limit while more than half of the allowed clients exist, so that a flood of registrations does not block others.
const KEEP_UNUSED_CLIENT_IN_A_FLOOD: TimeDelta = TimeDelta::days(1);
/// A consent that was neither given nor used for this long is forgotten: that to the client of a metadata document, and that to a registered
/// client with the client. Uses are known as long.
const KEEP_UNUSED_CONSENT: TimeDelta = TimeDelta::days(180);

impl IdentityProvider {
    /// Deletes expired codes of both kinds, refresh tokens and grants, retired keys, registered clients that nobody uses, and consents to clients
    /// that are gone or not used. Returns the number of deleted rows.
    pub async fn sweep(&self) -> Result<u64, DbErr> {
        let (db, now) = (&self.db, self.clock.now());
        let limit = now - KEEP;
        let mut deleted = rotation::sweep(db, now).await?;
        deleted += counts::sweep(db, now).await?;
        let codes = authorization_code::Column::ExpiresAt.lt(limit);
        deleted += expired::delete::<authorization_code::Entity>(db, authorization_code::Column::Hash, codes).await?;
        deleted += device_codes::sweep(db, now).await?;
        let tokens = refresh_token::Column::ExpiresAt.lt(limit);
        deleted += expired::delete::<refresh_token::Entity>(db, refresh_token::Column::Hash, tokens).await?;
        deleted += exchanges::sweep(db, now).await?;
        let grants = oauth_grant::Column::ExpiresAt.lt(limit);
        deleted += expired::delete::<oauth_grant::Entity>(db, oauth_grant::Column::Id, grants).await?;
        deleted += links::sweep(db, limit).await?;
        self.sign_out_the_unwelcome().await?;
        let ended = issuer_session::Column::ExpiresAt.lt(now);
        deleted += expired::delete::<issuer_session::Entity>(db, issuer_session::Column::Id, ended).await?;
        let registered = oauth_client::Column::AddedByOperator.eq(false);
        let count = oauth_client::Entity::find().filter(registered.clone()).count(db).await?;
        let flooded = count > MAX_CLIENTS / 2;
        let keep = if flooded { KEEP_UNUSED_CLIENT_IN_A_FLOOD } else { KEEP_UNUSED_CLIENT };
        let granted = Query::select().column(oauth_grant::Column::ClientId).from(oauth_grant::Entity).to_owned();
        let allowed = Query::select()
            .column(consent::Column::ClientId)
            .from(consent::Entity)
            .and_where(consent::Column::UpdatedAt.gte(now - KEEP_UNUSED_CONSENT))
            .to_owned();
        let used = Query::select().column(client_use::Column::ClientId).from(client_use::Entity).to_owned();
        let clients = oauth_client::Entity::delete_many()
            .filter(registered)
            .filter(oauth_client::Column::CreatedAt.lt(now - keep))
            .filter(oauth_client::Column::Id.not_in_subquery(granted))
            .filter(oauth_client::Column::Id.not_in_subquery(allowed))
            .filter(oauth_client::Column::Id.not_in_subquery(used));
        deleted += clients.exec(db).await?.rows_affected;
        deleted += self.forget_clients_that_are_gone().await?;
        Ok(deleted + self.forget_unused_consents(now).await?)
    }

    /// Deletes consents to stored clients that no longer exist.
    async fn forget_clients_that_are_gone(&self) -> Result<u64, DbErr> {
        let stored = Query::select().column(oauth_client::Column::Id).from(oauth_client::Entity).to_owned();
        let gone = consent::Entity::delete_many()
            .filter(consent::Column::ClientId.not_in_subquery(stored))
            .filter(consent::Column::ClientId.is_not_in(BUILT_IN))
            .filter(described_by_a_document().not());
        Ok(gone.exec(&self.db).await?.rows_affected)
    }

    /// Deletes old consents to clients of metadata documents whose person uses them no more. Such a client is never known to be gone, and
    /// each path of a host is another one.
    async fn forget_unused_consents(&self, now: DateTime<Utc>) -> Result<u64, DbErr> {
        let unused = consent::Entity::delete_many()
            .filter(described_by_a_document())
            .filter(consent::Column::UpdatedAt.lt(now - KEEP_UNUSED_CONSENT))
            .filter(
                Expr::exists(
                    Query::select()
                        .expr(Expr::val(1))
                        .from(oauth_grant::Entity)
                        .and_where(of_consent(
                            (oauth_grant::Entity, oauth_grant::Column::ClientId),
                            consent::Column::ClientId,
                        ))
                        .and_where(of_consent(
                            (oauth_grant::Entity, oauth_grant::Column::Subject),
                            consent::Column::Subject,
                        ))
                        .take(),
                )
                .not(),
            )
            .filter(
                Expr::exists(
                    Query::select()
                        .expr(Expr::val(1))
                        .from(client_use::Entity)
                        .inner_join(
                            user::Entity,
                            Expr::col((user::Entity, user::Column::Id))
                                .equals((client_use::Entity, client_use::Column::UserId)),
                        )
                        .and_where(of_consent(
                            (client_use::Entity, client_use::Column::ClientId),
                            consent::Column::ClientId,
                        ))
                        .and_where(of_consent((user::Entity, user::Column::Subject), consent::Column::Subject))
                        .take(),
                )
                .not(),
            );
        Ok(unused.exec(&self.db).await?.rows_affected)
    }

    /// Replaces the signing key if it is older than the settings allow. Returns the new key's id.
    pub async fn rotate_old_key(&self) -> Result<Option<String>, KeysError> {
        let now = self.clock.now();
        let rotated = rotation::rotate_if_old(&self.db, &self.secrets, self.key_max_age, now).await?;
        Ok(rotated.map(|key| key.id))
    }
}

/// Selects the consents to clients that a metadata document describes.
fn described_by_a_document() -> Condition {
    let id = consent::Column::ClientId;
    Condition::any().add(id.like("http://%")).add(id.like("https://%"))
}

/// Selects the rows whose `column` is that of the consent.
fn of_consent(column: impl sea_orm::sea_query::IntoColumnRef, of: consent::Column) -> Expr {
    Expr::col(column).equals((consent::Entity, of))
}
