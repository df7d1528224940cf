//! Dynamic client registration (RFC 7591). It is open to anyone, so size and number are limited, per address and in total.

use api::models::is_name;
use chrono::TimeDelta;
use entity::oauth_client::{ActiveModel, Column, Entity};
use poem::{Body, Request, Response, handler, http::StatusCode, web::Data};
use sea_orm::{ActiveValue::Set, ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    addresses::ClientAddress,
    embedded_issuer::{
        IdentityProvider, redirect_uri,
        response::{OAuthError, private_json, refused},
    },
    store::rate_limit::Rate,
};

const MAX_BODY_BYTES: usize = 16 * 1024;
const MAX_REDIRECT_URIS: usize = 10;
const MAX_NAME_CHARS: usize = 100;
/// Registrations that one address may make in an hour.
const MAX_PER_HOUR_AND_ADDRESS: u32 = 20;
/// Registrations in an hour in total. A day of it stays below [`MAX_CLIENTS`], so that the sweep keeps up with a flood.
const MAX_PER_HOUR: u64 = 2_000;
/// Maximum number of stored clients.
pub(in crate::embedded_issuer) const MAX_CLIENTS: u64 = 50_000;
/// Seconds to wait before retrying at the limit.
const NO_ROOM_RETRY: u64 = 60;

/// The supported members. Others are ignored.
#[derive(Deserialize)]
struct Metadata {
    redirect_uris: Option<Value>,
    client_name: Option<String>,
    token_endpoint_auth_method: Option<String>,
    grant_types: Option<Vec<String>>,
    response_types: Option<Vec<String>>,
    application_type: Option<String>,
}

/// Registers a public client.
#[handler]
pub(super) async fn register(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> Result<Response, OAuthError> {
    let bytes = body.into_bytes_limit(MAX_BODY_BYTES).await.map_err(|_| invalid("The document is too large."))?;
    let metadata: Metadata =
        serde_json::from_slice(&bytes).map_err(|_| invalid("Send a JSON object of client metadata."))?;
    let redirect_uris = redirect_uris(metadata.redirect_uris.as_ref())?;
    let (grant_types, name) = (grant_types(&metadata)?, name(metadata.client_name)?);
    let application_type = metadata.application_type.unwrap_or_else(|| "web".to_owned());
    if !["web", "native"].contains(&application_type.as_str()) {
        return Err(invalid("application_type must be web or native."));
    }
    let refreshes = grant_types.iter().any(|grant| grant == "refresh_token");
    provider.count_registration(request.data())?;
    let (id, issued_at) = provider.add_client(name.clone(), &redirect_uris, refreshes).await?;
    let mut answer = json!({
        "client_id": id,
        "client_id_issued_at": issued_at,
        "redirect_uris": redirect_uris,
        "token_endpoint_auth_method": "none",
        "grant_types": grant_types,
        "response_types": ["code"],
        "application_type": application_type,
    });
    if let Some(name) = name {
        answer["client_name"] = name.into();
    }
    Ok(private_json(StatusCode::CREATED, &answer))
}

impl IdentityProvider {
    /// Counts a registration against the client's address.
    fn count_registration(&self, address: Option<&ClientAddress>) -> Result<(), OAuthError> {
        let Some((limits, address)) = self.limits.as_ref().zip(address) else { return Ok(()) };
        let standing = limits.count(&format!("register/{address}"), Rate::per_hour(MAX_PER_HOUR_AND_ADDRESS));
        standing.retry_after.map_or(Ok(()), |seconds| Err(OAuthError::TooMany(seconds)))
    }

    /// Stores a new client and returns its id and the time in Unix seconds.
    async fn add_client(
        &self,
        name: Option<String>,
        redirect_uris: &[String],
        refreshes: bool,
    ) -> Result<(String, i64), OAuthError> {
        let now = self.clock.now();
        let recent = Entity::find().filter(Column::CreatedAt.gt(now - TimeDelta::hours(1))).count(&self.db).await?;
        if recent >= MAX_PER_HOUR || Entity::find().count(&self.db).await? >= MAX_CLIENTS {
            return Err(OAuthError::TooMany(NO_ROOM_RETRY));
        }
        let id = self.random.id(now).to_string();
        let row = ActiveModel {
            id: Set(id.clone()),
            name: Set(name),
            redirect_uris: Set(json!(redirect_uris).to_string()),
            refreshes: Set(refreshes),
            created_at: Set(now),
        };
        Entity::insert(row).exec_without_returning(&self.db).await?;
        Ok((id, now.timestamp()))
    }
}

fn invalid(description: &'static str) -> OAuthError {
    refused("invalid_client_metadata", description)
}

fn redirect_uris(value: Option<&Value>) -> Result<Vec<String>, OAuthError> {
    let bad = || {
        let rule = "redirect_uris: 1 to 10 addresses, each https, http on loopback or an own scheme, without fragment or wildcard.";
        refused("invalid_redirect_uri", rule)
    };
    let listed = value.and_then(Value::as_array).ok_or_else(bad)?;
    let uris: Option<Vec<String>> = listed.iter().map(|uri| uri.as_str().map(str::to_owned)).collect();
    uris.filter(|uris| {
        (1..=MAX_REDIRECT_URIS).contains(&uris.len()) && uris.iter().all(|uri| redirect_uri::may_be_registered(uri))
    })
    .ok_or_else(bad)
}

/// Returns the registered grant types, after checking all related members.
fn grant_types(metadata: &Metadata) -> Result<Vec<String>, OAuthError> {
    if metadata.token_endpoint_auth_method.as_ref().is_some_and(|method| method != "none") {
        return Err(invalid("token_endpoint_auth_method must be none: clients are public."));
    }
    if metadata.response_types.as_ref().is_some_and(|types| types.iter().ne(["code"])) {
        return Err(invalid("response_types must be [\"code\"]."));
    }
    let grants = metadata.grant_types.clone().unwrap_or_else(|| vec!["authorization_code".to_owned()]);
    let known = |grant: &String| ["authorization_code", "refresh_token"].contains(&grant.as_str());
    if !grants.iter().all(known) || !grants.iter().any(|grant| grant == "authorization_code") || grants.len() > 2 {
        return Err(invalid("grant_types must be authorization_code, with or without refresh_token."));
    }
    Ok(grants)
}

fn name(name: Option<String>) -> Result<Option<String>, OAuthError> {
    let name = name.map(|name| name.trim().to_owned()).filter(|name| !name.is_empty());
    let good = |name: &String| name.chars().count() <= MAX_NAME_CHARS && is_name(name);
    if name.as_ref().is_none_or(good) {
        Ok(name)
    } else {
        Err(invalid(
            "client_name: 1 to 100 characters that can be seen; no control characters, none that turn the direction of text.",
        ))
    }
}
