//! Authorization codes: issued for a grant, redeemable once, within a minute, by the holder of the PKCE verifier.

use chrono::TimeDelta;
use common::digest::{pkce_challenge, same, sha256_hex};
use entity::{
    authorization_code::{ActiveModel, Column, Entity},
    oauth_grant,
};
use poem::Response;
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, sea_query::Expr};
use store::database;
use uuid::Uuid;

use super::{
    IdentityProvider,
    exchanges::Renewal,
    grants,
    parameters::Parameters,
    request::AuthorizationRequest,
    response::{OAuthError, refused},
    scope,
};

const LIFETIME: TimeDelta = TimeDelta::seconds(60);

impl IdentityProvider {
    /// Issues a code for the grant.
    pub(super) async fn issue_code(
        &self,
        db: &impl ConnectionTrait,
        grant_id: Uuid,
        redirect_uri: &str,
        asked: &AuthorizationRequest,
    ) -> Result<String, DbErr> {
        let code = self.random.token();
        let row = ActiveModel {
            hash: Set(sha256_hex(&code)),
            grant_id: Set(grant_id),
            redirect_uri: Set(redirect_uri.to_owned()),
            challenge: Set(asked.challenge.clone()),
            nonce: Set(asked.nonce.clone()),
            expires_at: Set(self.clock.now() + LIFETIME),
            used_at: Set(None),
        };
        Entity::insert(row).exec_without_returning(db).await?;
        Ok(code)
    }

    /// Redeems a code (`grant_type=authorization_code`).
    pub(super) async fn redeem(&self, client_id: &str, form: &Parameters) -> Result<Response, OAuthError> {
        let code = form.require("code", "code is missing.")?;
        let verifier = form.require("code_verifier", "code_verifier is missing: PKCE is required.")?;
        if !is_verifier(verifier) {
            return Err(refused("invalid_request", "code_verifier must have 43 to 128 unreserved characters."));
        }
        let now = self.clock.now();
        let row = Entity::find_by_id(sha256_hex(code)).one(&self.db).await?.ok_or_else(unusable)?;
        let grant = grants::find(&self.db, row.grant_id).await?.ok_or_else(unusable)?;
        // Clients of OAuth 2.1 do not repeat the address: the verifier binds the code (section 10.2).
        let is_bound = grant.client_id == client_id
            && form.get("redirect_uri").is_none_or(|redirect_uri| row.redirect_uri == redirect_uri)
            && same(&pkce_challenge(verifier), &row.challenge);
        // Somebody else holds the code, or the person signed out, or lost their sessions with their password.
        if !is_bound || !self.is_running(grant.issuer_session_id).await? {
            grants::end(&self.db, &grant, now).await?;
            return Err(unusable());
        }
        if grant.ended_at.is_some() || (row.used_at.is_none() && now >= row.expires_at) {
            return Err(unusable());
        }
        let resources = self.narrowed(&grant, form)?;
        let refreshes = scope::has(&grant.scope, "offline_access");
        let renewal = match self.spend_code(&grant, code, refreshes).await? {
            Some(renewal) => Some(renewal),
            None => self.repeat_exchange(code, None, refreshes).await?,
        };
        let Some(renewal) = renewal else {
            grants::end(&self.db, &grant, now).await?;
            return Err(unusable());
        };
        self.answer(&grant, &grant.scope, &resources, row.nonce.as_deref(), refreshes.then_some(renewal)).await
    }

    /// Marks the code as used and stores the refresh token that it gives. `None` if it was used before: a single statement decides between
    /// two requests. A second use ends the grant with all its tokens (RFC 6749 section 4.1.2), unless it repeats the first.
    async fn spend_code(
        &self,
        grant: &oauth_grant::Model,
        code: &str,
        refreshes: bool,
    ) -> Result<Option<Renewal>, DbErr> {
        let tx = database::begin(&self.db).await?;
        let spent = Entity::update_many()
            .col_expr(Column::UsedAt, Expr::value(self.clock.now()))
            .filter(Column::Hash.eq(sha256_hex(code)))
            .filter(Column::UsedAt.is_null())
            .exec(&tx)
            .await?;
        if spent.rows_affected == 0 {
            tx.rollback().await?;
            return Ok(None);
        }
        let renewal = self.exchange_code(&tx, grant, code).await?;
        if refreshes {
            self.store_refresh_token(&tx, grant, &renewal).await?;
        }
        tx.commit().await?;
        Ok(Some(renewal))
    }
}

fn unusable() -> OAuthError {
    refused(
        "invalid_grant",
        "The code is unknown, expired, used, or was issued for another client, address or verifier.",
    )
}

/// Returns whether `text` is a code verifier (RFC 7636 section 4.1).
fn is_verifier(text: &str) -> bool {
    let unreserved = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
    (43..=128).contains(&text.len()) && text.bytes().all(unreserved)
}
