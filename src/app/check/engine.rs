//! Tries the search engine, and the client that the service is there.

use common::{bounded, plain_text::quoted};
use reqwest::Client;
use search_engine::OauthSettings;
use secrecy::ExposeSecret as _;
use serde::Deserialize;

use super::{
    Outcome,
    reached::{host, send},
};
use crate::{app::parts::engine_settings, config::Config};

/// A grant that nobody gave. The search engine refuses it, and first a client that it does not know.
const NO_GRANT: &str = "sightline-check";

/// The refusal of a grant, by a search engine that knows the client.
const REFUSED_GRANT: &str = "invalid_grant";

#[derive(Deserialize)]
struct Refusal {
    error: String,
}

pub(super) async fn engine(config: &Config, http: &Client) -> Outcome {
    if config.simulates_search_engine() {
        return Ok("simulated".to_owned());
    }
    let settings = engine_settings(config, None);
    let api = answers(&format!("{}/webmasters/v3/sites", settings.api_url), http).await?;
    let oauth = answers(&settings.oauth.token_url, http).await?;
    if !config.connects_search_accounts() {
        return Err(
            "search_engine.client_id: client_id and client_secret are not set, so nobody can connect a search account. Make a client at the \
             search engine, and set both"
                .to_owned(),
        );
    }
    client(&settings.oauth, http).await?;
    Ok(format!("{api} and {oauth} answer, and know the client"))
}

/// Presents the client with a grant that is none.
async fn client(oauth: &OauthSettings, http: &Client) -> Result<(), String> {
    let form = [
        ("grant_type", "refresh_token"),
        ("refresh_token", NO_GRANT),
        ("client_id", oauth.client_id.as_str()),
        ("client_secret", oauth.client_secret.expose_secret()),
    ];
    let host = host(&oauth.token_url);
    let answer = send(http.post(&oauth.token_url).form(&form)).await.map_err(|why| format!("{host}: {why}"))?;
    let status = answer.status();
    match bounded::object::<Refusal>(answer, bounded::DOCUMENT).await {
        Ok(Refusal { error }) if error == REFUSED_GRANT => Ok(()),
        Ok(Refusal { error }) if status.is_client_error() => Err(format!(
            "search_engine.client_id: {host} refuses the client: {}. Set client_id and client_secret as the search engine shows them, and see \
             that the client is enabled there",
            quoted(&error)
        )),
        _ => Err(format!(
            "search_engine.token_url: {host} answers {status}, and not as a token endpoint does. Try again, or correct the setting"
        )),
    }
}

/// Returns the host of `url` if a server answers there, whatever it says.
pub(super) async fn answers(url: &str, http: &Client) -> Outcome {
    let host = host(url);
    match send(http.get(url)).await {
        Ok(answer) if !answer.status().is_server_error() => Ok(host),
        Ok(answer) => Err(format!("{host} answers {}: look at its own state, and try again", answer.status())),
        Err(why) => Err(format!("{host}: {why}")),
    }
}
