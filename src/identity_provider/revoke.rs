//! The revocation endpoint (RFC 7009). Revoking any token of a grant ends the grant, so its access tokens die at once.

use entity::{oauth_grant::Model as Grant, refresh_token};
use poem::{Body, Request, Response, handler, http::StatusCode, web::Data};
use sea_orm::EntityTrait;
use serde_json::json;

use super::{
    IdentityProvider, grants,
    issue::{ACCESS_TOKEN_TYPE, AccessClaims},
    parameters::Parameters,
    response::{OAuthError, private_json},
};
use crate::identity::hashing::sha256_hex;

/// Revokes a token. Possession is proof enough; `client_id` says whose it has to be. Unknown tokens are answered alike.
#[handler]
pub(super) async fn revoke(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> Result<Response, OAuthError> {
    let form = Parameters::form(request, body).await?;
    let token = form.require("token", "token is missing.")?;
    let client_id = provider.public_client(request, &form).await?;
    if let Some(grant) = provider.grant_of(token).await?
        && grant.client_id == client_id
    {
        grants::end(&provider.db, &grant, provider.clock.now()).await?;
    }
    Ok(private_json(StatusCode::OK, &json!({})))
}

impl IdentityProvider {
    /// The grant a token hangs on. `token_type_hint` is not needed: the two kinds cannot be mistaken for each other.
    async fn grant_of(&self, token: &str) -> Result<Option<Grant>, OAuthError> {
        let id = match self.keys.read::<AccessClaims>(ACCESS_TOKEN_TYPE, token).await? {
            Some(claims) => Some(claims.sightline_grant),
            None => {
                let row = refresh_token::Entity::find_by_id(sha256_hex(token)).one(&self.db).await?;
                row.map(|row| row.grant_id)
            }
        };
        match id {
            Some(id) => Ok(grants::find(&self.db, id).await?),
            None => Ok(None),
        }
    }
}
