//! Refresh tokens. Each is used once and replaced. A used one that comes back ends the grant (RFC 9700 section 4.14).
//! It is known by its family, so a grant has one row however often its client refreshes.

use common::digest::sha256_hex;
use entity::{
    oauth_grant::{self, Model as Grant},
    refresh_token::{ActiveModel, Entity},
};
use identity::grants::REFRESH_TOKEN_LIFETIME;
use poem::Response;
use sea_orm::{ActiveValue::Set, ColumnTrait, DbErr, EntityTrait, QueryFilter, sea_query::Expr};

use super::{
    IdentityProvider,
    family::Family,
    grants,
    parameters::Parameters,
    response::{OAuthError, refused},
    scope,
};

impl IdentityProvider {
    /// Exchanges a refresh token (`grant_type=refresh_token`).
    pub(super) async fn refresh(&self, client_id: &str, form: &Parameters) -> Result<Response, OAuthError> {
        let token = form.require("refresh_token", "refresh_token is missing.")?;
        let (hash, now) = (sha256_hex(token), self.clock.now());
        let family = Family::of(token).ok_or_else(unusable)?;
        let grant = self.grant_of_family(&family).await?.ok_or_else(unusable)?;
        if grant.client_id != client_id || grant.ended_at.is_some() {
            return Err(unusable());
        }
        // Before anything else is judged, so that the holder of a copy learns nothing from refusals.
        let Some(row) = Entity::find_by_id(&hash).one(&self.db).await? else {
            grants::end(&self.db, &grant, now).await?;
            return Err(unusable());
        };
        if now >= row.expires_at {
            return Err(unusable());
        }
        // Settings, invitations and the provider's statement about the person may have changed.
        if self.person(&grant.subject).await?.is_none() {
            grants::end(&self.db, &grant, now).await?;
            return Err(unusable());
        }
        let resources = self.narrowed(&grant, form)?;
        let scope = narrowed_scope(&grant.scope, form.get("scope"))?;
        if !self.spend_refresh_token(&hash).await? {
            grants::end(&self.db, &grant, now).await?;
            return Err(unusable());
        }
        self.answer(&grant, &scope, &resources, None, Some(family)).await
    }

    /// Returns the grant that a refresh token belongs to, also a spent one.
    pub(super) async fn grant_of_refresh_token(&self, token: &str) -> Result<Option<Grant>, DbErr> {
        match Family::of(token) {
            Some(family) => self.grant_of_family(&family).await,
            None => Ok(None),
        }
    }

    async fn grant_of_family(&self, family: &Family) -> Result<Option<Grant>, DbErr> {
        let of_family = oauth_grant::Entity::find().filter(oauth_grant::Column::RefreshFamily.eq(family.hash()));
        of_family.one(&self.db).await
    }

    /// Issues a refresh token for the grant.
    pub(super) async fn issue_refresh_token(&self, grant: &Grant, family: &Family) -> Result<String, DbErr> {
        let expires_at = self.clock.now() + REFRESH_TOKEN_LIFETIME;
        let token = family.token(&self.random);
        let row = ActiveModel { hash: Set(sha256_hex(&token)), grant_id: Set(grant.id), expires_at: Set(expires_at) };
        Entity::insert(row).exec_without_returning(&self.db).await?;
        oauth_grant::Entity::update_many()
            .col_expr(oauth_grant::Column::ExpiresAt, Expr::value(expires_at))
            .col_expr(oauth_grant::Column::RefreshFamily, Expr::value(family.hash()))
            .filter(oauth_grant::Column::Id.eq(grant.id))
            .exec(&self.db)
            .await?;
        Ok(token)
    }

    /// Deletes the token. Returns whether this request was the first: a single statement decides between two.
    async fn spend_refresh_token(&self, hash: &str) -> Result<bool, DbErr> {
        Ok(Entity::delete_by_id(hash).exec(&self.db).await?.rows_affected == 1)
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
