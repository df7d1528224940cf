//! The device authorization endpoint (RFC 8628 section 3.1), where a machine without a browser asks for its codes. Scripts of other
//! origins cannot read its answers: a page that could would have codes that were asked for from the address of whoever opened it.

use pages::client_address::client_address;
use poem::{Body, Request, Response, error::ResponseError as _, handler, http::StatusCode, web::Data};
use serde_json::json;

use super::device;
use crate::{
    IdentityProvider,
    clients::AskingError,
    device_codes::{INTERVAL, LIFETIME},
    parameters::Parameters,
    request::{self, RequestError},
    response::{OAuthError, private_json, refused},
};

/// The path of the endpoint.
pub(super) const PATH: &str = "/oauth/device_authorization";

/// Issues a device code and the code to type.
#[handler]
pub(super) async fn ask(Data(provider): Data<&IdentityProvider>, request: &Request, body: Body) -> Response {
    provider.ask_for_device(request, body).await.unwrap_or_else(|error| error.as_response())
}

impl IdentityProvider {
    async fn ask_for_device(&self, request: &Request, body: Body) -> Result<Response, OAuthError> {
        let form = Parameters::form(request, body).await?;
        let id = self.client_of(request, &form).await?;
        let from = client_address(request);
        self.count_device(&from).await?;
        let client = self.asking_client(&id, Some(&from)).await.map_err(|error| match error {
            AskingError::Refused(reason) => refused("invalid_client", reason),
            AskingError::Database(error) => error.into(),
        })?;
        if !client.uses_device_codes {
            return Err(refused(
                "unauthorized_client",
                "The client has not registered the grant urn:ietf:params:oauth:grant-type:device_code.",
            ));
        }
        let access = request::access(&form, &client, &self.settings);
        let access = access.map_err(|RequestError(code, description)| refused(code, description))?;
        let codes = self.issue_device_code(&client, &access, &from).await?;
        // No address holds the code, so that nobody allows anything by following a link.
        Ok(private_json(
            StatusCode::OK,
            &json!({
                "device_code": codes.device,
                "user_code": codes.user.to_string(),
                "verification_uri": self.base_url().join(device::PATH),
                "expires_in": LIFETIME.num_seconds(),
                "interval": INTERVAL,
            }),
        ))
    }
}
