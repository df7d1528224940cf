//! Reads once for all replicas, where they share readings.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use common::compute::beside_unless;
use replicas::{Found, Readings, Urgency, Wanted};

use super::{columns, error::SearchEngineError, pace::Lane, reading::Reading, settings::Account};

/// The time for which a reading that was read again is left for others that want to do the same.
const AGAIN: TimeDelta = TimeDelta::minutes(1);

/// Readings of at most so many rows are written and read at once.
const FEW: usize = 500;

/// Readings of at most so many bytes are read at once.
const SMALL: usize = 32 * 1024;

/// The readings of other replicas, if they share any.
#[derive(Clone, Default)]
pub struct SharedReadings(pub Option<Readings>);

/// A request, as replicas know it.
#[derive(Clone, Copy)]
pub struct Known<'r> {
    /// The account.
    pub account: &'r Account,
    /// The site and the query.
    pub request: &'r str,
    /// The lane.
    pub lane: Lane,
}

impl SharedReadings {
    /// Returns the reading that another replica has or makes, or `fetch`es it for all. `expires_at` is asked when it has come.
    pub async fn once<F>(
        &self,
        known: Known<'_>,
        expires_at: impl FnOnce(&Reading) -> DateTime<Utc>,
        fetch: impl FnOnce() -> F,
    ) -> Result<Reading, SearchEngineError>
    where
        F: Future<Output = Result<Reading, SearchEngineError>>,
    {
        let Some(readings) = &self.0 else { return fetch().await };
        let urgency = if known.lane == Lane::Own { Urgency::Soon } else { Urgency::Later };
        let scope = known.account.scope();
        let wanted = Wanted { scope: &scope, request: known.request, urgency, patience: Duration::ZERO };
        let claim = match readings.find(&wanted).await {
            Found::Reading(bytes) => match read(bytes).await {
                Some(reading) => return Ok(reading),
                None => return fetch().await,
            },
            Found::Mine(claim) => claim,
            Found::Alone => return fetch().await,
            Found::Failed => {
                return Err(SearchEngineError::unavailable("another replica could not read it a moment ago"));
            }
        };
        match fetch().await {
            Ok(reading) => {
                let until = expires_at(&reading);
                let (reading, bytes) = written(reading).await?;
                if let Some(bytes) = bytes {
                    claim.put(bytes, until);
                }
                Ok(reading)
            }
            Err(error) => {
                if matches!(error, SearchEngineError::Unavailable { .. }) {
                    claim.fail();
                }
                Err(error)
            }
        }
    }

    /// Reads again what is kept, once for all replicas, and gives it to those that do not have it.
    pub async fn again<F>(
        &self,
        known: Known<'_>,
        now: DateTime<Utc>,
        expires_at: impl FnOnce(&Reading) -> DateTime<Utc>,
        fetch: impl FnOnce() -> F,
    ) -> Result<Reading, SearchEngineError>
    where
        F: Future<Output = Result<Reading, SearchEngineError>>,
    {
        let request = format!("again {}", known.request);
        let reading = self.once(Known { request: &request, ..known }, |_| now + AGAIN, fetch).await?;
        let Some(readings) = &self.0 else { return Ok(reading) };
        let until = expires_at(&reading);
        let (reading, bytes) = written(reading).await?;
        if let Some(bytes) = bytes {
            readings.put(&known.account.scope(), known.request, bytes, until);
        }
        Ok(reading)
    }

    /// Returns a reading that another replica has.
    pub async fn get(&self, known: Known<'_>) -> Option<Reading> {
        read(self.0.as_ref()?.get(&known.account.scope(), known.request).await?).await
    }
}

async fn read(bytes: Vec<u8>) -> Option<Reading> {
    beside_unless(bytes.len() <= SMALL, move || columns::read(&bytes)).await.ok()?
}

async fn written(reading: Reading) -> Result<(Reading, Option<Vec<u8>>), SearchEngineError> {
    let is_small = reading.rows.len() <= FEW;
    let work = move || {
        let bytes = columns::written(&reading);
        (reading, bytes)
    };
    Ok(beside_unless(is_small, work).await?)
}
