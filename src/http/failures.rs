//! Counts failed sign-ins and guessed tokens per client address.

use api::error::{ApiError, Code};
use common::rate_limit::{LimitState, Rate};
use pages::client_address::client_address;
use poem::{Error, Request};

use crate::caller_limits::CallerLimits;

/// The number of failures per minute and address that are answered.
const FAILURES: u32 = 300;

/// The counters, or `None` if nothing is counted.
#[derive(Debug, Clone)]
pub struct Failures(pub Option<CallerLimits>);

impl Failures {
    /// Counts a failure. Returns `refusal`, or 429 beyond 300 failures a minute.
    pub async fn counted(&self, request: &Request, refusal: Error) -> Error {
        let standing = self.count(request).await;
        match standing.and_then(|standing| standing.retry_after) {
            Some(seconds) => with(standing, ApiError::new(Code::RateLimited).retry_after(seconds).into()),
            None => with(standing, refusal),
        }
    }

    /// Counts a failure. Always returns `refusal`.
    pub async fn told(&self, request: &Request, refusal: Error) -> Error {
        with(self.count(request).await, refusal)
    }

    async fn count(&self, request: &Request) -> Option<LimitState> {
        let limits = self.0.as_ref()?;
        Some(limits.count(&format!("failed/{}", client_address(request)), Rate::new(FAILURES, FAILURES)).await)
    }
}

/// Attaches the state of the rate limit, which the error layer writes as headers.
fn with(standing: Option<LimitState>, mut refusal: Error) -> Error {
    if let Some(standing) = standing {
        refusal.set_data(standing);
    }
    refusal
}
