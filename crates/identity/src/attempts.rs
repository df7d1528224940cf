//! Sign-in attempts whose callback has arrived. No attempt is accepted twice.
//!
//! Each process stores its own. On another replica the attempt is protected by its code, which an issuer redeems once.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use chrono::{DateTime, TimeDelta, Utc};
use common::digest::sha256_hex;

/// Lifetime of an attempt, from leaving for the issuer to the callback.
pub const LIFETIME: TimeDelta = TimeDelta::minutes(10);
/// Above this number the oldest are dropped, long before a flood could fill the memory.
const MAX_SPENT: usize = 10_000;

/// The attempts that were used within their lifetime.
#[derive(Clone, Default)]
pub struct SpentAttempts(Arc<Mutex<Spent>>);

#[derive(Default)]
struct Spent {
    digests: HashSet<String>,
    in_order: VecDeque<(DateTime<Utc>, String)>,
}

impl SpentAttempts {
    /// Marks the attempt with this `state` as used. Returns whether it was unused.
    pub fn spend(&self, state: &str, now: DateTime<Utc>) -> bool {
        let mut spent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((spent_at, _)) = spent.in_order.front()
            && (now - *spent_at >= LIFETIME || spent.in_order.len() >= MAX_SPENT)
        {
            if let Some((_, digest)) = spent.in_order.pop_front() {
                spent.digests.remove(&digest);
            }
        }
        let digest = sha256_hex(state);
        let unspent = spent.digests.insert(digest.clone());
        if unspent {
            spent.in_order.push_back((now, digest));
        }
        unspent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attempt_is_spent_once_and_forgotten_when_it_has_expired() {
        let (attempts, start) = (SpentAttempts::default(), DateTime::UNIX_EPOCH);
        assert!(attempts.spend("a", start) && attempts.spend("b", start));
        assert!(!attempts.spend("a", start) && !attempts.clone().spend("b", start + LIFETIME - TimeDelta::seconds(1)));
        assert!(attempts.spend("a", start + LIFETIME));
        for number in 0..2 * MAX_SPENT {
            assert!(attempts.spend(&number.to_string(), start + LIFETIME));
        }
        let spent = attempts.0.lock().unwrap();
        assert_eq!((spent.digests.len(), spent.in_order.len()), (MAX_SPENT, MAX_SPENT));
    }
}
