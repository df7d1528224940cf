//! The names of clients at the embedded issuer, and the ids of those that belong to the service itself.

use entity::oauth_client;
use sea_orm::{ConnectionTrait, DbErr, EntityTrait as _};

/// Swagger UI on the service's own documentation page.
pub const DOCS: &str = "sightline-docs";
/// The `login` command.
pub const CLI: &str = "sightline-cli";
/// Browser sign-in of the web application.
pub const WEB: &str = "sightline-web";

/// The ids of the clients of the service itself.
pub const BUILT_IN: [&str; 3] = [DOCS, CLI, WEB];

/// Returns the name of a client of the service itself.
#[must_use]
pub fn own_name(id: &str) -> Option<&'static str> {
    match id {
        DOCS => Some("API documentation"),
        CLI => Some("Sightline command line"),
        WEB => Some("Sightline"),
        _ => None,
    }
}

/// Returns the name of a client, or its id if it has no name here.
///
/// # Errors
/// The database cannot answer.
pub async fn name(db: &impl ConnectionTrait, id: &str) -> Result<String, DbErr> {
    if let Some(name) = own_name(id) {
        return Ok(name.to_owned());
    }
    let known = oauth_client::Entity::find_by_id(id).one(db).await?;
    Ok(known.and_then(|client| client.name).unwrap_or_else(|| id.to_owned()))
}
