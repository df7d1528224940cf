//! Rate limits by the generic cell rate algorithm, by one clock: that of Redis.

use std::{sync::Arc, time::Duration};

use super::{link::Link, names::Names, scripts::LIMIT};

/// The counters of all callers.
#[derive(Clone)]
pub struct Limits {
    link: Arc<Link>,
    names: Names,
}

/// The counter of a caller after a request. Times are microseconds of Redis' clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counted {
    /// The time at which the whole burst is back.
    pub full_at: i64,
    /// The time of the request.
    pub now: i64,
    /// The time to wait before the next request. `None` if this one was allowed.
    pub wait: Option<i64>,
}

impl Limits {
    pub(super) fn new(link: Arc<Link>, names: Names) -> Self {
        Self { link, names }
    }

    /// Counts one request of a caller who regains one in `interval` and has at most `burst`. `None` if Redis is away.
    pub async fn count(&self, caller: &str, interval: Duration, burst: u32) -> Option<Counted> {
        // Rounded up, so that nobody has more than the rate.
        let interval = u64::try_from(interval.as_nanos().div_ceil(1_000)).unwrap_or(u64::MAX).max(1);
        let mut script = LIMIT.key(self.names.limit(caller));
        script.arg(interval).arg(interval.saturating_mul(burst.into()));
        let (allowed, full_at, now, wait): (bool, i64, i64, i64) = self.link.script(&script).await?;
        Some(Counted { full_at, now, wait: (!allowed).then_some(wait) })
    }
}
