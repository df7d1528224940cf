//! The token endpoint.

use entity::oauth_grant;
use poem::{Body, Request, Response, handler, web::Data};

use crate::{
    IdentityProvider, device_codes,
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
    let client_id = provider.client_of(request, &form).await?;
    match grant_type {
        "authorization_code" => provider.redeem(&client_id, &form).await,
        device_codes::GRANT_TYPE => provider.redeem_device_code(&client_id, &form).await,
        _ => provider.refresh(&client_id, &form).await,
    }
}

impl IdentityProvider {
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
