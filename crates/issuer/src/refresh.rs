//! Refresh tokens. Each is used once and replaced. A used one that comes back ends the grant, unless it comes back at once
//! ([`super::exchanges`]).
//! It is known by its family, so a grant has one row however often its client refreshes.

use common::digest::sha256_hex;
use entity::{
    oauth_grant::{self, Model as Grant},
    refresh_token::{ActiveModel, Entity},
};
use identity::grants::REFRESH_TOKEN_LIFETIME;
use poem::Response;
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, sea_query::Expr};
use store::database;

use super::{
    IdentityProvider,
    exchanges::Renewal,
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
        let repeated = match Entity::find_by_id(&hash).one(&self.db).await? {
            Some(row) if now >= row.expires_at => return Err(unusable()),
            Some(_) => None,
            None => Some(self.repeat_refresh(&grant, token, &family).await?),
        };
        // Settings, invitations and the provider's statement about the person may have changed.
        if self.person(&grant.subject).await?.is_none() {
            grants::end(&self.db, &grant, now).await?;
            return Err(unusable());
        }
        let resources = self.narrowed(&grant, form)?;
        let scope = narrowed_scope(&grant.scope, form.get("scope"))?;
        let renewal = match repeated {
            Some(renewal) => renewal,
            None => match self.spend_refresh_token(&grant, token, &family).await? {
                Some(renewal) => renewal,
                None => self.repeat_refresh(&grant, token, &family).await?,
            },
        };
        self.answer(&grant, &scope, &resources, None, Some(renewal)).await
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

    /// Stores a refresh token of the grant.
    pub(super) async fn store_refresh_token(
        &self,
        db: &impl ConnectionTrait,
        grant: &Grant,
        Renewal { family, token }: &Renewal,
    ) -> Result<(), DbErr> {
        let expires_at = self.clock.now() + REFRESH_TOKEN_LIFETIME;
        let row = ActiveModel { hash: Set(sha256_hex(token)), grant_id: Set(grant.id), expires_at: Set(expires_at) };
        Entity::insert(row).exec_without_returning(db).await?;
        oauth_grant::Entity::update_many()
            .col_expr(oauth_grant::Column::ExpiresAt, Expr::value(expires_at))
            .col_expr(oauth_grant::Column::RefreshFamily, Expr::value(family.hash()))
            .filter(oauth_grant::Column::Id.eq(grant.id))
            .exec(db)
            .await?;
        Ok(())
    }

    /// Replaces the token by the next one. `None` if another request was first: a single statement decides between two.
    async fn spend_refresh_token(&self, grant: &Grant, token: &str, family: &Family) -> Result<Option<Renewal>, DbErr> {
        let tx = database::begin(&self.db).await?;
        if Entity::delete_by_id(sha256_hex(token)).exec(&tx).await?.rows_affected == 0 {
            tx.rollback().await?;
            return Ok(None);
        }
        let renewal = self.exchange_token(&tx, grant, token, family.clone()).await?;
        self.store_refresh_token(&tx, grant, &renewal).await?;
        tx.commit().await?;
        Ok(Some(renewal))
    }

    /// Returns the token that a spent one was exchanged for, if that can be repeated. Otherwise ends the grant.
    async fn repeat_refresh(&self, grant: &Grant, token: &str, family: &Family) -> Result<Renewal, OAuthError> {
        if let Some(renewal) = self.repeat_exchange(token, Some(family.clone()), true).await? {
            return Ok(renewal);
        }
        grants::end(&self.db, grant, self.clock.now()).await?;
        Err(unusable())
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
