//! Authorization codes: issued for a grant, redeemable once, within a minute, by the holder of the PKCE verifier.

use chrono::TimeDelta;
use common::digest::{pkce_challenge, same, sha256_hex};
use entity::{
    authorization_code::{ActiveModel, Column, Entity, Model},
    oauth_grant,
};
use poem::Response;
use sea_orm::{ActiveValue::Set, ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, sea_query::Expr};
use uuid::Uuid;

use super::{
    IdentityProvider,
    family::Family,
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
        let redirect_uri = form.require("redirect_uri", "redirect_uri is missing.")?;
        let verifier = form.require("code_verifier", "code_verifier is missing: PKCE is required.")?;
        if !is_verifier(verifier) {
            return Err(refused("invalid_request", "code_verifier must have 43 to 128 unreserved characters."));
        }
        let (code, grant) = self.spend(code).await?;
        let bound = grant.client_id == client_id
            && code.redirect_uri == redirect_uri
            && same(&pkce_challenge(verifier), &code.challenge);
        // The person signed out, or lost their sessions with their password.
        if !self.is_running(grant.issuer_session_id).await? {
            grants::end(&self.db, &grant, self.clock.now()).await?;
            return Err(unusable());
        }
        if !bound || grant.ended_at.is_some() || self.clock.now() >= code.expires_at {
            return Err(unusable());
        }
        let resources = self.narrowed(&grant, form)?;
        let refresh = scope::has(&grant.scope, "offline_access").then(|| Family::new(&self.random));
        self.answer(&grant, &grant.scope, &resources, code.nonce.as_deref(), refresh).await
    }

    /// Marks the code as used, whether or not the exchange succeeds. A single statement decides between two requests with
    /// the same code. A second use means that the code leaked, and ends the grant with all its tokens (RFC 6749 section
    /// 4.1.2).
    async fn spend(&self, code: &str) -> Result<(Model, oauth_grant::Model), OAuthError> {
        let (hash, now) = (sha256_hex(code), self.clock.now());
        let spent = Entity::update_many()
            .col_expr(Column::UsedAt, Expr::value(now))
            .filter(Column::Hash.eq(&hash))
            .filter(Column::UsedAt.is_null())
            .exec(&self.db)
            .await?;
        let row = Entity::find_by_id(hash).one(&self.db).await?.ok_or_else(unusable)?;
        let grant = grants::find(&self.db, row.grant_id).await?.ok_or_else(unusable)?;
        if spent.rows_affected == 0 {
            grants::end(&self.db, &grant, now).await?;
            return Err(unusable());
        }
        Ok((row, grant))
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
