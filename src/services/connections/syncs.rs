//! Syncs in the background, with their progress for the person who waits.
//!
//! The progress is local to the process. Elsewhere, and after a restart, the time of the last sync tells whether there was one.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use entity::search_account;
use telemetry::traces::Current;
use tokio::sync::Notify;
use uuid::Uuid;

use super::SearchConnections;
use crate::services::properties::sync;

/// At this number of entries, failures are dropped.
const MANY: usize = 10_000;

/// The progress of a sync that has not succeeded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The sites are being read.
    Running,
    /// The last sync failed, with the reason in words.
    Failed(String),
}

/// The syncs of this process, by account. One that succeeds leaves no entry.
#[derive(Debug, Clone, Default)]
pub(super) struct Syncs {
    held: Arc<Mutex<HashMap<Uuid, Progress>>>,
    ended: Arc<Notify>,
}

/// A running sync. It has failed, unless it says otherwise before it is dropped.
struct Running {
    syncs: Syncs,
    account: Uuid,
    outcome: Option<Progress>,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut held = self.syncs.lock();
        match self.outcome.take() {
            Some(failed) => held.insert(self.account, failed),
            None => held.remove(&self.account),
        };
        drop(held);
        self.syncs.ended.notify_waiters();
    }
}

impl Syncs {
    pub fn progress(&self, account: Uuid) -> Option<Progress> {
        self.lock().get(&account).cloned()
    }

    pub fn forget(&self, account: Uuid) {
        self.lock().remove(&account);
    }

    /// Returns the sync to run, unless one is running.
    fn begin(&self, account: Uuid) -> Option<Running> {
        let mut held = self.lock();
        if held.get(&account) == Some(&Progress::Running) {
            return None;
        }
        if held.len() >= MANY {
            held.retain(|_, progress| *progress == Progress::Running);
        }
        held.insert(account, Progress::Running);
        let outcome = Some(Progress::Failed("An unexpected error occurred.".to_owned()));
        Some(Running { syncs: self.clone(), account, outcome })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Progress>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SearchConnections {
    /// Waits until no sync of the account runs in this process, at most for `patience`.
    pub async fn settled(&self, account: Uuid, patience: Duration) {
        let ended = async {
            loop {
                let ended = self.syncs.ended.notified();
                tokio::pin!(ended);
                ended.as_mut().enable();
                if self.syncs.progress(account) != Some(Progress::Running) {
                    return;
                }
                ended.await;
            }
        };
        let _ = tokio::time::timeout(patience, ended).await;
    }

    /// Reads the sites of an account in a task of its own, unless that is under way.
    pub(super) fn sync_in_background(&self, account: search_account::Model) {
        let Some(running) = self.syncs.begin(account.id) else { return };
        let (search, random) = (self.search.clone(), self.random.clone());
        tokio::spawn(Current::get().around(async move {
            let mut running = running;
            running.outcome = match sync::of_account(&search, &random, &account).await {
                Ok(_) => None,
                Err(error) => {
                    tracing::warn!(account = %account.id, %error, "a sync in the background failed");
                    let words = error.hint().map(std::borrow::Cow::into_owned);
                    Some(Progress::Failed(words.unwrap_or_else(|| "An unexpected error occurred.".to_owned())))
                }
            };
        }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_sync_of_an_account_runs_at_a_time() {
        let (syncs, account) = (Syncs::default(), Uuid::from_u128(1));
        let mut running = syncs.begin(account).unwrap();
        assert!(syncs.begin(account).is_none());
        assert_eq!(syncs.progress(account), Some(Progress::Running));
        running.outcome = None;
        drop(running);
        assert_eq!(syncs.progress(account), None);
        drop(syncs.begin(account));
        assert!(matches!(syncs.progress(account), Some(Progress::Failed(_))));
        assert!(syncs.begin(account).is_some(), "it can be tried again");
    }
}
