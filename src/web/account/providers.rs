//! The person's connections to SEO providers, to be read. They are made and ended through the API.

use api::integrations::{Provider, ProviderConnection};
use maud::{Markup, html};
use pages::page::words::time;

use super::{Account, Visitor};
use crate::{error::Error, services::integrations};

/// One line for each provider. People without a connected provider see nothing.
pub(super) async fn section(account: &Account, visitor: &Visitor) -> Result<Markup, Error> {
    let connections = integrations::connections(&account.reader, visitor.member.user.id).await?;
    Ok(html! {
        @if connections.iter().any(|connection| connection.connected) {
            section aria-labelledby="providers" {
                h2 #providers { "SEO data providers" }
                dl {
                    @for connection in &connections {
                        dt { (name(connection.provider)) }
                        dd { (state(connection)) }
                    }
                }
            }
        }
    })
}

fn name(provider: Provider) -> &'static str {
    match provider {
        Provider::A => "Provider A",
        Provider::B => "Provider B",
    }
}

fn state(connection: &ProviderConnection) -> Markup {
    html! {
        @if let (Some(account), Some(checked_at)) = (&connection.account, connection.checked_at) {
            "Connected as " code { (account) } ", checked on " (time(checked_at.into())) "."
            @if let Some(hint) = &connection.hint { " " (hint) }
        } @else {
            "Not connected."
        }
    }
}
