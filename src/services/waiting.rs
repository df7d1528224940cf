//! Shows a page that its question waits for the search engine.
//!
//! Whether the question may be asked is settled before: session, rights, plan and parameters. So the page sends its head with the right
//! status, and the rest when the search engine has answered.

use std::{
    future::{poll_fn, ready},
    pin::{Pin, pin},
    sync::Arc,
};

use futures_util::future::{Either, select};
use tokio::sync::Notify;

/// The rest of work that waits for the search engine. Other parts of it may hold a connection to the database.
pub type Rest<'w, T> = Pin<Box<dyn Future<Output = T> + Send + 'w>>;

/// Work that has ended, or that waits for the search engine.
pub enum Progress<'w, T> {
    /// Its result.
    Done(T),
    /// The rest of it.
    Waits(Rest<'w, T>),
}

/// Notified by the first reading that waits for the search engine. By default nobody watches it.
#[derive(Clone, Default)]
pub struct Waiting(Option<Arc<Notify>>);

impl Waiting {
    /// Makes one for [`Self::settled`].
    #[must_use]
    pub fn watched() -> Self {
        Self(Some(Arc::default()))
    }

    /// Runs `work`, whose readings announce here that they wait, until it ends, or until one of them waits.
    pub async fn settled<'w, T: Send + 'w>(&self, work: impl Future<Output = T> + Send + 'w) -> Progress<'w, T> {
        let work: Rest<'w, T> = Box::pin(work);
        let Some(announced) = &self.0 else { return Progress::Done(work.await) };
        match select(work, Box::pin(announced.notified())).await {
            Either::Left((result, _)) => Progress::Done(result),
            Either::Right(((), work)) => Progress::Waits(work),
        }
    }

    /// Awaits `reading`, which waits for nothing but the search engine, and announces it if it is not there at once.
    pub async fn announced<T>(&self, reading: impl Future<Output = T>) -> T {
        let mut reading = Box::pin(reading);
        let mut is_announced = false;
        poll_fn(move |context| {
            let polled = reading.as_mut().poll(context);
            if polled.is_pending() && !is_announced {
                is_announced = true;
                self.0.iter().for_each(|watched| watched.notify_one());
            }
            polled
        })
        .await
    }
}

/// Awaits `other` while the `rest` goes on, so that what the rest holds, such as a connection to the database, comes free for it.
pub async fn beside<'w, T: Send + 'w, U>(rest: Rest<'w, T>, other: impl Future<Output = U>) -> (Rest<'w, T>, U) {
    match select(rest, pin!(other)).await {
        Either::Left((result, other)) => (Box::pin(ready(result)), other.await),
        Either::Right((found, rest)) => (rest, found),
    }
}

#[cfg(test)]
mod tests {
    use std::future::ready;

    use tokio::sync::{Semaphore, oneshot};

    use super::*;

    #[tokio::test]
    async fn work_that_needs_no_search_engine_ends() {
        let waiting = Waiting::watched();
        assert!(matches!(waiting.settled(waiting.announced(ready(7))).await, Progress::Done(7)));
    }

    #[tokio::test]
    async fn work_that_waits_goes_on_where_it_was() {
        let (waiting, (answer, reading)) = (Waiting::watched(), oneshot::channel());
        let work = async { waiting.announced(reading).await.unwrap_or(0) + 1 };
        let Progress::Waits(rest) = waiting.settled(work).await else { panic!("it does not wait") };
        answer.send(6).unwrap();
        assert_eq!(rest.await, 7);
    }

    #[tokio::test]
    async fn work_that_waits_gives_back_what_others_need_beside_it() {
        let (waiting, connections, (answer, reading)) = (Waiting::watched(), Semaphore::new(1), oneshot::channel());
        let work = async {
            let records = async {
                let _connection = connections.acquire().await;
                tokio::task::yield_now().await;
                7
            };
            tokio::join!(records, waiting.announced(reading))
        };
        let Progress::Waits(rest) = waiting.settled(work).await else { panic!("it does not wait") };
        let (rest, got) = beside(rest, async { connections.acquire().await.is_ok() }).await;
        assert!(got);
        answer.send(6).unwrap();
        assert_eq!(rest.await, (7, Ok(6)));
        let done: Rest<'_, u32> = Box::pin(ready(1));
        assert_eq!(beside(done, ready(2)).await.0.await, 1);
    }

    #[tokio::test]
    async fn other_waits_are_not_announced() {
        let work = async {
            tokio::task::yield_now().await;
            7
        };
        assert!(matches!(Waiting::watched().settled(work).await, Progress::Done(7)));
    }

    #[tokio::test]
    async fn nobody_need_watch() {
        let waiting = Waiting::default();
        let work = async { waiting.announced(async { tokio::task::yield_now().await }).await };
        assert!(matches!(waiting.settled(work).await, Progress::Done(())));
    }
}
