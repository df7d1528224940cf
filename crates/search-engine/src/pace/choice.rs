//! Chooses the account of a request, where several may make it.

use std::time::Duration;

use tokio::time::Instant;
use uuid::Uuid;

use super::{Lane, Pacer, State};

/// A request that waits for longer at the gates of all replicas met an account that others keep busy.
const BUSY: Duration = Duration::from_millis(300);

impl Pacer {
    /// Returns whether a request by `account` would have to wait for the account.
    pub fn is_busy(&self, account: Uuid, lane: Lane) -> bool {
        self.with(|state, now| state.account_opens_at(account, lane, now) > now)
    }

    /// Returns the place of the account that lets a request pass first. The first of equal ones wins.
    pub fn first_open(&self, accounts: &[Uuid], lane: Lane) -> Option<usize> {
        self.with(|state, now| {
            let opens_at = |at: &usize| state.account_opens_at(accounts[*at], lane, now);
            (0..accounts.len()).min_by_key(opens_at)
        })
    }

    /// Notes how long a request by `account` waited at the gates of all replicas. As long the account counts as busy.
    pub fn note_busy(&self, account: Uuid, asked_at: Instant) {
        self.with(|state, now| {
            state.busy.retain(|_, until| *until > now);
            let waited = now - asked_at;
            if waited >= BUSY {
                state.busy.insert(account, now + waited);
            } else {
                state.busy.remove(&account);
            }
        });
    }
}

impl State {
    fn account_opens_at(&mut self, account: Uuid, lane: Lane, now: Instant) -> Instant {
        let elsewhere = self.busy.get(&account).copied().unwrap_or(now);
        self.turns.account_opens_at(account, lane, now).max(elsewhere)
    }
}
