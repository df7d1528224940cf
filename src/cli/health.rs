//! The `health` command: whether the service that runs with these settings is ready. Supervisors of containers run it.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    time::Duration,
};

use common::bounded;
use serde::Deserialize;

use super::terminal::Text;
use crate::{app, config::Config, error::Error};

/// The time for an answer. The service gives each of its parts two seconds.
const PATIENCE: Duration = Duration::from_secs(5);

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
    let address = address(config.listen)?;
    let asked = app::local_http_client()?.get(format!("http://{address}/api/health")).timeout(PATIENCE).send().await;
    let silent = |_| Error::invalid(format!("listen: no service answers at {address}"));
    let answer = bounded::object(asked.map_err(silent)?, bounded::DOCUMENT).await;
    let Answer { data } = answer.map_err(|_| Error::invalid(format!("listen: no service answers at {address}")))?;
    let troubles = data.dependencies.iter().filter(|part| part.status != "ok");
    let parts = troubles.map(|part| format!("{} is {}", part.name, part.status));
    let said: Vec<String> = std::iter::once(data.status).chain(parts).collect();
    Ok((Text::line(said.join(", ")), data.ready))
}

/// The address at which this machine reaches a service that accepts requests at `listen`.
fn address(listen: SocketAddr) -> Result<SocketAddr, Error> {
    if listen.port() == 0 {
        return Err(Error::invalid("listen: port 0 is any free port, so the service cannot be found; set another"));
    }
    let ip = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    Ok(SocketAddr::new(ip, listen.port()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_on_all_addresses_is_reached_on_loopback() {
        let found = |listen: &str| address(listen.parse().unwrap()).map(|address| address.to_string());
        assert_eq!(found("0.0.0.0:8080").unwrap(), "127.0.0.1:8080");
        assert_eq!(found("[::]:8080").unwrap(), "[::1]:8080");
        assert_eq!(found("192.0.2.7:80").unwrap(), "192.0.2.7:80");
        assert!(found("127.0.0.1:0").unwrap_err().to_string().contains("port 0"));
    }
}
