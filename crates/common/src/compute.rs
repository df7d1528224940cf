//! Runs long computations outside the threads that serve requests.

use std::sync::LazyLock;

use tokio::{
    runtime::{Handle, RuntimeFlavor},
    sync::Semaphore,
    task::{JoinError, block_in_place},
};
use tokio_util::task::AbortOnDropHandle;

/// The work panicked.
#[derive(Debug, thiserror::Error)]
#[error("a computation died: {0}")]
pub struct Died(#[from] JoinError);

/// Limits the tasks to one per core, because more would only take memory.
static PERMITS: LazyLock<Semaphore> =
    LazyLock::new(|| Semaphore::new(std::thread::available_parallelism().map_or(1, std::num::NonZero::get)));

/// Runs `work` on a blocking thread, so that other requests continue. Meant for work that grows with a tenant's data:
/// parsing, aggregating, rendering and hashing megabytes.
///
/// # Errors
/// [`Died`] if `work` panicked.
pub async fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Died> {
    // A task of its own waits for the permit. A caller that is not polled, such as a future in a stream whose reader is busy, would
    // get the permit without using it, while the reader waits for one.
    let turn = tokio::spawn(async move {
        // The semaphore is never closed.
        let permit = PERMITS.acquire().await.ok();
        let done = tokio::task::spawn_blocking(move || {
            // Held until the work is done, even if the caller no longer waits.
            let _permit = permit;
            work()
        });
        done.await
    });
    Ok(AbortOnDropHandle::new(turn).await??)
}

/// Runs `work` on the calling thread if it is `small`, else with [`beside`]. For a few records, switching threads costs more than
/// the work.
///
/// # Errors
/// [`Died`] if `work` panicked on another thread.
pub async fn beside_unless<T: Send + 'static>(
    small: bool,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Died> {
    if small { Ok(work()) } else { beside(work).await }
}

/// Runs `work` on the calling thread, while other tasks of the runtime continue on another one. For work that borrows. A runtime with one
/// thread, as in tests, waits for it.
pub fn in_place<T>(work: impl FnOnce() -> T) -> T {
    let has_threads = Handle::try_current().is_ok_and(|runtime| runtime.runtime_flavor() == RuntimeFlavor::MultiThread);
    if has_threads { block_in_place(work) } else { work() }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicUsize, Ordering},
        },
        thread,
        time::Duration,
    };

    use futures_util::{StreamExt as _, future::join_all, stream};

    use super::*;

    #[tokio::test]
    async fn work_that_nobody_polls_holds_up_nobody() {
        let cores = thread::available_parallelism().unwrap().get();
        let all = async {
            let mut parts = stream::iter((0..8 * cores).map(|n| beside(move || n))).buffered(4 * cores);
            let mut sum = 0;
            while let Some(part) = parts.next().await {
                let part = part.unwrap();
                sum += beside(move || part).await.unwrap();
            }
            sum
        };
        let waited = tokio::time::timeout(Duration::from_mins(1), all).await;
        assert_eq!(waited, Ok((0..8 * cores).sum()));
    }

    #[tokio::test]
    async fn work_runs_beside_the_runtime_and_no_more_of_it_than_there_are_cores() {
        let cores = thread::available_parallelism().unwrap().get();
        let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let here = thread::current().id();
        let work = |n: usize| {
            let (running, most) = (running.clone(), most.clone());
            beside(move || {
                assert_ne!(thread::current().id(), here);
                most.fetch_max(running.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::yield_now();
                running.fetch_sub(1, Ordering::SeqCst);
                n
            })
        };
        let done = join_all((0..100).map(work)).await;
        assert!(done.into_iter().map(Result::unwrap).eq(0..100));
        assert!((1..=cores).contains(&most.load(Ordering::SeqCst)));
    }

    /// Two workers draw, and a task that both wait for still runs.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn work_in_place_holds_up_no_other_task() {
        let (done, wait) = std::sync::mpsc::channel::<()>();
        let wait = Arc::new(std::sync::Mutex::new(wait));
        let drawing = [(); 2].map(|()| {
            let wait = wait.clone();
            tokio::spawn(async move { in_place(|| wait.lock().unwrap().recv_timeout(Duration::from_mins(1)).is_ok()) })
        });
        for _ in 0..2 {
            let done = done.clone();
            tokio::spawn(async move { done.send(()) }).await.unwrap().unwrap();
        }
        for drawn in drawing {
            assert!(drawn.await.unwrap());
        }
    }

    #[tokio::test]
    async fn work_that_panics_is_a_fault() {
        let failed: Result<(), _> = beside(|| panic!("a bug")).await;
        assert!(failed.is_err_and(|Died(error)| error.is_panic()));
        assert_eq!(beside(|| 1).await.unwrap(), 1, "its permit is back");
    }
}
