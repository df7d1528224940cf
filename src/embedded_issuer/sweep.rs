//! Deletes expired rows.

use chrono::TimeDelta;
use entity::{authorization_code, oauth_client, oauth_grant, refresh_token};
use sea_orm::{ColumnTrait, DbErr, EntityTrait, PaginatorTrait, QueryFilter, sea_query::Query};

use super::{IdentityProvider, endpoints::registration::MAX_CLIENTS};

/// Time to keep expired codes and grants, so that a replay is still recognised.
const KEEP: TimeDelta = TimeDelta::days(1);
/// A registered client without a sign-in for this long is deleted.
const KEEP_UNUSED_CLIENT: TimeDelta = TimeDelta::days(30);
/// The same limit while more than half of the allowed clients exist, so that a flood of registrations does not block others.
const KEEP_UNUSED_CLIENT_IN_A_FLOOD: TimeDelta = TimeDelta::days(1);

impl IdentityProvider {
    /// Deletes expired codes, refresh tokens and grants, and unused clients. Returns the number of deleted rows.
    pub async fn sweep(&self) -> Result<u64, DbErr> {
        let (db, now) = (&self.db, self.clock.now());
        let limit = now - KEEP;
        let codes = authorization_code::Entity::delete_many().filter(authorization_code::Column::ExpiresAt.lt(limit));
        let tokens = refresh_token::Entity::delete_many().filter(refresh_token::Column::ExpiresAt.lt(limit));
        let grants = oauth_grant::Entity::delete_many().filter(oauth_grant::Column::ExpiresAt.lt(limit));
        let mut deleted = codes.exec(db).await?.rows_affected;
        deleted += tokens.exec(db).await?.rows_affected;
        deleted += grants.exec(db).await?.rows_affected;
        let flooded = oauth_client::Entity::find().count(db).await? > MAX_CLIENTS / 2;
        let keep = if flooded { KEEP_UNUSED_CLIENT_IN_A_FLOOD } else { KEEP_UNUSED_CLIENT };
        let in_use = Query::select().column(oauth_grant::Column::ClientId).from(oauth_grant::Entity).to_owned();
        let clients = oauth_client::Entity::delete_many()
            .filter(oauth_client::Column::CreatedAt.lt(now - keep))
            .filter(oauth_client::Column::Id.not_in_subquery(in_use));
        Ok(deleted + clients.exec(db).await?.rows_affected)
    }
}
