//! Creates access tokens (RFC 9068), ID tokens and the token endpoint's response.

use common::{allowance::Allowance, scope::Scopes};
use entity::oauth_grant::Model as Grant;
use identity::grants::REFRESH_TOKEN_LIFETIME;
use poem::{Response, http::StatusCode};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::{
    IdentityProvider,
    exchanges::Renewal,
    people::Person,
    response::{OAuthError, private_json, refused},
    scope,
};

pub(super) use identity::grants::ACCESS_TOKEN_LIFETIME;

pub(super) const ACCESS_TOKEN_TYPE: &str = "at+jwt";

/// The claims of an access token.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AccessClaims {
    pub iss: String,
    pub sub: String,
    pub aud: Vec<String>,
    pub client_id: String,
    pub iat: i64,
    pub exp: i64,
    pub auth_time: i64,
    pub jti: String,
    pub scope: String,
    /// The grant that the token belongs to.
    pub sightline_grant: Uuid,
    /// Name and e-mail address, if the scope includes them.
    #[serde(flatten)]
    pub person: Map<String, Value>,
}

impl IdentityProvider {
    /// The token endpoint's response for a grant, with tokens for a scope and resources within it, and with the refresh
    /// token if there is one. The tokens name what the client asked
    /// for, and the response what the person allows of it now.
    pub(super) async fn answer(
        &self,
        grant: &Grant,
        scope: &str,
        resources: &[String],
        nonce: Option<&str>,
        refresh: Option<Renewal>,
    ) -> Result<Response, OAuthError> {
        let person = self.person(&grant.subject).await?;
        let person = person.ok_or_else(|| refused("invalid_grant", "The person is gone."))?;
        let allowance = self.allowance(&grant.subject, &grant.client_id).await?;
        let allowed = allowance.map_or(Scopes::EVERY, Allowance::scopes);
        let granted = scope::with_rights(scope, scope::rights(scope).and(allowed));
        let mut body = json!({
            "access_token": self.access_token(grant, &person, scope, resources).await?,
            "token_type": "Bearer",
            "expires_in": ACCESS_TOKEN_LIFETIME.num_seconds(),
        });
        // RFC 6749 section 3.3 has no scope without a word.
        if !granted.is_empty() {
            body["scope"] = granted.into();
        }
        if scope::has(scope, "openid") {
            body["id_token"] = self.id_token(grant, &person, scope, nonce).await?.into();
        }
        if let Some(renewal) = refresh {
            body["refresh_token"] = renewal.token.into();
            body["refresh_token_expires_in"] = REFRESH_TOKEN_LIFETIME.num_seconds().into();
        }
        Ok(private_json(StatusCode::OK, &body))
    }

    /// An access token of a grant, for a scope and resources within it.
    pub(super) async fn access_token(
        &self,
        grant: &Grant,
        person: &Person,
        scope: &str,
        resources: &[String],
    ) -> Result<String, OAuthError> {
        let now = self.clock.now();
        let claims = AccessClaims {
            iss: self.issuer().to_owned(),
            sub: grant.subject.clone(),
            aud: resources.to_vec(),
            client_id: grant.client_id.clone(),
            iat: now.timestamp(),
            exp: (now + ACCESS_TOKEN_LIFETIME).timestamp(),
            auth_time: grant.auth_time.unwrap_or(grant.created_at).timestamp(),
            jti: self.random.id(now).to_string(),
            scope: scope.to_owned(),
            sightline_grant: grant.id,
            person: about(person, scope),
        };
        self.keys.sign(ACCESS_TOKEN_TYPE, &claims).await
    }

    async fn id_token(
        &self,
        grant: &Grant,
        person: &Person,
        scope: &str,
        nonce: Option<&str>,
    ) -> Result<String, OAuthError> {
        let now = self.clock.now();
        let mut claims = about(person, scope);
        claims.insert("iss".to_owned(), self.issuer().into());
        claims.insert("sub".to_owned(), grant.subject.clone().into());
        claims.insert("aud".to_owned(), grant.client_id.clone().into());
        claims.insert("iat".to_owned(), now.timestamp().into());
        claims.insert("exp".to_owned(), (now + ACCESS_TOKEN_LIFETIME).timestamp().into());
        let auth_time = grant.auth_time.unwrap_or(grant.created_at);
        claims.insert("auth_time".to_owned(), auth_time.timestamp().into());
        if let Some(session) = grant.issuer_session_id {
            claims.insert("sid".to_owned(), session.to_string().into());
        }
        if let Some(nonce) = nonce {
            claims.insert("nonce".to_owned(), nonce.into());
        }
        self.keys.sign("JWT", &claims).await
    }
}

/// The claims about a person that a scope includes (`OpenID` Connect Core section 5.4).
pub(super) fn about(person: &Person, scope: &str) -> Map<String, Value> {
    let mut claims = Map::new();
    if scope::has(scope, "profile") {
        claims.extend(person.name.clone().map(|name| ("name".to_owned(), name.into())));
        claims.extend(person.username.clone().map(|name| ("preferred_username".to_owned(), name.into())));
    }
    if scope::has(scope, "email") {
        claims.insert("email".to_owned(), person.email.clone().into());
        claims.insert("email_verified".to_owned(), person.email_verified.into());
    }
    claims
}
