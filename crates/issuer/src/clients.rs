//! Clients: three built-in ones, stored ones, and ones with a metadata document. All are public (no secret).

use common::addresses::ClientAddress;
use entity::oauth_client;
use identity::clients::own_name;
use sea_orm::{DbErr, EntityTrait};

use super::{IdentityProvider, redirect_uri};

pub use identity::clients::{BUILT_IN, CLI, DOCS, WEB};

/// Returns whether the client is part of the service, so that its name can be trusted.
#[must_use]
pub fn is_built_in(id: &str) -> bool {
    BUILT_IN.contains(&id)
}

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
    /// True if it may ask for device codes.
    pub uses_device_codes: bool,
    /// True if it is built in, or an operator added it. Anyone can make any other client, with any address.
    pub trusted: bool,
}

impl Client {
    /// Returns whether `requested` is one of its redirect URIs.
    #[must_use]
    pub fn redirects_to(&self, requested: &str) -> bool {
        self.redirect_uris.iter().any(|registered| redirect_uri::matches(registered, requested))
    }

    /// The host of the client's metadata document, with its port if it is not the default. `None` for a client without a metadata
    /// document, for which nobody vouches. People must see it: unlike the name, it cannot be chosen freely.
    #[must_use]
    pub fn host(&self) -> Option<&str> {
        host_of(&self.id)
    }
}

/// The receiver of an access: a client, and the place where it gets the access.
pub(super) struct Recipient<'a> {
    pub client: &'a Client,
    /// The address that the client gets codes at.
    pub place: String,
}

/// The host in a client id that is the address of a metadata document (see [`Client::host`]).
#[must_use]
pub fn host_of(client_id: &str) -> Option<&str> {
    // The address is known to be in its canonical form: no user, and a path.
    let rest = client_id.strip_prefix("https://").or_else(|| client_id.strip_prefix("http://"))?;
    rest.split('/').next().filter(|host| !host.is_empty())
}

/// The redirect URIs of a stored client.
pub(super) fn redirect_uris_of(row: &oauth_client::Model) -> Vec<String> {
    serde_json::from_str(&row.redirect_uris).unwrap_or_default()
}

/// The reason why an authorization request cannot be answered by a redirect.
#[derive(Debug, thiserror::Error)]
pub(super) enum AskingError {
    /// The client or its redirect URI is not known: a sentence for the error page.
    #[error("{0}")]
    Refused(&'static str),
    /// The database does not respond.
    #[error(transparent)]
    Database(#[from] DbErr),
}

impl IdentityProvider {
    /// Returns the client that asks for authorization. Its metadata document is fetched if its id is the address of one. `from` is the
    /// address of the person's browser, which the fetch is counted against.
    pub(super) async fn asking_client(&self, id: &str, from: Option<&ClientAddress>) -> Result<Client, AskingError> {
        if let Some(documents) = self.documents.as_ref().filter(|_| host_of(id).is_some()) {
            return documents.client(id, from).await.map_err(|unreadable| AskingError::Refused(unreadable.0));
        }
        self.client(id).await?.ok_or(AskingError::Refused("The application that sent you here is not known. Remove this service from the application, and add it again."))
    }

    /// Returns the client with this id, if it is built in or stored. Nothing is fetched.
    pub(super) async fn client(&self, id: &str) -> Result<Option<Client>, DbErr> {
        if let Some(client) = self.built_in_client(id) {
            return Ok(Some(client));
        }
        let row = oauth_client::Entity::find_by_id(id).one(&self.db).await?;
        Ok(row.map(|row| Client {
            redirect_uris: redirect_uris_of(&row),
            id: row.id,
            name: row.name,
            refreshes: row.refreshes,
            uses_device_codes: row.uses_device_codes,
            trusted: row.added_by_operator,
        }))
    }

    fn built_in_client(&self, id: &str) -> Option<Client> {
        let base = self.issuer();
        let redirect_uri = match id {
            DOCS => format!("{base}/docs/oauth2-redirect.html"),
            CLI => "http://127.0.0.1/callback".to_owned(),
            WEB => format!("{base}/auth/callback"),
            _ => return None,
        };
        // Only a program keeps tokens, and runs where there is no browser.
        let (refreshes, uses_device_codes) = (id == CLI, id == CLI);
        let (name, redirect_uris) = (own_name(id).map(str::to_owned), vec![redirect_uri]);
        Some(Client { id: id.to_owned(), name, redirect_uris, refreshes, uses_device_codes, trusted: true })
    }
}
