//! The stored clients: added by registration or by an operator, and removed by an operator.

use chrono::{DateTime, Utc};
use common::{digest::sha256_hex, plain_text::quoted, random::Random};
use entity::{
    consent,
    oauth_client::{ActiveModel, Column, Entity, Model},
};
use sea_orm::{ActiveValue::Set, ConnectionTrait, DatabaseConnection, DbErr, EntityTrait as _, QueryOrder as _};
use serde_json::json;
use store::{Error, database};

use super::{
    client_metadata::Checked,
    clients::{BUILT_IN, redirect_uris_of},
    grants,
};

/// The origin of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It registered itself. It is deleted when nobody uses it.
    Registration,
    /// An operator added it. It stays until an operator removes it.
    Operator,
}

/// A stored client, for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedClient {
    /// Client id.
    pub id: String,
    /// Name, if it has one.
    pub name: Option<String>,
    /// Its redirect URIs.
    pub redirect_uris: Vec<String>,
    /// True if it may receive refresh tokens.
    pub refreshes: bool,
    /// True if it has a secret.
    pub has_secret: bool,
    /// Its origin.
    pub origin: Origin,
    /// Time when it came to be.
    pub created_at: DateTime<Utc>,
    /// Number of people's current consents to it.
    pub grants: usize,
}

/// Stores a client under a new id, with the hash of its secret if it has one, and returns the id. It is a UUID and never an address, so it cannot be taken for the
/// address of a metadata document.
pub async fn insert(
    db: &impl ConnectionTrait,
    client: &Checked,
    origin: Origin,
    secret: Option<&str>,
    random: &Random,
    now: DateTime<Utc>,
) -> Result<String, DbErr> {
    let id = random.id(now).to_string();
    let row = ActiveModel {
        id: Set(id.clone()),
        name: Set(client.name.clone()),
        redirect_uris: Set(redirect_uris_text(client)),
        refreshes: Set(client.refreshes()),
        uses_device_codes: Set(client.uses_device_codes()),
        created_at: Set(now),
        added_by_operator: Set(origin == Origin::Operator),
        secret_hash: Set(secret.map(sha256_hex)),
    };
    Entity::insert(row).exec_without_returning(db).await?;
    Ok(id)
}

/// The redirect URIs of a client as they are stored.
pub(super) fn redirect_uris_text(client: &Checked) -> String {
    json!(client.redirect_uris).to_string()
}

/// Returns every stored client, oldest first.
pub async fn list(db: &impl ConnectionTrait, now: DateTime<Utc>) -> Result<Vec<ListedClient>, DbErr> {
    let rows = Entity::find().order_by_asc(Column::CreatedAt).order_by_asc(Column::Id).all(db).await?;
    let given = grants::counts(db, now).await?;
    let listed = |row: Model| ListedClient {
        redirect_uris: redirect_uris_of(&row),
        grants: given.get(&row.id).copied().unwrap_or_default(),
        origin: if row.added_by_operator { Origin::Operator } else { Origin::Registration },
        id: row.id,
        name: row.name,
        refreshes: row.refreshes,
        has_secret: row.secret_hash.is_some(),
        created_at: row.created_at,
    };
    Ok(rows.into_iter().map(listed).collect())
}

/// Removes a client, ends the grants to it, and forgets that people allowed it. Returns the number of grants. Grants to the client
/// of a metadata document end in the same way; the document itself belongs to somebody else, and people are asked again.
///
/// # Errors
/// [`Error::Refused`] if there is no such client, or if it is built in.
pub async fn remove(db: &DatabaseConnection, id: &str, now: DateTime<Utc>) -> Result<usize, Error> {
    if BUILT_IN.contains(&id) {
        return Err(Error::refused(format!("client: {id} is built in and cannot be removed")));
    }
    let tx = database::begin(db).await?;
    // Deleted first: a code that is issued meanwhile belongs to a client that is no longer known.
    let deleted = Entity::delete_by_id(id).exec(&tx).await?.rows_affected;
    let given = grants::of_client(&tx, id, now).await?;
    let forgotten = consent::Entity::forget_client(id).exec(&tx).await?.rows_affected;
    if deleted == 0 && forgotten == 0 && given.is_empty() {
        tx.rollback().await?;
        let id = quoted(id);
        return Err(Error::refused(format!("client: no client has the id {id}; `sightline client list` prints all")));
    }
    for grant in &given {
        grants::end(&tx, grant, now).await?;
    }
    tx.commit().await?;
    Ok(given.len())
}
