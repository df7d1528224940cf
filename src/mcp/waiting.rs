//! Waits for an answer on behalf of a client: reports progress while it takes long, and gives it up when the client does.

use std::time::Duration;

use poem::http::request::Parts;
use rmcp::{ErrorData, RoleServer, model::ProgressNotificationParam, service::RequestContext};
use telemetry::traces::Current;
use tokio::time::{Instant, interval_at};
use tracing::{Instrument as _, Span};

/// The time between two reports, and until the first.
const STEP: Duration = Duration::from_secs(1);

/// Marks requests of clients that take a stream of events, as data of the request.
#[derive(Debug, Clone, Copy)]
pub struct TakesEvents;

/// Returns the HTTP request that carried a message.
///
/// # Errors
/// An internal error if there is none.
pub fn outer(context: &RequestContext<RoleServer>) -> Result<&Parts, ErrorData> {
    context.extensions.get().ok_or_else(|| ErrorData::internal_error("the message has no request", None))
}

/// Waits for `answer` until the client leaves. Dropping it then withdraws it from reads that nobody else waits for.
///
/// # Errors
/// An internal error, which nobody reads, if the client has left.
pub async fn answered<T>(
    context: &RequestContext<RoleServer>,
    outer: &Parts,
    answer: impl Future<Output = T>,
) -> Result<T, ErrorData> {
    // The SDK answers in a task of its own, which would lose the request's spans: that of log lines with the correlation id, and that of traces.
    let span = outer.extensions.get::<Span>().cloned().unwrap_or_else(Span::none);
    let trace = outer.extensions.get::<Current>().cloned().unwrap_or_default();
    let answer = trace.around(answer);
    tokio::select! {
        answer = reported(context, outer, answer.instrument(span)) => Ok(answer),
        () = context.ct.cancelled() => Err(ErrorData::internal_error("the client has left", None)),
    }
}

/// Waits for `answer`, and reports every second that it is still under way if the client gave a token and takes events. A report is sent
/// before the answer is polled again, so none follows the answer.
async fn reported<T>(context: &RequestContext<RoleServer>, outer: &Parts, answer: impl Future<Output = T>) -> T {
    let token = context.meta.get_progress_token().filter(|_| outer.extensions.get::<TakesEvents>().is_some());
    let Some(token) = token else { return answer.await };
    let mut answer = std::pin::pin!(answer);
    let mut steps = interval_at(Instant::now() + STEP, STEP);
    let mut seconds: u32 = 0;
    loop {
        tokio::select! {
            answer = &mut answer => return answer,
            _ = steps.tick() => seconds += 1,
        }
        let report = ProgressNotificationParam::new(token.clone(), f64::from(seconds))
            .with_message(format!("Reading search data for {seconds} s"));
        // A report that cannot be delivered does not end the call: if the client has left, the call ends by itself.
        let _ = context.peer.notify_progress(report).await;
    }
}
