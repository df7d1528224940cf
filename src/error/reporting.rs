//! The last steps before a failure is reported: panics and time limits become refusals, and a refusal gets the request's id and its hints.

use std::{any::Any, panic::AssertUnwindSafe, sync::Arc, time::Duration};

use api::error::{ApiError, Code};
use futures_util::FutureExt as _;
use http::StatusCode;

/// Seconds after which a request that was ended may be sent again.
const RETRY: u64 = 5;

/// The request's id, as request data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub Arc<str>);

/// Adds the request's id to a 5xx error. Moves the hint of an internal error, which is for operators, to the log.
#[must_use]
pub fn finished(mut refusal: ApiError, id: Option<&RequestId>) -> ApiError {
    if refusal.code.status().is_server_error() {
        refusal.correlation_id = id.map(|RequestId(id)| id.to_string());
    }
    if refusal.code == Code::Internal
        && let Some(hint) = refusal.hint.take()
    {
        tracing::error!("internal error: {hint}");
    }
    refusal
}

/// Adds the page where a plan is bought to the refusal of what a plan lacks.
#[must_use]
pub fn with_plans(refusal: ApiError, page: &str) -> ApiError {
    if refusal.code.status() != StatusCode::PAYMENT_REQUIRED {
        return refusal;
    }
    let hint = refusal.hint.as_ref().map(|hint| format!("{hint} ")).unwrap_or_default();
    refusal.hint(format!("{hint}Plans are at {page}."))
}

/// Returns the refusal of a request that was ended after `time`.
#[must_use]
pub fn unanswered(time: Duration) -> ApiError {
    tracing::warn!("a request was ended after {} s", time.as_secs());
    let hint = "There was no answer in time. Ask for less at once: a shorter window, or fewer conditions.";
    ApiError::new(Code::Unavailable).hint(hint).retry_after(RETRY)
}

/// Turns a panic of `answer` into an error.
pub async fn caught<T, E: From<ApiError>>(answer: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    AssertUnwindSafe(answer).catch_unwind().await.unwrap_or_else(|panic| {
        tracing::error!("panic: {}", panic_text(panic.as_ref()));
        Err(ApiError::new(Code::Internal).into())
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("(no text)")
}
