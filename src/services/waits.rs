//! Tells a page when its question waits for the search engine.
//!
//! Whether the question may be asked is judged before: session, rights, plan and parameters. So the page can send its head with the
//! right status, and the rest when the search engine has answered.

use std::{future::poll_fn, pin::Pin, sync::Arc};

use futures_util::future::{Either, select};
use tokio::{sync::Notify, task_local};

task_local! {
    /// Notified when the work of this task waits.
    static LISTENER: Arc<Notify>;
}

/// Work that has ended, or that waits for the search engine.
pub enum Progress<'w, T> {
    /// Its result.
    Done(T),
    /// The rest of it.
    Waits(Pin<Box<dyn Future<Output = T> + Send + 'w>>),
}

/// Runs `work` until it ends, or until it waits for the search engine.
pub async fn judged<'w, T: Send + 'w>(work: impl Future<Output = T> + Send + 'w) -> Progress<'w, T> {
    let listener = Arc::new(Notify::new());
    let work: Pin<Box<dyn Future<Output = T> + Send + 'w>> = Box::pin(LISTENER.scope(listener.clone(), work));
    match select(work, Box::pin(listener.notified())).await {
        Either::Left((result, _)) => Progress::Done(result),
        Either::Right(((), work)) => Progress::Waits(work),
    }
}

/// Awaits `reading`, which waits for nothing but the search engine, and tells the page if it is not there at once.
pub async fn announced<T>(reading: impl Future<Output = T>) -> T {
    let mut reading = Box::pin(reading);
    let mut is_told = false;
    poll_fn(move |context| {
        let polled = reading.as_mut().poll(context);
        if polled.is_pending() && !is_told {
            is_told = true;
            // Nobody listens where no page asks.
            let _ = LISTENER.try_with(|listener| listener.notify_one());
        }
        polled
    })
    .await
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn work_that_needs_no_search_engine_ends() {
        assert!(matches!(judged(announced(ready(7))).await, Progress::Done(7)));
    }

    #[tokio::test]
    async fn work_that_waits_goes_on_where_it_was() {
        let (answer, reading) = oneshot::channel();
        let work = async { announced(reading).await.unwrap_or(0) + 1 };
        let Progress::Waits(rest) = judged(work).await else { panic!("it does not wait") };
        answer.send(6).unwrap();
        assert_eq!(rest.await, 7);
    }

    #[tokio::test]
    async fn other_waits_are_not_told() {
        let work = async {
            tokio::task::yield_now().await;
            7
        };
        assert!(matches!(judged(work).await, Progress::Done(7)));
    }
}
