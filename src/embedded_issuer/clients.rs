//! Clients: three built-in ones, and those that registered dynamically. All are public (no secret).

use entity::oauth_client;
use sea_orm::{DbErr, EntityTrait};

use super::{IdentityProvider, redirect_uri};

/// Swagger UI on the service's own documentation page.
pub const DOCS: &str = "sightline-docs";
/// The `login` command.
pub const CLI: &str = "sightline-cli";
/// Browser sign-in of the web application.
pub const WEB: &str = "sightline-web";

/// A client as seen by authorization requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// Client id.
    pub id: String,
    /// Name for the consent page.
    pub name: Option<String>,
    /// Registered redirect URIs.
    pub redirect_uris: Vec<String>,
    /// True if it may receive refresh tokens.
    pub refreshes: bool,
}

impl Client {
    /// Returns whether `requested` is one of its redirect URIs.
    #[must_use]
    pub fn redirects_to(&self, requested: &str) -> bool {
        self.redirect_uris.iter().any(|registered| redirect_uri::matches(registered, requested))
    }
}

impl IdentityProvider {
    /// Returns the client with this id.
    pub(super) async fn client(&self, id: &str) -> Result<Option<Client>, DbErr> {
        if let Some(client) = self.built_in_client(id) {
            return Ok(Some(client));
        }
        let row = oauth_client::Entity::find_by_id(id).one(&self.db).await?;
        Ok(row.map(|row| Client {
            redirect_uris: serde_json::from_str(&row.redirect_uris).unwrap_or_default(),
            id: row.id,
            name: row.name,
            refreshes: row.refreshes,
        }))
    }

    fn built_in_client(&self, id: &str) -> Option<Client> {
        let base = self.issuer();
        let (name, redirect_uri, refreshes) = match id {
            DOCS => ("API documentation", format!("{base}/docs/oauth2-redirect.html"), false),
            CLI => ("Sightline command line", "http://127.0.0.1/callback".to_owned(), true),
            WEB => ("Sightline", format!("{base}/auth/callback"), false),
            _ => return None,
        };
        let redirect_uris = vec![redirect_uri];
        Some(Client { id: id.to_owned(), name: Some(name.to_owned()), redirect_uris, refreshes })
    }
}
