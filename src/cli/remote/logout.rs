//! The `logout` command: ends the stored sign-in at a server, there and here.

use std::time::Duration;

use clap::Args;
use tokio::time::timeout;

use super::{
    api::{self, Server},
    error::RemoteError,
    login::Issuer,
    stored::{SignIn, SignIns},
};
use crate::{cli::terminal::Text, config::Config};

/// The time for the server to end the access.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Options of `logout`.
#[derive(Debug, Args)]
pub struct Logout {
    /// The server.
    #[command(flatten)]
    pub server: Server,
}

/// Returns what `logout` prints.
///
/// # Errors
/// The stored sign-in cannot be read or removed. A server that does not answer is no error: the sign-in is then removed here alone.
pub async fn logout(options: &Logout, config: &Config) -> Result<Text, RemoteError> {
    let base_url = options.server.base_url(config);
    let mut stored = SignIns::lock()?;
    let Some(sign_in) = stored.of(&base_url) else { return Ok(nothing(&base_url, &stored)) };
    let ended = match options.server.secure_url(config) {
        Ok(base_url) => timeout(TIMEOUT, end(&base_url, &sign_in)).await,
        Err(insecure) => Ok(Err(insecure)),
    };
    let ended = ended.unwrap_or_else(|_| Err(RemoteError::Failed("no answer in time".to_owned())));
    stored.remove(&base_url)?;
    Ok(match ended {
        Ok(()) => {
            Text::line(format!("Signed out of {base_url}: the stored sign-in was revoked there and removed here."))
        }
        Err(error) => {
            let until = sign_in.good_until.map_or_else(
                || "as long as its issuer says".to_owned(),
                |time| format!("until {}", time.format("%Y-%m-%d %H:%M UTC")),
            );
            let removed = format!("The stored sign-in at {base_url} was removed here, but not revoked: {error}.");
            Text::line(removed).and(format!(
                "Its token lives on {until}. Nobody has it unless they copied it; to end it at once, end the access of the application at \
                 {base_url}/account."
            ))
        }
    })
}

/// Revokes the refresh token, at the issuer that gave it.
async fn end(base_url: &str, sign_in: &SignIn) -> Result<(), RemoteError> {
    let http = api::http(base_url)?;
    let issuer = Issuer::of(base_url, &http).await?;
    if issuer.token_endpoint() != sign_in.token_endpoint {
        return Err(RemoteError::Failed(format!(
            "{} gave the token, and the server uses another issuer now",
            sign_in.token_endpoint
        )));
    }
    issuer.revoke(&sign_in.client, &sign_in.refresh_token, &http).await
}

/// Says that there is no sign-in to end, and which others there are.
fn nothing(base_url: &str, stored: &SignIns) -> Text {
    let others: Vec<&str> = stored.servers().collect();
    let others = if others.is_empty() {
        String::new()
    } else {
        format!(" There are some at {}: name one by --server.", others.join(", "))
    };
    Text::line(format!("No sign-in at {base_url} is stored; `sightline login` stores none.{others}"))
}
