//! Reads opened pages ahead, periodically, by one replica at a time.

use std::time::Duration;

use sea_orm::DatabaseConnection;
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::{Parts, turn::takes_turn};
use crate::services::warming::Warmer;

/// The time between two passes.
const EVERY: Duration = Duration::from_mins(5);

/// The time after which a pass that goes on says so.
const RENEWED: Duration = Duration::from_mins(1);

/// The row of the passes among those of replicas.
const OF_WARMING: Uuid = Uuid::from_u128(1);

/// The minutes for which a turn lasts.
const MINUTES: u32 = 4;

/// Starts the passes, until the task is aborted.
pub(super) fn start(parts: &Parts, warmer: Warmer) -> JoinHandle<()> {
    let db = parts.store.writer.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(EVERY).await;
            let turn = takes_turn(&db, OF_WARMING, MINUTES).await;
            let passed = match turn {
                Ok(true) => tokio::select! {
                    passed = warmer.pass() => passed,
                    () = renew(&db) => Ok(()),
                },
                Ok(false) => Ok(()),
                Err(error) => Err(error.into()),
            };
            if let Err(error) = passed {
                tracing::warn!(%error, "opened pages could not be read ahead");
            }
        }
    })
}

/// Keeps the turn. Ends if the database does not answer, because another replica may take it then.
async fn renew(db: &DatabaseConnection) {
    loop {
        tokio::time::sleep(RENEWED).await;
        if takes_turn(db, OF_WARMING, 0).await.is_err() {
            return;
        }
    }
}
