//! Dynamic client registration (RFC 7591). It is open to anyone, so size and number are limited: per address, per network, and in total.

use chrono::TimeDelta;
use common::{addresses::ClientAddress, rate_limit::Rate, strict_json};
use entity::oauth_client::{Column, Entity};
use poem::{Body, Request, Response, handler, http::StatusCode, web::Data};
use sea_orm::{ColumnTrait, EntityTrait, PaginatorTrait, QueryFilter, QueryOrder};
use serde_json::{Value, json};

use crate::{
    IdentityProvider,
    client_metadata::{BadMetadata, Checked, Metadata, bad},
    registry::{self, Origin},
    response::{OAuthError, private_json, refused},
};

const MAX_BODY_BYTES: usize = 16 * 1024;
/// Registrations that one address may make in an hour.
const MAX_PER_HOUR_AND_ADDRESS: u32 = 20;
/// Registrations that one network ([`ClientAddress::network`]) may make in an hour.
const MAX_PER_HOUR_AND_NETWORK: u32 = 40;
/// Registrations in an hour in total, before each network has only [`MAX_BEYOND`] more. A day of it is less than half of [`MAX_CLIENTS`],
/// so that the sweep keeps up with a flood.
const MAX_PER_HOUR: u64 = 1_000;
/// Registrations that one network may make in an hour, and at once, although there were too many, so that no flood shuts out other networks.
const MAX_BEYOND: (u32, u32) = (1, 1);
/// Maximum number of stored clients.
pub const MAX_CLIENTS: u64 = 50_000;
/// Seconds to wait before retrying at the limit.
const NO_ROOM_RETRY: u64 = 60;

/// Registers a public client.
#[handler]
pub(super) async fn register(
    Data(provider): Data<&IdentityProvider>,
    request: &Request,
    body: Body,
) -> Result<Response, OAuthError> {
    let bytes = body.into_bytes_limit(MAX_BODY_BYTES).await.map_err(|_| bad("The document is too large."))?;
    let client = Metadata::of(document(&bytes)?)?.check()?.of_anyone()?;
    let address = request.data();
    let (id, issued_at) = if let Some(there) = provider.registered_alike(&client).await? {
        there
    } else {
        provider.count_registration(address).await?;
        provider.add_client(&client, address).await?
    };
    let mut answer = json!({
        "client_id": id,
        "client_id_issued_at": issued_at,
        "redirect_uris": client.redirect_uris,
        "token_endpoint_auth_method": "none",
        "grant_types": client.grant_types,
        "response_types": client.response_types(),
        "application_type": client.application_type,
    });
    if let Some(name) = client.name {
        answer["client_name"] = name.into();
    }
    Ok(private_json(StatusCode::CREATED, &answer))
}

/// Reads the document of a registration. Descriptions are ASCII (RFC 7591 section 3.2.2).
fn document(bytes: &[u8]) -> Result<Value, OAuthError> {
    strict_json::parse(bytes).map_err(|(path, fault)| {
        let is_plain = |letter: &char| letter.is_ascii_alphanumeric() || "_-.[]".contains(*letter);
        let path: String = path.chars().filter(is_plain).collect();
        let name = if path.is_empty() { "body" } else { &path };
        refused("invalid_client_metadata", format!("{name}: {fault}."))
    })
}

impl IdentityProvider {
    /// Returns the client that registered with the same metadata within the hour, and the time in Unix seconds, if it leads back to web sites
    /// only. Assistants that are web sites register once for each of their people, all from the same few addresses, and one client serves
    /// them all: its id is no secret, and consents and grants belong to a person. RFC 7591 section 3.2.1 permits it.
    async fn registered_alike(&self, client: &Checked) -> Result<Option<(String, i64)>, OAuthError> {
        if !client.leads_to_web_sites() {
            return Ok(None);
        }
        let now = self.clock.now();
        let alike = Entity::find()
            .filter(Column::CreatedAt.gt(now - TimeDelta::hours(1)))
            .filter(Column::CreatedAt.lte(now))
            .filter(Column::AddedByOperator.eq(false))
            .filter(Column::RedirectUris.eq(registry::redirect_uris_text(client)))
            .filter(client.name.as_ref().map_or_else(|| Column::Name.is_null(), |name| Column::Name.eq(name)))
            .filter(Column::Refreshes.eq(client.refreshes()))
            .filter(Column::UsesDeviceCodes.eq(client.uses_device_codes()));
        let alike = alike.order_by_desc(Column::CreatedAt).one(&self.db).await?;
        Ok(alike.map(|client| (client.id, client.created_at.timestamp())))
    }

    /// Counts a registration against the client's address and network.
    async fn count_registration(&self, address: Option<&ClientAddress>) -> Result<(), OAuthError> {
        let Some((counts, address)) = self.counts.as_ref().zip(address) else { return Ok(()) };
        let (network, per_network) = (address.network(), Rate::per_hour(MAX_PER_HOUR_AND_NETWORK));
        counts.count(&format!("register/{address}"), Rate::per_hour(MAX_PER_HOUR_AND_ADDRESS)).await?;
        counts.count(&format!("register/network/{network}"), per_network).await
    }

    /// Counts a registration although there were too many in the hour.
    async fn count_beyond(&self, address: Option<&ClientAddress>) -> Result<(), OAuthError> {
        let counted = self.counts.as_ref().zip(address);
        let (counts, address) = counted.ok_or(OAuthError::TooMany(NO_ROOM_RETRY))?;
        counts.count_beyond("register", address, MAX_BEYOND).await
    }

    /// Stores a new client and returns its id and the time in Unix seconds.
    async fn add_client(&self, client: &Checked, address: Option<&ClientAddress>) -> Result<(String, i64), OAuthError> {
        let now = self.clock.now();
        let registered = Entity::find().filter(Column::AddedByOperator.eq(false));
        if registered.clone().count(&self.db).await? >= MAX_CLIENTS {
            return Err(OAuthError::TooMany(NO_ROOM_RETRY));
        }
        let recent =
            registered.filter(Column::CreatedAt.gt(now - TimeDelta::hours(1))).filter(Column::CreatedAt.lte(now));
        let recent = recent.count(&self.db).await?;
        if recent >= MAX_PER_HOUR {
            self.count_beyond(address).await?;
        }
        let id = registry::insert(&self.db, client, Origin::Registration, None, &self.random, now).await?;
        Ok((id, now.timestamp()))
    }
}

impl From<BadMetadata> for OAuthError {
    fn from(BadMetadata { code, description }: BadMetadata) -> Self {
        refused(code, description)
    }
}
