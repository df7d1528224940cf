//! Asks once: callers who want the same thing at the same time share one task and its result.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::{
    FutureExt as _,
    future::{BoxFuture, Shared, WeakShared},
};
use tokio::task::JoinError;
use tokio_util::task::AbortOnDropHandle;

use crate::compute::Died;

/// The result of a task under way. All who wait get a clone of it.
pub type SharedResult<T, E> = Shared<BoxFuture<'static, Result<T, E>>>;

/// The tasks under way, by key.
///
/// - A key has one task at a time. A caller who leaves does not end it for others.
/// - All callers get a clone of its result. A panic becomes the error that `E` makes of [`Died`].
/// - The key is free when the task ends, successfully or not, so the next caller asks anew.
/// - [`Locked::forget`] frees keys earlier. Callers still get the result, but [`Running::keep`] does not keep it.
pub struct SingleFlight<K, T, E> {
    tasks: Arc<Mutex<Tasks<K, T, E>>>,
    ends_unwanted: bool,
}

struct Tasks<K, T, E> {
    started: u64,
    by_key: HashMap<K, Task<T, E>>,
}

struct Task<T, E> {
    number: u64,
    outcome: WeakShared<BoxFuture<'static, Result<T, E>>>,
    /// Keeps the outcome while nobody waits.
    _wanted: Option<SharedResult<T, E>>,
}

/// The tasks under way, locked. A task is under way until it has kept its result, so a caller who also looks for the result under this
/// lock finds one of them.
pub struct Locked<'a, K, T, E> {
    flight: &'a SingleFlight<K, T, E>,
    tasks: MutexGuard<'a, Tasks<K, T, E>>,
}

/// A task, as it knows itself. Dropping it frees the key.
pub struct Running<K: Eq + Hash, T, E> {
    key: K,
    number: u64,
    flight: SingleFlight<K, T, E>,
}

impl<K, T, E> SingleFlight<K, T, E> {
    /// Tasks that run to their end, even if nobody waits.
    #[must_use]
    pub fn lasting() -> Self {
        Self { tasks: Arc::new(Mutex::new(Tasks { started: 0, by_key: HashMap::new() })), ends_unwanted: false }
    }

    /// Tasks that are aborted when nobody waits any more.
    #[must_use]
    pub fn while_wanted() -> Self {
        Self { ends_unwanted: true, ..Self::lasting() }
    }

    /// Locks the tasks under way.
    #[must_use]
    pub fn lock(&self) -> Locked<'_, K, T, E> {
        Locked { flight: self, tasks: self.tasks.lock().unwrap_or_else(PoisonError::into_inner) }
    }
}

impl<K, T, E> Locked<'_, K, T, E>
where
    K: Clone + Eq + Hash + Send + Sync + 'static,
    T: Clone + Send + Sync + 'static,
    E: Clone + From<Died> + Send + Sync + 'static,
{
    /// Returns the outcome of the task under way for `key`.
    #[must_use]
    pub fn get(&self, key: &K) -> Option<SharedResult<T, E>> {
        self.tasks.by_key.get(key)?.outcome.upgrade()
    }

    /// Starts a task for `key`.
    pub fn start<F>(
        &mut self,
        key: K,
        work: impl FnOnce(Arc<Running<K, T, E>>) -> F + Send + 'static,
    ) -> SharedResult<T, E>
    where
        F: Future<Output = Result<T, E>> + Send + 'static,
    {
        self.tasks.started += 1;
        let number = self.tasks.started;
        let (own, flight) = (key.clone(), self.flight.clone());
        // A task that has not begun frees no key. A runtime that ends drops it here, where the tasks are locked.
        let task = tokio::spawn(async move {
            let running = Arc::new(Running { key: own, number, flight });
            work(running.clone()).await
        });
        let joined = |ended: Result<_, JoinError>| ended.unwrap_or_else(|error| Err(Died::from(error).into()));
        let ends_unwanted = self.flight.ends_unwanted;
        let outcome =
            if ends_unwanted { AbortOnDropHandle::new(task).map(joined).boxed() } else { task.map(joined).boxed() };
        let outcome = outcome.shared();
        let wanted = (!ends_unwanted).then(|| outcome.clone());
        let by_key = &mut self.tasks.by_key;
        if by_key.len() == by_key.capacity() {
            by_key.retain(|_, task| task.outcome.upgrade().is_some());
        }
        // An outcome can be downgraded until it is awaited.
        if let Some(weak) = outcome.downgrade() {
            by_key.insert(key, Task { number, outcome: weak, _wanted: wanted });
        }
        outcome
    }

    /// Forgets the tasks whose key `is_meant`.
    pub fn forget(&mut self, is_meant: impl Fn(&K) -> bool) {
        self.tasks.by_key.retain(|key, _| !is_meant(key));
    }
}

impl<K: Eq + Hash, T, E> Running<K, T, E> {
    /// Calls `keep`, unless the task was forgotten.
    pub fn keep(&self, keep: impl FnOnce()) {
        let tasks = self.flight.lock().tasks;
        if tasks.by_key.get(&self.key).is_some_and(|task| task.number == self.number) {
            keep();
        }
    }
}

impl<K: Eq + Hash, T, E> Drop for Running<K, T, E> {
    fn drop(&mut self) {
        let mut tasks = self.flight.lock().tasks;
        if tasks.by_key.get(&self.key).is_some_and(|task| task.number == self.number) {
            tasks.by_key.remove(&self.key);
        }
    }
}

// Implemented by hand, because the derive would require `K`, `T` and `E` to be `Clone`.
impl<K, T, E> Clone for SingleFlight<K, T, E> {
    fn clone(&self) -> Self {
        Self { tasks: self.tasks.clone(), ends_unwanted: self.ends_unwanted }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, ready},
        sync::atomic::{AtomicBool, Ordering},
    };

    use tokio::{sync::oneshot, task::yield_now};

    use super::*;

    #[derive(Debug, Clone, PartialEq)]
    struct Failed(String);

    impl From<Died> for Failed {
        fn from(died: Died) -> Self {
            Self(died.to_string())
        }
    }

    type Flight = SingleFlight<&'static str, u32, Failed>;

    fn is_free(flight: &Flight) -> bool {
        flight.lock().tasks.by_key.is_empty()
    }

    #[tokio::test]
    async fn callers_share_one_task_and_the_key_is_free_when_it_ends() {
        let flight = Flight::lasting();
        let (send, receive) = oneshot::channel();
        let first = flight.lock().start("a", move |_| async move { Ok(receive.await.unwrap_or(0)) });
        let second = flight.lock().get(&"a").unwrap();
        assert!(flight.lock().get(&"b").is_none());
        send.send(7).unwrap();
        assert_eq!((first.await, second.await), (Ok(7), Ok(7)));
        assert!(is_free(&flight));
        let failed = flight.lock().start("a", |_| ready(Err(Failed("away".to_owned()))));
        assert_eq!(failed.await, Err(Failed("away".to_owned())));
        assert!(is_free(&flight), "a failure is not shared with later callers");
    }

    #[tokio::test]
    async fn a_panic_is_an_error_and_frees_the_key() {
        let flight = Flight::lasting();
        let outcome = flight.lock().start("a", |_| async { panic!("on purpose") });
        assert!(outcome.await.is_err_and(|Failed(text)| text.contains("panic")));
        assert!(is_free(&flight));
    }

    #[tokio::test]
    async fn a_task_that_nobody_waits_for_ends_or_lasts() {
        let flight = Flight::while_wanted();
        let first = flight.lock().start("a", |_| pending());
        let second = flight.lock().get(&"a").unwrap();
        drop(first);
        yield_now().await;
        assert!(flight.lock().get(&"a").is_some(), "somebody waits");
        drop(second);
        assert!(flight.lock().get(&"a").is_none());
        for _ in 0..1_000 {
            drop(flight.lock().start("b", |_| pending()));
        }
        assert!(flight.lock().get(&"b").is_none(), "a task that never began leaves its key free");
        let anew = flight.lock().start("a", |_| pending());
        yield_now().await;
        assert!(flight.lock().get(&"a").is_some(), "the aborted task does not free the key of the next one");
        drop(anew);

        let flight = Flight::lasting();
        drop(flight.lock().start("a", |_| pending()));
        yield_now().await;
        assert!(flight.lock().get(&"a").is_some());
    }

    #[tokio::test]
    async fn a_forgotten_task_gives_its_result_and_does_not_keep_it() {
        let flight = Flight::lasting();
        for is_forgotten in [false, true] {
            let kept = Arc::new(AtomicBool::new(false));
            let (send, receive) = oneshot::channel::<()>();
            let seen = kept.clone();
            let outcome = flight.lock().start("a", move |running| async move {
                let _ = receive.await;
                running.keep(|| seen.store(true, Ordering::Relaxed));
                Ok(7)
            });
            if is_forgotten {
                flight.lock().forget(|key| *key == "a");
                assert!(is_free(&flight));
            }
            send.send(()).unwrap();
            assert_eq!((outcome.await, kept.load(Ordering::Relaxed)), (Ok(7), !is_forgotten));
        }
    }
}
