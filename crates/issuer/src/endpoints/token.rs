//! The token endpoint. Public clients identify themselves by `client_id`. There is no other client authentication.

use entity::oauth_grant;
use poem::{Body, Request, Response, handler, http::header, web::Data};

use crate::{
    IdentityProvider,
    clients::host_of,
    device_codes,
    parameters::Parameters,
    request::{self, RequestError},
    response::{OAuthError, refused},
};

/// Exchanges a code, a device code or a refresh token for tokens.
#[handler]
pub(super) async fn token(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> Result<Response, OAuthError> {
    let form = Parameters::form(request, body).await?;
    let grant_type = form.require("grant_type", "grant_type is missing.")?;
    if !["authorization_code", "refresh_token", device_codes::GRANT_TYPE].contains(&grant_type) {
        return Err(refused(
            "unsupported_grant_type",
            "Grants are authorization_code, refresh_token and urn:ietf:params:oauth:grant-type:device_code.",
        ));
    }
    let client_id = provider.public_client(request, &form).await?;
    match grant_type {
        "authorization_code" => provider.redeem(&client_id, &form).await,
        device_codes::GRANT_TYPE => provider.redeem_device_code(&client_id, &form).await,
        _ => provider.refresh(&client_id, &form).await,
    }
}

impl IdentityProvider {
    /// Returns the client named by `client_id`. A client that tries to authenticate is unknown.
    pub(super) async fn public_client(&self, request: &Request, form: &Parameters) -> Result<String, OAuthError> {
        let authenticates = request.headers().contains_key(header::AUTHORIZATION)
            || ["client_secret", "client_assertion"].iter().any(|name| form.get(name).is_some());
        if authenticates {
            return Err(refused("invalid_client", "Clients are public: send client_id and no secret."));
        }
        let id = form.require("client_id", "client_id is missing.")?;
        // The metadata document is not fetched again: a code or token is bound to the client that it was issued to.
        if self.documents.is_some() && host_of(id).is_some() {
            return Ok(id.to_owned());
        }
        match self.client(id).await? {
            Some(client) => Ok(client.id),
            None => Err(refused("invalid_client", "The client is not known.")),
        }
    }

    /// The resources for a new access token: the grant's, or the requested ones if the grant includes them (RFC
    /// 8707).
    pub(crate) fn narrowed(&self, grant: &oauth_grant::Model, form: &Parameters) -> Result<Vec<String>, OAuthError> {
        let mut granted: Vec<String> = serde_json::from_str(&grant.resources).unwrap_or_default();
        if granted.is_empty() {
            granted.clone_from(&self.settings.audiences);
        }
        let asked = request::resources(form, &granted).map_err(|RequestError(code, why)| refused(code, why))?;
        Ok(if asked.is_empty() { granted } else { asked })
    }
}
