//! Waits for answers that need the search engine, but not for a search engine that is away.

use std::time::Duration;

use telemetry::traces::Current;
use tokio::task::JoinSet;

/// The time to wait for the next of several answers.
pub const TIMEOUT: Duration = Duration::from_millis(2_500);

/// Runs tasks side by side. Returns their answers in order, and `None` for each task that was still running when no task had ended
/// for `patience`. Such tasks go on, so that what they read is there for the next question.
pub async fn answers<T: Send + 'static>(
    patience: Duration,
    tasks: impl IntoIterator<Item = impl Future<Output = T> + Send + 'static>,
) -> Vec<Option<T>> {
    let (mut running, mut found) = (JoinSet::new(), Vec::new());
    for (index, task) in tasks.into_iter().enumerate() {
        running.spawn(Current::get().around(async move { (index, task.await) }));
        found.push(None);
    }
    while let Ok(Some(ended)) = tokio::time::timeout(patience, running.join_next()).await {
        match ended {
            Ok((index, answer)) => found[index] = Some(answer),
            Err(error) => tracing::error!(%error, "an answer is missing"),
        }
    }
    running.detach_all();
    found
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, future::BoxFuture};
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn answers_keep_their_order_and_late_ones_are_left_out() {
        let (say, later) = oneshot::channel::<u32>();
        let (said, heard) = oneshot::channel::<u32>();
        let goes_on = async move {
            let number = later.await.unwrap();
            said.send(number).unwrap();
            number
        };
        let tasks: Vec<BoxFuture<'static, u32>> = vec![async { 1 }.boxed(), goes_on.boxed(), async { 3 }.boxed()];
        assert_eq!(answers(Duration::from_millis(20), tasks).await, [Some(1), None, Some(3)]);
        say.send(2).unwrap();
        assert_eq!(heard.await, Ok(2), "the task went on");
    }

    #[tokio::test]
    async fn without_tasks_nothing_is_waited_for() {
        assert_eq!(answers::<u32>(TIMEOUT, Vec::<BoxFuture<'static, u32>>::new()).await, []);
    }
}
