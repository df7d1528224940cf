//! The address of a service on this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::error::Error;

/// The addresses at which this machine reaches a service that accepts requests at `listen`, in the order of trial. A machine without IPv6
/// serves `[::]` at the loopback address of IPv4.
///
/// # Errors
/// The port is any free one.
pub fn local_addresses(listen: SocketAddr) -> Result<Vec<SocketAddr>, Error> {
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
            local_addresses(listen.parse().unwrap())
                .map(|found| found.iter().map(ToString::to_string).collect::<Vec<_>>())
        };
        assert_eq!(found("0.0.0.0:8080").unwrap(), ["127.0.0.1:8080"]);
        assert_eq!(found("[::]:8080").unwrap(), ["[::1]:8080", "127.0.0.1:8080"]);
        assert_eq!(found("192.0.2.7:80").unwrap(), ["192.0.2.7:80"]);
        assert!(found("127.0.0.1:0").unwrap_err().to_string().contains("port 0"));
    }
}
