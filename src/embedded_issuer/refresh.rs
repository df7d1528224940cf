//! Refresh tokens. Each is used once and replaced. A used one that comes back ends the grant (RFC 9700 section 4.14).

use chrono::{DateTime, TimeDelta, Utc};
use entity::{
    oauth_grant,
    refresh_token::{ActiveModel, Column, Entity},
};
use poem::Response;
use sea_orm::{ActiveValue::Set, ColumnTrait, DbErr, EntityTrait, QueryFilter, sea_query::Expr};

use super::{
    IdentityProvider, grants,
    parameters::Parameters,
    response::{OAuthError, refused},
    scope,
};
use crate::digest::sha256_hex;

/// Lifetime of an unused refresh token.
const LIFETIME: TimeDelta = TimeDelta::days(30);

impl IdentityProvider {
    /// Exchanges a refresh token (`grant_type=refresh_token`).
    pub(super) async fn refresh(&self, client_id: &str, form: &Parameters) -> Result<Response, OAuthError> {
        let token = form.require("refresh_token", "refresh_token is missing.")?;
        let (hash, now) = (sha256_hex(token), self.clock.now());
        let row = Entity::find_by_id(&hash).one(&self.db).await?.ok_or_else(unusable)?;
        let grant = grants::find(&self.db, row.grant_id).await?.ok_or_else(unusable)?;
        if grant.client_id != client_id || grant.ended_at.is_some() || now >= row.expires_at {
            return Err(unusable());
        }
        // Before anything else is judged: whoever has a copy learns nothing by asking for what is refused.
        if row.spent_at.is_some() {
            grants::end(&self.db, &grant, now).await?;
            return Err(unusable());
        }
        // Settings, invitations and what another provider says of the person may have changed.
        if self.person(&grant.subject).await?.is_none() {
            grants::end(&self.db, &grant, now).await?;
            return Err(unusable());
        }
        let resources = self.narrowed(&grant, form)?;
        let scope = narrowed_scope(&grant.scope, form.get("scope"))?;
        if !self.spend_refresh_token(&hash, now).await? {
            grants::end(&self.db, &grant, now).await?;
            return Err(unusable());
        }
        self.answer(&grant, &scope, &resources, None, true).await
    }

    /// Issues a refresh token for the grant.
    pub(super) async fn issue_refresh_token(&self, grant: &oauth_grant::Model) -> Result<String, DbErr> {
        let (token, expires_at) = (self.random.token(), self.clock.now() + LIFETIME);
        let row = ActiveModel {
            hash: Set(sha256_hex(&token)),
            grant_id: Set(grant.id),
            expires_at: Set(expires_at),
            spent_at: Set(None),
        };
        Entity::insert(row).exec_without_returning(&self.db).await?;
        oauth_grant::Entity::update_many()
            .col_expr(oauth_grant::Column::ExpiresAt, Expr::value(expires_at))
            .filter(oauth_grant::Column::Id.eq(grant.id))
            .exec(&self.db)
            .await?;
        Ok(token)
    }

    /// Marks the token as used. Returns whether this request was the first: a single statement decides between two.
    async fn spend_refresh_token(&self, hash: &str, now: DateTime<Utc>) -> Result<bool, DbErr> {
        let spent = Entity::update_many()
            .col_expr(Column::SpentAt, Expr::value(now))
            .filter(Column::Hash.eq(hash))
            .filter(Column::SpentAt.is_null())
            .exec(&self.db)
            .await?;
        Ok(spent.rows_affected == 1)
    }
}

/// The scope of the new access token: the requested one, if it was granted. The refresh token keeps the full scope (RFC 6749
/// section 6).
fn narrowed_scope(granted: &str, asked: Option<&str>) -> Result<String, OAuthError> {
    let narrowed = scope::narrowed(granted, asked.unwrap_or_default());
    narrowed.ok_or_else(|| refused("invalid_scope", "A refresh cannot widen the scope."))
}

fn unusable() -> OAuthError {
    refused("invalid_grant", "The refresh token is unknown, expired, used or revoked, or belongs to another client.")
}
