//! The addresses that a metadata document may be fetched from: public ones, and for a service on loopback also loopback.
//!
//! A name is resolved once. The connection goes to one of the addresses that were checked, so a name that changes its
//! address in between (DNS rebinding) leads nowhere else.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::Arc,
};

use common::base_url::BaseUrl;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

/// Networks of IPv4 that are not the public internet (RFC 6890 and its registry), with the length of their prefixes.
const SPECIAL_V4: [([u8; 4], u32); 17] = [
    ([0, 0, 0, 0], 8),
    ([10, 0, 0, 0], 8),
    ([100, 64, 0, 0], 10),
    ([127, 0, 0, 0], 8),
    // The platform of a large cloud answers here, on its own machines only.
    ([168, 63, 129, 16], 32),
    ([169, 254, 0, 0], 16),
    ([172, 16, 0, 0], 12),
    ([192, 0, 0, 0], 24),
    ([192, 0, 2, 0], 24),
    ([192, 88, 99, 0], 24),
    ([192, 168, 0, 0], 16),
    ([198, 18, 0, 0], 15),
    ([198, 51, 100, 0], 24),
    ([203, 0, 113, 0], 24),
    ([224, 0, 0, 0], 4),
    ([240, 0, 0, 0], 4),
    ([255, 255, 255, 255], 32),
];

/// The networks of IPv6 that are assigned to hosts of the internet: `2000::/3`.
const GLOBAL_V6: (u128, u32) = (0x2000 << 112, 3);

/// Exceptions within [`GLOBAL_V6`]: protocol assignments with Teredo, documentation, 6to4, and documentation again. Everything
/// beside it (loopback, link-local, unique local, multicast, mapped and translated IPv4) is not public anyway.
const SPECIAL_V6: [(u128, u32); 4] =
    [(0x2001 << 112, 23), (0x2001_0db8 << 96, 32), (0x2002 << 112, 16), (0x3fff << 112, 20)];

/// Returns whether `address` belongs to a host on the public internet.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => !SPECIAL_V4.iter().any(|(network, bits)| {
            let differing = address.to_bits() ^ Ipv4Addr::from(*network).to_bits();
            differing.leading_zeros() >= *bits
        }),
        IpAddr::V6(address) => {
            let within = |(network, bits): &(u128, u32)| (address.to_bits() ^ network).leading_zeros() >= *bits;
            within(&GLOBAL_V6) && !SPECIAL_V6.iter().any(within)
        }
    }
}

/// The allowed addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Public ones.
    Internet,
    /// Public ones and this machine, for a service that is itself on loopback.
    InternetAndLoopback,
}

impl Reach {
    /// The addresses that a service at `base_url` may fetch from.
    pub fn of(base_url: &BaseUrl) -> Self {
        if base_url.is_loopback() { Self::InternetAndLoopback } else { Self::Internet }
    }

    /// Returns whether a connection to `address` is allowed.
    pub fn includes(self, address: IpAddr) -> bool {
        is_public(address) || (self == Self::InternetAndLoopback && address.to_canonical().is_loopback())
    }

    /// Returns whether the host of `url` may be allowed. Names are resolved and checked at the connection.
    pub fn may_include(self, url: &Url) -> bool {
        match url.host() {
            Some(Host::Ipv4(address)) => self.includes(address.into()),
            Some(Host::Ipv6(address)) => self.includes(Ipv6Addr::into(address)),
            Some(Host::Domain(_)) => true,
            None => false,
        }
    }
}

/// Resolves names with `names` and keeps the addresses within the reach.
pub(super) struct Guard {
    pub names: Arc<dyn Resolve>,
    pub reach: Reach,
}

impl Resolve for Guard {
    fn resolve(&self, name: Name) -> Resolving {
        let (found, reach) = (self.names.resolve(name), self.reach);
        Box::pin(async move {
            let allowed: Vec<SocketAddr> = found.await?.filter(|address| reach.includes(address.ip())).collect();
            if allowed.is_empty() {
                return Err("the name leads to no public address".into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// The names as this machine resolves them.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemNames;

impl Resolve for SystemNames {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SPECIAL: &str = "0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.9.9.9 168.63.129.16 \
         169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.8 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 \
         198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 \
         ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::127.0.0.1 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 100::1 \
         2001::1 2001:0:7f00:1:: 2001:10::1 2001:db8::1 2002:7f00:1:: 2002:a00:1::1 3fff::1 5f00::1 fc00::1 \
         fd12:3456::1 fe80::1 febf::1 fec0::1 ff02::1 ff0e::1 4000::1 fd00:ec2::254";
    const PUBLIC: &str = "1.1.1.1 9.255.255.255 11.0.0.1 100.63.255.255 100.128.0.1 128.0.0.1 169.253.1.1 172.15.1.1 \
         172.32.0.1 192.0.1.1 192.167.1.1 198.17.1.1 198.20.0.1 223.255.255.255 ::ffff:8.8.8.8 2001:200::1 \
         2001:4860:4860::8888 2606:4700::1111 2a00:1450::1 3ffe::1";

    #[test]
    fn special_addresses_are_not_public() {
        for address in SPECIAL.split(' ') {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
        for address in PUBLIC.split(' ') {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn loopback_is_within_reach_of_a_service_on_loopback_alone() {
        for (base_url, address, within) in [
            ("http://127.0.0.1:8080", "127.0.0.1", true),
            ("http://localhost:8080", "::1", true),
            ("http://localhost:8080", "::ffff:127.0.0.1", true),
            ("http://127.0.0.1:8080", "10.0.0.1", false),
            ("http://127.0.0.1:8080", "169.254.169.254", false),
            ("https://search.example", "127.0.0.1", false),
            ("https://search.example", "::1", false),
            ("https://search.example", "9.9.9.9", true),
        ] {
            assert_eq!(
                Reach::of(&base_url.parse().unwrap()).includes(address.parse().unwrap()),
                within,
                "{base_url} {address}"
            );
        }
    }
}
