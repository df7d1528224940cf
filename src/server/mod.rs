//! Accepts connections and serves the router on each, within bounds of number and time.
//!
//! poem's own server knows no deadline for a request's head or for a reader who stops reading, and asks again without a pause where
//! accepting fails. This one serves poem's endpoint by `hyper-util`, as poem's does.

mod accept;
mod body;
mod connection;
mod io;
mod watch;

pub use self::{accept::serve, watch::Deadlines};

use crate::addresses::TrustedProxies;

/// Bounds of the connections that are open at once, and of their time.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections in all.
    pub connections: usize,
    /// Connections from one address.
    pub per_address: usize,
    /// Addresses of proxies, which may open more: each of their connections is another client's.
    pub trusted: TrustedProxies,
    /// How long a connection may take for each step.
    pub deadlines: Deadlines,
}
