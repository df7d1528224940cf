//! The `health` command: whether the service that runs with these settings is ready. Supervisors of containers run it.

use std::{net::SocketAddr, time::Duration};

use common::bounded;
use serde::Deserialize;

use super::terminal::Text;
use crate::{app, config::Config, error::Error};

/// The time for an answer. The service gives each of its parts two seconds.
const TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Deserialize)]
struct Answer {
    data: Health,
}

#[derive(Deserialize)]
struct Health {
    ready: bool,
    status: String,
    #[serde(default)]
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    status: String,
}

/// Asks the service at `listen` on this machine. Returns what to print and whether it is ready.
///
/// # Errors
/// Nothing answers there as the service does.
pub async fn health(config: &Config) -> Result<(Text, bool), Error> {
    let mut answer = Err(Error::invalid(format!("listen: no service answers at {}", config.listen)));
    for address in app::local_addresses(config.listen)? {
        answer = asked(address).await;
        if answer.is_ok() {
            break;
        }
    }
    let Answer { data } = answer?;
    let troubles = data.dependencies.iter().filter(|part| part.status != "ok");
    let parts = troubles.map(|part| format!("{} is {}", part.name, part.status));
    let said: Vec<String> = std::iter::once(data.status).chain(parts).collect();
    Ok((Text::line(said.join(", ")), data.ready))
}

async fn asked(address: SocketAddr) -> Result<Answer, Error> {
    let silent = || Error::invalid(format!("listen: no service answers at {address}"));
    let asked = app::local_http_client()?.get(format!("http://{address}/api/health")).timeout(TIMEOUT).send().await;
    bounded::object(asked.map_err(|_| silent())?, bounded::DOCUMENT).await.map_err(|_| silent())
}
