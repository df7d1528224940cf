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
    let mut answer = Err(Error::invalid(format!("listen: no service answers at {}", config.listen)));
    for address in addresses(config.listen)? {
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
    let asked = app::local_http_client()?.get(format!("http://{address}/api/health")).timeout(PATIENCE).send().await;
    bounded::object(asked.map_err(|_| silent())?, bounded::DOCUMENT).await.map_err(|_| silent())
}

/// The addresses at which this machine reaches a service that accepts requests at `listen`, in the order of trial. A machine without IPv6
/// serves `[::]` at the loopback address of IPv4.
fn addresses(listen: SocketAddr) -> Result<Vec<SocketAddr>, Error> {
    if listen.port() == 0 {
        return Err(Error::invalid("listen: port 0 is any free port, so the service cannot be found; set another"));
    }
    let found: Vec<IpAddr> = match listen.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => vec![Ipv4Addr::LOCALHOST.into()],
        IpAddr::V6(ip) if ip.is_unspecified() => vec![Ipv6Addr::LOCALHOST.into(), Ipv4Addr::LOCALHOST.into()],
        ip => vec![ip],
    };
    Ok(found.into_iter().map(|ip| SocketAddr::new(ip, listen.port())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_on_all_addresses_is_reached_on_loopback() {
        let found = |listen: &str| {
            addresses(listen.parse().unwrap()).map(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(found("0.0.0.0:8080").unwrap(), ["127.0.0.1:8080"]);
        assert_eq!(found("[::]:8080").unwrap(), ["[::1]:8080", "127.0.0.1:8080"]);
        assert_eq!(found("192.0.2.7:80").unwrap(), ["192.0.2.7:80"]);
        assert!(found("127.0.0.1:0").unwrap_err().to_string().contains("port 0"));
    }
}
