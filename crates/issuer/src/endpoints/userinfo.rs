//! The userinfo endpoint (`OpenID` Connect Core section 5.3).

use identity::credentials::{Presented, SESSION_COOKIE, presented};
use poem::{Request, Response, handler, http::StatusCode, web::Data};
use serde_json::json;

use crate::{
    IdentityProvider, grants,
    issue::{ACCESS_TOKEN_TYPE, AccessClaims, about},
    response::{OAuthError, private_json},
    scope,
};

/// Returns the claims about the person that the access token's scope includes.
#[handler]
pub(super) async fn userinfo(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
) -> Result<Response, OAuthError> {
    let Ok(Presented::Bearer(token)) = presented(request.headers(), SESSION_COOKIE) else {
        let anonymous = !request.headers().contains_key("authorization");
        return Ok(refusal(StatusCode::UNAUTHORIZED, (!anonymous).then_some("invalid_token")));
    };
    let Some(claims) = provider.running_token(&token).await? else {
        return Ok(refusal(StatusCode::UNAUTHORIZED, Some("invalid_token")));
    };
    if !scope::has(&claims.scope, "openid") {
        return Ok(refusal(StatusCode::FORBIDDEN, Some("insufficient_scope")));
    }
    let Some(person) = provider.person(&claims.sub).await? else {
        return Ok(refusal(StatusCode::UNAUTHORIZED, Some("invalid_token")));
    };
    let mut body = about(&person, &claims.scope);
    body.insert("sub".to_owned(), person.subject.clone().into());
    Ok(private_json(StatusCode::OK, &body.into()))
}

impl IdentityProvider {
    /// Returns the claims of an access token of this issuer that has neither expired nor been revoked.
    async fn running_token(&self, token: &str) -> Result<Option<AccessClaims>, OAuthError> {
        let claims = self.keys.read::<AccessClaims>(ACCESS_TOKEN_TYPE, token).await?;
        let Some(claims) = claims.filter(|claims| self.clock.now().timestamp() < claims.exp) else { return Ok(None) };
        let grant = grants::find(&self.db, claims.sightline_grant).await?;
        Ok(grant.filter(|grant| grant.ended_at.is_none()).map(|_| claims))
    }
}

fn refusal(status: StatusCode, error: Option<&str>) -> Response {
    let mut response = private_json(status, &json!({ "error": error.unwrap_or("invalid_request") }));
    let challenge = error.map_or_else(|| "Bearer".to_owned(), |error| format!("Bearer error=\"{error}\""));
    if let Ok(challenge) = challenge.parse() {
        response.headers_mut().insert("WWW-Authenticate", challenge);
    }
    response
}
