//! The `client` command, for operators: clients of the embedded issuer.

use clap::Subcommand;
use common::{
    clock::Clock,
    plain_text::{PLAIN_NAME, plain_name, quoted},
    random::Random,
};
use issuer::{
    client_metadata::{Checked, Metadata},
    registry::{self, ListedClient, Origin},
};
use serde_json::json;

use super::{check_embedded, terminal::Text};
use crate::{app, config::Config, error::Error};

/// Client commands for operators.
#[derive(Debug, Subcommand)]
pub enum ClientCommand {
    /// Add a client and print its id.
    Add {
        /// Name that people see when they sign in.
        #[arg(long)]
        name: String,
        /// Address to return to: https, http on loopback, or an application's own scheme; repeatable.
        #[arg(long, value_name = "URI", required = true)]
        redirect_uri: Vec<String>,
        /// Give the client no refresh tokens.
        #[arg(long)]
        no_refresh: bool,
        /// Give the client a secret, for a program that insists on one, and print it below the id.
        #[arg(long)]
        secret: bool,
    },
    /// List the added and the registered clients.
    List,
    /// Remove a client and end all access that people gave it.
    Remove {
        /// The client id.
        id: String,
    },
}

/// Runs `client …` and returns the text to print.
pub async fn client(command: &ClientCommand, config: &Config, clock: &Clock, random: &Random) -> Result<Text, Error> {
    check_embedded(config)?;
    let now = clock.now();
    match command {
        ClientCommand::Add { name, redirect_uri, no_refresh, secret } => {
            let client = checked(name, redirect_uri, !no_refresh)?;
            let db = app::open_existing_database(config).await?.writer;
            let secret = secret.then(|| random.token());
            let id = registry::insert(&db, &client, Origin::Operator, secret.as_deref(), random, now).await?;
            let text = Text::line(id);
            Ok(match secret {
                Some(secret) => text.and(secret),
                None => text,
            })
        }
        ClientCommand::List => {
            let db = app::open_existing_database(config).await?.reader;
            let listed = registry::list(&db, now).await?;
            let clients = listed.iter().map(described).reduce(|above, below| above.and("").above(below));
            Ok(clients.unwrap_or_else(|| Text::line("no clients")))
        }
        ClientCommand::Remove { id } => {
            let db = app::open_existing_database(config).await?.writer;
            let ended = registry::remove(&db, id, now).await?;
            Ok(Text::line(format!("removed; access ended: {ended}")))
        }
    }
}

/// Holds the arguments against the rules of registration.
fn checked(name: &str, redirect_uris: &[String], refreshes: bool) -> Result<Checked, Error> {
    let mut grant_types = vec!["authorization_code".to_owned()];
    grant_types.extend(refreshes.then(|| "refresh_token".to_owned()));
    let metadata = Metadata {
        redirect_uris: Some(json!(redirect_uris)),
        client_name: Some(name.to_owned()),
        grant_types: Some(grant_types),
        ..Metadata::default()
    };
    let checked = metadata.check().map_err(|bad| Error::invalid(bad.description))?;
    // Registration cleans a name; an operator can write another one.
    if plain_name(name).is_none() {
        return Err(Error::invalid(format!("client_name: {PLAIN_NAME}")));
    }
    Ok(checked)
}

/// Text from clients is quoted, so that it cannot imitate other output on a terminal.
fn described(client: &ListedClient) -> Text {
    let name = client.name.as_ref().map_or_else(|| "none".to_owned(), |name| quoted(name));
    let origin = match client.origin {
        Origin::Operator => "added by an operator",
        Origin::Registration => "registered itself",
    };
    let (at, refreshes) = (client.created_at.format("%Y-%m-%d"), if client.refreshes { "yes" } else { "no" });
    let (id, grants) = (&client.id, client.grants);
    let uris = client.redirect_uris.iter().map(|uri| quoted(uri)).collect::<Vec<_>>().join(", ");
    Text::line(format!("id: {id}"))
        .and(format!("name: {name}"))
        .and(format!("redirect URIs: [{uris}]"))
        .and(format!("refresh tokens: {refreshes}"))
        .and(format!("secret: {}", if client.has_secret { "yes" } else { "no" }))
        .and(format!("origin: {origin} on {at}"))
        .and(format!("current access: {grants}"))
}
