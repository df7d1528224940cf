//! The scripts, each of which reads and changes keys of one slot at once.

use std::{sync::LazyLock, time::Duration};

use redis::Script;

macro_rules! scripts {
    ($($(#[$doc:meta])* $name:ident = $file:literal;)+) => {
        $($(#[$doc])* pub static $name: LazyLock<Script> = LazyLock::new(|| Script::new(include_str!(concat!("scripts/", $file))));)+
    };
}

scripts! {
    /// Counts a request of a caller.
    LIMIT = "limit.lua";
    /// Takes the claim of a reading.
    CLAIM = "claim.lua";
    /// Replaces or deletes a value that is still the expected one.
    SWAP = "swap.lua";
    /// Lets a request through a gate.
    ENTER = "enter.lua";
    /// Notes that a request is no longer in flight.
    LEAVE = "leave.lua";
    /// Adapts the speed of a gate.
    ADAPT = "adapt.lua";
    /// Adds notices to a topic.
    PUBLISH = "publish.lua";
    /// Reads notices of a topic.
    POLL = "poll.lua";
    /// Notes that a replica lives.
    BEAT = "beat.lua";
}

/// A time in whole milliseconds, as Redis takes lifetimes.
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// A time in whole microseconds, as the scripts take times.
pub fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
