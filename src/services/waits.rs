//! Tells a page when its question waits for the search engine.
//!
//! Whether the question may be asked is judged before: session, rights, plan and parameters. So the page can send its head with the
//! right status, and the rest when the search engine has answered.

use std::{
    future::{poll_fn, ready},
    pin::{Pin, pin},
    sync::Arc,
};

use futures_util::future::{Either, select};
use tokio::{sync::Notify, task_local};

task_local! {
    /// Notified when the work of this task waits.
    static LISTENER: Arc<Notify>;
}

/// The rest of work that waits for the search engine. Other parts of it may hold a connection to the database.
pub type Rest<'w, T> = Pin<Box<dyn Future<Output = T> + Send + 'w>>;

/// Work that has ended, or that waits for the search engine.
pub enum Progress<'w, T> {
    /// Its result.
    Done(T),
    /// The rest of it.
    Waits(Rest<'w, T>),
}

/// Runs `work` until it ends, or until it waits for the search engine.
pub async fn judged<'w, T: Send + 'w>(work: impl Future<Output = T> + Send + 'w) -> Progress<'w, T> {
    let listener = Arc::new(Notify::new());
    let work: Rest<'w, T> = Box::pin(LISTENER.scope(listener.clone(), work));
    match select(work, Box::pin(listener.notified())).await {
        Either::Left((result, _)) => Progress::Done(result),
        Either::Right(((), work)) => Progress::Waits(work),
    }
}

/// Awaits `other` while the `rest` goes on, so that what the rest holds, such as a connection to the database, comes free for it.
pub async fn beside<'w, T: Send + 'w, U>(rest: Rest<'w, T>, other: impl Future<Output = U>) -> (Rest<'w, T>, U) {
    match select(rest, pin!(other)).await {
        Either::Left((result, other)) => (Box::pin(ready(result)), other.await),
        Either::Right((found, rest)) => (rest, found),
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

    use tokio::sync::{Semaphore, oneshot};

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
    async fn work_that_waits_gives_back_what_others_need_beside_it() {
        let (connections, (answer, reading)) = (Semaphore::new(1), oneshot::channel());
        let work = async {
            let records = async {
                let _connection = connections.acquire().await;
                tokio::task::yield_now().await;
                7
            };
            tokio::join!(records, announced(reading))
        };
        let Progress::Waits(rest) = judged(work).await else { panic!("it does not wait") };
        let (rest, got) = beside(rest, async { connections.acquire().await.is_ok() }).await;
        assert!(got);
        answer.send(6).unwrap();
        assert_eq!(rest.await, (7, Ok(6)));
        let done: Rest<'_, u32> = Box::pin(ready(1));
        assert_eq!(beside(done, ready(2)).await.0.await, 1);
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
