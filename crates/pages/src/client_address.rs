//! The client of a request.

use common::addresses::ClientAddress;
use poem::{Addr, Request};

/// Returns the address of the client, as a layer has named it. Without one it is the peer of the connection.
#[must_use]
pub fn client_address(request: &Request) -> ClientAddress {
    request.data().cloned().unwrap_or_else(|| match &request.remote_addr().0 {
        Addr::SocketAddr(peer) => ClientAddress::new(peer.ip()),
        other => ClientAddress::other(other),
    })
}
