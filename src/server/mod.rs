//! Accepts connections and serves the router on each, with limits on number and time. When there are too many, an idle one gives way.
//!
//! poem's own server has no deadline for request heads or for clients that stop reading, and it retries without a pause when
//! accepting fails. Like poem's server, this one serves a poem endpoint through `hyper-util`.

mod accept;
mod body;
mod connection;
mod io;
mod kept;
mod open;
mod refusal;
mod watch;

use common::addresses::TrustedProxies;
use telemetry::polls::PollMeter;

pub use self::{accept::serve, kept::KeptUntilSent, refusal::OverLimit, watch::Deadlines};

/// Limits on open connections and their time.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Maximum connections in total.
    pub connections: usize,
    /// Maximum connections from one network: an IPv4 address, or an IPv6 /48.
    pub per_address: usize,
    /// Addresses of proxies, which may open more connections because each one can belong to another client.
    pub trusted: TrustedProxies,
    /// Time limits for each step of a connection.
    pub deadlines: Deadlines,
    /// Counts long polls.
    pub polls: PollMeter,
}
