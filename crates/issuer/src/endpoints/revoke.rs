//! The revocation endpoint (RFC 7009). Revoking any token of a grant ends the grant, so its access tokens are refused at
//! once.

use entity::oauth_grant::Model as Grant;
use poem::{Body, Request, Response, handler, http::StatusCode, web::Data};
use serde_json::json;

use crate::{
    IdentityProvider, grants,
    issue::{ACCESS_TOKEN_TYPE, AccessClaims},
    parameters::Parameters,
    response::{OAuthError, private_json},
};

/// Revokes a token. Possession is sufficient proof. `client_id` names the client that it must belong to. Unknown tokens get
/// the same response.
#[handler]
pub(super) async fn revoke(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> Result<Response, OAuthError> {
    let form = Parameters::form(request, body).await?;
    let token = form.require("token", "token is missing.")?;
    let client_id = provider.client_of(request, &form).await?;
    if let Some(grant) = provider.grant_of(token).await?
        && grant.client_id == client_id
    {
        grants::end(&provider.db, &grant, provider.clock.now()).await?;
    }
    Ok(private_json(StatusCode::OK, &json!({})))
}

impl IdentityProvider {
    /// Returns the grant that a token belongs to. `token_type_hint` is not needed, because the two kinds are
    /// distinguishable.
    async fn grant_of(&self, token: &str) -> Result<Option<Grant>, OAuthError> {
        if let Some(claims) = self.keys.read::<AccessClaims>(ACCESS_TOKEN_TYPE, token).await? {
            return Ok(grants::find(&self.db, claims.sightline_grant).await?);
        }
        Ok(self.grant_of_refresh_token(token).await?)
    }
}
