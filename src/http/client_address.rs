//! Determines the address of the client and adds it to the request. It is the peer of the connection or, if the peer is a trusted
//! proxy, the address that the proxy names.

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

use common::addresses::{ClientAddress, TrustedProxies};
use poem::{
    Addr, Endpoint, IntoResponse, Request, Response, Result,
    http::{HeaderMap, HeaderName, header},
};

/// The proxies that are trusted to name the client.
#[derive(Debug, Clone)]
pub struct NameClient {
    /// The trusted proxies.
    pub proxies: TrustedProxies,
    /// The header in which they name the client.
    pub header: HeaderName,
}

/// The layer.
///
/// # Errors
/// The errors of the inner layers.
pub async fn name_client<E: Endpoint>(
    settings: Arc<NameClient>,
    next: Arc<E>,
    mut request: Request,
) -> Result<Response> {
    let client = match &request.remote_addr().0 {
        Addr::SocketAddr(peer) => ClientAddress::new(settings.client(peer.ip(), request.headers())),
        other => ClientAddress::other(other),
    };
    request.set_data(client);
    next.call(request).await.map(IntoResponse::into_response)
}

/// Returns the client's address. Without the layer it is the peer of the connection.
#[must_use]
pub fn of(request: &Request) -> ClientAddress {
    request.data::<ClientAddress>().cloned().unwrap_or_else(|| match &request.remote_addr().0 {
        Addr::SocketAddr(peer) => ClientAddress::new(peer.ip()),
        other => ClientAddress::other(other),
    })
}

impl NameClient {
    /// Returns the client's address. Ignores an unreadable header.
    fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let named = self.proxies.contains(peer).then(|| self.named(headers)).flatten();
        named.unwrap_or(peer)
    }

    fn named(&self, headers: &HeaderMap) -> Option<IpAddr> {
        let lines = headers.get_all(&self.header).iter();
        // Bytes that are not text make one element unreadable, not its neighbours.
        let lines: Vec<_> = lines.map(|line| String::from_utf8_lossy(line.as_bytes())).collect();
        let is_there = |element: &&str| !element.is_empty();
        if self.header == "x-forwarded-for" {
            let elements = lines.iter().flat_map(|line| line.split(',')).map(str::trim).filter(is_there);
            self.last_hop(elements.map(address).collect())
        } else if self.header == header::FORWARDED {
            let elements = lines.iter().map(|line| split(line, ',')).collect::<Option<Vec<_>>>()?;
            self.last_hop(elements.into_iter().flatten().filter(is_there).map(forwarded_for).collect())
        } else {
            let [line] = &lines[..] else { return None };
            address(line.trim())
        }
    }

    /// Returns the last hop that is not a proxy or, if all are proxies, the first hop.
    fn last_hop(&self, hops: Vec<Option<IpAddr>>) -> Option<IpAddr> {
        let mut found = None;
        for hop in hops.into_iter().rev() {
            found = Some(hop?);
            if !self.proxies.contains(hop?) {
                break;
            }
        }
        found
    }
}

/// Splits `line` at separators outside quotes and trims the parts. Returns `None` if a quote does not end, because it would hide
/// elements that a proxy added.
fn split(line: &str, separator: char) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut quoted, mut escaped) = (Vec::new(), 0, false, false);
    for (at, character) in line.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if character == separator && !quoted => {
                parts.push(line[start..at].trim());
                start = at + separator.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(line[start..].trim());
    (!quoted).then_some(parts)
}

/// Parses the address in an element of `Forwarded` (RFC 7239), e.g. `for="[2001:db8::1]:4711";proto=https`.
fn forwarded_for(element: &str) -> Option<IpAddr> {
    let mut pairs = split(element, ';')?.into_iter().filter_map(|pair| pair.split_once('='));
    let (_, node) = pairs.find(|(name, _)| name.trim().eq_ignore_ascii_case("for"))?;
    let node = node.trim();
    address(node.strip_prefix('"').and_then(|node| node.strip_suffix('"')).unwrap_or(node))
}

/// Parses an address with or without a port. An IPv6 address may be in brackets.
fn address(text: &str) -> Option<IpAddr> {
    let with_port = || text.parse::<SocketAddr>().ok().map(|address| address.ip());
    let in_brackets = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    text.parse().ok().or_else(with_port).or_else(in_brackets)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PEER: &str = "10.0.0.1";

    fn client(header: &'static str, peer: &str, lines: &[&str]) -> String {
        let proxies = TrustedProxies::parse(["10.0.0.0/8", "fd00::/8"]).unwrap();
        let settings = NameClient { proxies, header: HeaderName::from_static(header) };
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header, line.parse().unwrap());
        }
        settings.client(peer.parse().unwrap(), &headers).to_string()
    }

    #[test]
    fn the_client_is_the_last_untrusted_hop() {
        let cases: [(&[&str], &str); 12] = [
            (&["192.0.2.1"], "192.0.2.1"),
            (&["203.0.113.7, 192.0.2.1"], "192.0.2.1"),
            (&["203.0.113.7, 192.0.2.1, 10.9.9.9,fd00::5"], "192.0.2.1"),
            (&["203.0.113.7", "192.0.2.1", "10.9.9.9"], "192.0.2.1"),
            (&["unknown, 192.0.2.1,"], "192.0.2.1"),
            (&["192.0.2.1:4711"], "192.0.2.1"),
            (&["[2001:db8::1]:4711"], "2001:db8::1"),
            (&["[2001:db8::1]"], "2001:db8::1"),
            (&["10.0.0.7, 10.0.0.6"], "10.0.0.7"),
            (&["192.0.2.1, unknown"], PEER),
            (&[""], PEER),
            (&[], PEER),
        ];
        for (lines, expected) in cases {
            assert_eq!(client("x-forwarded-for", PEER, lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn headers_of_untrusted_peers_are_ignored() {
        for header in ["x-forwarded-for", "forwarded", "x-real-ip"] {
            assert_eq!(client(header, "192.0.2.9", &["192.0.2.1"]), "192.0.2.9");
        }
        assert_eq!(client("x-forwarded-for", "::ffff:10.0.0.1", &["192.0.2.1"]), "192.0.2.1");
    }

    #[test]
    fn forwarded_names_each_hop_in_its_own_words() {
        let cases: [(&[&str], &str); 8] = [
            (&["for=192.0.2.1"], "192.0.2.1"),
            (&["for=203.0.113.7, For=\"192.0.2.1:80\" ; proto=https;by=10.0.0.1"], "192.0.2.1"),
            (&["for=192.0.2.1", "by=\"a,b;for=1\";for=10.0.0.2"], "192.0.2.1"),
            (&["for=\"[2001:db8::1]:4711\""], "2001:db8::1"),
            (&["for=\"[2001:db8::1]\""], "2001:db8::1"),
            (&["for=_hidden"], PEER),
            (&["proto=https"], PEER),
            (&["for=\"192.0.2.1"], PEER),
        ];
        for (lines, expected) in cases {
            assert_eq!(client("forwarded", PEER, lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn any_other_header_is_one_address() {
        let cases: [(&[&str], &str); 5] = [
            (&[" 192.0.2.1 "], "192.0.2.1"),
            (&["2001:db8::1"], "2001:db8::1"),
            (&["192.0.2.1, 192.0.2.2"], PEER),
            (&["192.0.2.1", "192.0.2.2"], PEER),
            (&["unknown"], PEER),
        ];
        for (lines, expected) in cases {
            assert_eq!(client("x-real-ip", PEER, lines), expected, "{lines:?}");
        }
    }
}
