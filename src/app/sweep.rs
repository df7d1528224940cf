//! Deletes expired rows periodically.

use std::time::Duration;

use tokio::task::JoinHandle;

use super::Parts;
use crate::{identity::revocation, services::replays};

const EVERY: Duration = Duration::from_mins(15);

/// Sweeps until the task is aborted.
pub(super) fn start(parts: &Parts) -> JoinHandle<()> {
    let (app, sessions, provider) = (parts.app.clone(), parts.sessions.clone(), parts.provider.clone());
    let db = parts.store.writer.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(EVERY).await;
            let now = app.clock.now();
            let mut swept =
                vec![revocation::sweep(&db, now).await, sessions.sweep(now).await, replays::sweep(&db, now).await];
            if let Some(provider) = &provider {
                swept.push(provider.sweep().await);
            }
            for error in swept.into_iter().filter_map(Result::err) {
                tracing::warn!(%error, "expired records could not be deleted");
            }
        }
    })
}
