//! Client addresses: the key they are counted under, and the list of trusted proxies.

use std::{
    fmt::{self, Display},
    net::{IpAddr, Ipv6Addr},
};

use ipnet::{IpNet, Ipv4Net};
use serde::{Deserialize, Serialize};

/// Bits of an IPv6 address that identify its network. A client with one address usually has the whole /64.
const SITE_BITS: u128 = !(u64::MAX as u128);

/// Bits of an IPv6 address that identify the network of a customer: /48.
const NETWORK_BITS: u128 = !((1 << 80) - 1);

/// Length of the prefix before the IPv4 address in an IPv4-mapped IPv6 address.
const MAPPED_PREFIX: u8 = 96;

/// Returns the address that `address` is counted under. An IPv6 address counts as the first address of its /64 network. An
/// IPv4-mapped address counts as its IPv4 address.
#[must_use]
pub fn key(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & SITE_BITS).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// Returns the network that `address` is counted under where a customer with many addresses counts once. An IPv6 address counts as its
/// /48, which one customer of a provider may have whole.
#[must_use]
pub fn network(address: IpAddr) -> IpAddr {
    match key(address) {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() & NETWORK_BITS).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// The origin of a request, in the form it is counted under.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ClientAddress(String);

impl ClientAddress {
    /// A client at `address`.
    #[must_use]
    pub fn new(address: IpAddr) -> Self {
        Self(key(address).to_string())
    }

    /// The [`network`] of the client.
    #[must_use]
    pub fn network(&self) -> String {
        self.0.parse().map_or_else(|_| self.0.clone(), |address| self::network(address).to_string())
    }

    /// The client that was stored as `text`.
    #[must_use]
    pub fn stored(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns whether the client is this machine. Its IPv6 address counts as `::`, which no other client has.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        self.0.parse::<IpAddr>().is_ok_and(|address| address.is_loopback() || address == Ipv6Addr::UNSPECIFIED)
    }

    /// The address for people, with the length of the prefix where it stands for a network.
    #[must_use]
    pub fn in_words(&self) -> String {
        match self.0.parse() {
            Ok(IpAddr::V6(_)) if !self.is_loopback() => format!("{self}/64"),
            Ok(address) if self.is_loopback() => {
                format!("this computer ({})", if address.is_ipv6() { "::1" } else { &self.0 })
            }
            _ => self.0.clone(),
        }
    }

    /// A client without an IP address, for example on a Unix socket.
    #[must_use]
    pub fn other(name: &impl Display) -> Self {
        Self(name.to_string())
    }
}

impl Display for ClientAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Proxies whose forwarding headers are trusted: addresses and CIDR networks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrustedProxies(Vec<Network>);

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String")]
struct Network(IpNet);

impl TrustedProxies {
    /// Parses addresses such as `10.0.0.1` and networks such as `fd00::/8`.
    ///
    /// # Errors
    /// Returns the first text that is neither.
    pub fn parse<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Self, String> {
        texts.into_iter().map(|text| Network::try_from(text.as_ref().to_owned())).collect::<Result<_, _>>().map(Self)
    }

    /// Returns whether `address` belongs to a trusted proxy.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|Network(network)| network.contains(&address))
    }
}

impl TryFrom<String> for Network {
    type Error = String;

    /// Returns the text if it is neither an address nor a network.
    fn try_from(text: String) -> Result<Self, String> {
        parse_network(&text).map(Self).ok_or(text)
    }
}

fn parse_network(text: &str) -> Option<IpNet> {
    let network = text.parse::<IpNet>().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))?;
    match (network.addr().to_canonical(), network.prefix_len().checked_sub(MAPPED_PREFIX)) {
        (IpAddr::V4(address), Some(bits)) if network.addr().is_ipv6() => {
            Ipv4Net::new(address, bits).ok().map(IpNet::from)
        }
        _ => Some(network),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_address_counts_as_its_64_network_and_a_mapped_one_as_ipv4() {
        for (address, counted) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::"),
            ("2001:db8:1:3::6", "2001:db8:1:3::"),
            ("::1", "::"),
        ] {
            assert_eq!(key(address.parse().unwrap()), counted.parse::<IpAddr>().unwrap(), "{address}");
        }
    }

    #[test]
    fn a_network_is_an_ipv4_address_or_an_ipv6_48() {
        for (address, network) in [
            ("192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1::"),
            ("2001:db8:1:ffff::", "2001:db8:1::"),
            ("2001:db8:2::", "2001:db8:2::"),
        ] {
            assert_eq!(ClientAddress::new(address.parse().unwrap()).network(), network);
        }
        assert_eq!(ClientAddress::other(&"a socket").network(), "a socket");
    }

    #[test]
    fn a_stored_client_is_shown_as_it_was_counted() {
        for (address, words) in [
            ("192.0.2.7", "192.0.2.7"),
            ("127.0.0.1", "this computer (127.0.0.1)"),
            ("::1", "this computer (::1)"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ] {
            let stored = ClientAddress::stored(&ClientAddress::new(address.parse().unwrap()).to_string());
            assert_eq!((stored.in_words().as_str(), stored.is_loopback()), (words, words.starts_with("this")));
        }
        let socket = ClientAddress::other(&"a socket");
        assert_eq!((socket.in_words().as_str(), socket.is_loopback()), ("a socket", false));
    }

    #[test]
    fn proxies_are_addresses_and_networks() {
        let proxies =
            TrustedProxies::parse(["10.1.2.3", "192.168.0.0/16", "fd00::/8", "::ffff:172.16.0.0/108"]).unwrap();
        for (address, trusted) in [
            ("10.1.2.3", true),
            ("10.1.2.4", false),
            ("::ffff:10.1.2.3", true),
            ("192.168.255.1", true),
            ("192.169.0.1", false),
            ("fd12::1", true),
            ("fc12::1", false),
            ("172.31.0.1", true),
            ("172.32.0.1", false),
        ] {
            assert_eq!(proxies.contains(address.parse().unwrap()), trusted, "{address}");
        }
        assert!(!TrustedProxies::default().contains("127.0.0.1".parse().unwrap()));
    }

    #[test]
    fn what_is_neither_is_named() {
        for text in ["proxy.example", "10.0.0.0/33", "10.0.0", "10.0.0.1:80", ""] {
            assert_eq!(TrustedProxies::parse(["10.0.0.1", text]), Err(text.to_owned()));
        }
    }
}
