//! Counts failed sign-ins and guessed tokens per client address.

use std::sync::Arc;

use api::error::{ApiError, Code};
use common::addresses::ClientAddress;
use poem::{Error, Request};
use store::rate_limit::{Rate, RateLimits, Standing};

/// The number of failures per minute and address that are answered.
const FAILURES: u32 = 300;

/// The counters, or `None` if nothing is counted.
#[derive(Debug, Clone)]
pub struct Failures(pub Option<Arc<RateLimits>>);

impl Failures {
    /// Counts a failure. Returns `refusal`, or 429 beyond 300 failures a minute.
    pub fn counted(&self, request: &Request, refusal: Error) -> Error {
        let standing = self.count(request);
        match standing.and_then(|standing| standing.retry_after) {
            Some(seconds) => with(standing, ApiError::new(Code::RateLimited).retry_after(seconds).into()),
            None => with(standing, refusal),
        }
    }

    /// Counts a failure. Always returns `refusal`.
    pub fn told(&self, request: &Request, refusal: Error) -> Error {
        with(self.count(request), refusal)
    }

    fn count(&self, request: &Request) -> Option<Standing> {
        let limits = self.0.as_ref()?;
        Some(limits.count(&format!("failed/{}", ClientAddress::of(request)), Rate::new(FAILURES, FAILURES)))
    }
}

/// Attaches the state of the rate limit, which the error layer writes as headers.
fn with(standing: Option<Standing>, mut refusal: Error) -> Error {
    if let Some(standing) = standing {
        refusal.set_data(standing);
    }
    refusal
}
