//! Asks the service at `base_url`, as others reach it, and the one at `listen` on this machine beside it.

use common::{base_url::BaseUrl, bounded};
use reqwest::{Client, Response, StatusCode, header::HOST};
use serde::Deserialize;
use serde_json::Value;

use super::{
    Outcome,
    reached::{host, send},
};
use crate::{
    app::{http_client_to, local_addresses, local_http_client},
    config::Config,
};

/// Answers as long as the process runs.
const LIVE: &str = "/api/health?probe=live";

/// The public keys of the embedded issuer.
const KEYS: &str = "/oauth/jwks";

/// The part of health that every service answers.
#[derive(Deserialize)]
struct Health {
    data: Live,
}

#[derive(Deserialize)]
struct Live {
    live: bool,
}

/// Asks for the health and the keys at `base_url`. The keys must be those of the service on this machine. Without one, nothing is tried.
pub(super) async fn outside(config: &Config) -> Outcome {
    let base_url = config.base_url(config.listen);
    let Some((root, near)) = here(config, &base_url).await else {
        return Ok(format!(
            "not tried, because no service runs at {} on this machine. Start it, and run this command again",
            config.listen
        ));
    };
    let far = http_client_to(base_url.as_str()).map_err(|error| error.to_string())?;
    let named = |why: String| format!("base_url: {base_url} does not lead to this service: {why}");
    let answer =
        send(far.get(base_url.join(LIVE))).await.map_err(|why| named(format!("{}: {why}", host(base_url.as_str()))))?;
    let status = answer.status();
    if !is_health(answer).await {
        return Err(named(format!(
            "it answers {status}, and not as this service does. Let the proxy lead all paths to {}, or correct base_url",
            config.listen
        )));
    }
    if config.embeds_issuer() {
        let own = keys(&near, &format!("{root}{KEYS}"), &base_url).await.map_err(named)?;
        let found = keys(&far, &base_url.join(KEYS), &base_url).await.map_err(named)?;
        if own != found {
            return Err(named(
                "another service answers there, with other keys. Correct base_url, its DNS record or the proxy"
                    .to_owned(),
            ));
        }
    }
    Ok(format!("{base_url} leads to this service"))
}

/// The root URL of the service on this machine, with a client for it. `None` if none runs.
async fn here(config: &Config, base_url: &BaseUrl) -> Option<(String, Client)> {
    let near = local_http_client().ok()?;
    for address in local_addresses(config.listen).ok()? {
        let root = format!("http://{address}");
        let answer = send(near.get(format!("{root}{LIVE}")).header(HOST, base_url.url().authority())).await;
        if let Ok(answer) = answer
            && is_health(answer).await
        {
            return Some((root, near));
        }
    }
    None
}

async fn is_health(answer: Response) -> bool {
    bounded::object::<Health>(answer, bounded::DOCUMENT).await.is_ok_and(|health| health.data.live)
}

async fn keys(http: &Client, url: &str, base_url: &BaseUrl) -> Result<Value, String> {
    let answer = send(http.get(url).header(HOST, base_url.url().authority())).await?;
    if answer.status() != StatusCode::OK {
        return Err(format!("{url} answers {}. Let the proxy lead /oauth to this service", answer.status()));
    }
    let mut found: Value =
        bounded::object(answer, bounded::DOCUMENT).await.map_err(|error| format!("{url}: {error}"))?;
    Ok(found["keys"].take())
}
