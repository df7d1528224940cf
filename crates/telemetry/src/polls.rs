//! Counts polls that kept a thread of the runtime from other requests.

use std::{
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use prometheus_client::{metrics::counter::Counter, registry::Registry};
use tokio::time::Instant;

/// The time beyond which a poll is long.
const LONG: Duration = Duration::from_millis(5);

/// The number of long polls.
#[derive(Debug, Clone, Default)]
pub struct PollMeter(Counter);

/// A future whose polls are timed.
pub struct Timed<F> {
    inner: Pin<Box<F>>,
    meter: PollMeter,
}

impl PollMeter {
    /// Times the polls of `future`.
    pub fn timed<F: Future>(&self, future: F) -> Timed<F> {
        Timed { inner: Box::pin(future), meter: self.clone() }
    }

    /// Adds the metric to `registry`.
    pub fn register(&self, registry: &mut Registry) {
        let help = "Polls of connections and requests that took more than 5 ms of a thread that serves others";
        registry.register("long_polls", help, self.0.clone());
    }
}

impl<F: Future> Future for Timed<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let start = Instant::now();
        let polled = self.inner.as_mut().poll(context);
        if start.elapsed() > LONG {
            self.meter.0.inc();
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_poll_that_blocks_its_thread_is_counted() {
        let meter = PollMeter::default();
        let blocking = async { std::thread::sleep(LONG * 2) };
        meter.timed(blocking).await;
        assert_eq!(meter.0.get(), 1);
    }
}
