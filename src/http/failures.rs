//! Counts failed sign-ins and guessed tokens against the address they come from.

use std::sync::Arc;

use api::error::{ApiError, Code};
use poem::{Error, Request};

use super::client_address;
use crate::store::rate_limit::{Rate, RateLimits, Standing};

/// Failures of one address that are answered in a minute.
const FAILURES: u32 = 300;

/// The counters; none where nothing is counted.
#[derive(Debug, Clone)]
pub struct Failures(pub Option<Arc<RateLimits>>);

impl Failures {
    /// Counts a failure: its refusal, or 429 beyond 300 a minute.
    pub fn counted(&self, request: &Request, refusal: Error) -> Error {
        let standing = self.count(request);
        match standing.and_then(|standing| standing.retry_after) {
            Some(seconds) => with(standing, ApiError::new(Code::RateLimited).retry_after(seconds).into()),
            None => with(standing, refusal),
        }
    }

    /// Counts a failure that its client must be told of in any case.
    pub fn told(&self, request: &Request, refusal: Error) -> Error {
        with(self.count(request), refusal)
    }

    fn count(&self, request: &Request) -> Option<Standing> {
        let limits = self.0.as_ref()?;
        Some(limits.count(&format!("failed/{}", client_address::of(request)), Rate::new(FAILURES, FAILURES)))
    }
}

/// The envelope tells what is left.
fn with(standing: Option<Standing>, mut refusal: Error) -> Error {
    if let Some(standing) = standing {
        refusal.set_data(standing);
    }
    refusal
}
