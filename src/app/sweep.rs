//! Deletes expired rows and what remains of them, revokes waiting grants, replaces old signing keys, and pins older share links, periodically.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use identity::{departures, revocation, session::Sessions};
use issuer::IdentityProvider;
use sea_orm::{DatabaseConnection, DbErr};
use store::erasure;
use telemetry::{events::EventMeter, traces::Traces};
use tokio::task::JoinHandle;
use uuid::Uuid;

use super::{Parts, basis::max_token_age, turn::takes_turn};
use crate::{
    handlers::App,
    services::{applications::uses, audit, privacy::pending, replays, sharing, warming::opened},
};

/// The time between two sweeps.
const EVERY: Duration = Duration::from_mins(15);

/// Everything that is swept. docs/PRIVACY.md names how long each sweep keeps its rows.
#[derive(Clone)]
pub(super) struct Sweeper {
    app: Arc<App>,
    sessions: Sessions,
    provider: Option<IdentityProvider>,
    db: DatabaseConnection,
    events: EventMeter,
    traces: Traces,
}

/// The row of the sweep among those of replicas.
const OF_SWEEP: Uuid = Uuid::nil();

/// The minutes for which a turn lasts, a little less than [`EVERY`].
const MINUTES: u32 = 14;

impl Sweeper {
    pub fn new(parts: &Parts) -> Self {
        let (app, sessions, provider) = (parts.app.clone(), parts.sessions.clone(), parts.provider.clone());
        parts.events.note_start(app.clock.now().timestamp());
        Self {
            app,
            sessions,
            provider,
            db: parts.store.writer.clone(),
            events: parts.events.clone(),
            traces: parts.traces.clone(),
        }
    }

    /// Sweeps until the task is aborted.
    pub fn start(&self) -> JoinHandle<()> {
        let sweeper = self.clone();
        tokio::spawn(async move {
            // The settings may have changed while the service was down.
            if let Some(provider) = &sweeper.provider
                && let Err(error) = provider.sign_out_the_unwelcome().await
            {
                tracing::warn!(%error, "people who may no longer sign in could not be signed out");
            }
            sweeper.pin_older_links().await;
            loop {
                tokio::time::sleep(EVERY).await;
                match takes_turn(&sweeper.db, OF_SWEEP, MINUTES).await {
                    Ok(true) => sweeper.sweep().await,
                    Ok(false) => {}
                    Err(error) => tracing::warn!(%error, "expired records could not be deleted"),
                }
            }
        })
    }

    async fn pin_older_links(&self) {
        if let Err(error) = sharing::pin_older(&self.db).await {
            tracing::warn!(%error, "the classifications of older share links could not be pinned");
        }
    }

    /// Sweeps once.
    pub async fn sweep(&self) {
        let span = self.traces.background("sweep");
        span.around(self.sweep_all()).await;
    }

    async fn sweep_all(&self) {
        let begun = Instant::now();
        let swept = self.expired_rows().await;
        let is_well = swept.iter().all(Result::is_ok);
        let mut rows = 0;
        for outcome in swept {
            match outcome {
                Ok(deleted) => rows += deleted,
                Err(error) => tracing::warn!(%error, "expired records could not be deleted"),
            }
        }
        self.events.note_sweep(rows, begun.elapsed(), is_well, self.app.clock.now().timestamp());
        self.pin_older_links().await;
        if let Err(error) = self.app.privacy.revoke_pending().await {
            tracing::warn!(%error, "grants of people who have left could not be revoked");
        }
        let overwritten = match erasure::rewrite(&self.db).await {
            Ok(_) => erasure::empty_log(&self.db).await,
            failed => failed,
        };
        if let Err(error) = overwritten {
            tracing::warn!(%error, "what was deleted may still be read in the database's file");
        }
    }

    /// Deletes expired rows, and replaces a signing key that is old. Returns the number of rows of each kind.
    async fn expired_rows(&self) -> Vec<Result<u64, DbErr>> {
        let (db, now) = (&self.db, self.app.clock.now());
        let mut swept = vec![
            revocation::sweep(db, now).await,
            departures::sweep(db, max_token_age(&self.app.config), now).await,
            self.sessions.sweep(now).await,
            replays::sweep(db, now).await,
            uses::sweep(db, now).await,
            audit::sweep(db, now).await,
            pending::sweep(db, now).await,
            opened::sweep(db, now).await,
        ];
        if let Some(provider) = &self.provider {
            swept.push(provider.sweep().await);
            match provider.rotate_old_key().await {
                Ok(Some(id)) => tracing::info!(id, "a new signing key replaces an old one"),
                Ok(None) => {}
                Err(error) => tracing::warn!(%error, "an old signing key could not be replaced"),
            }
        }
        swept
    }
}
