//! Requests without a line of their own in the log: a line a minute tells how many there were. So a client with many requests does
//! not write as many lines.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

/// The time from the first request to the line about all.
const MINUTE: Duration = Duration::from_mins(1);

/// The reason why a request has no line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlogged {
    /// It was answered with fixed content.
    Fixed,
    /// It was refused with 429.
    Refused,
    /// Its network has had many lines.
    Frequent,
}

/// The numbers of such requests, by reason. The rest is written when it is dropped.
#[derive(Debug, Default)]
pub struct Sums {
    counts: [AtomicU64; 3],
    is_due: AtomicBool,
}

impl Sums {
    /// Counts a request. The first one brings about a line a minute later.
    pub fn count(self: &Arc<Self>, reason: Unlogged) {
        self.counts[reason as usize].fetch_add(1, Ordering::Relaxed);
        if !self.is_due.swap(true, Ordering::Relaxed) {
            let sums = Arc::downgrade(self);
            tokio::spawn(async move {
                tokio::time::sleep(MINUTE).await;
                sums.upgrade().as_deref().map(Self::write);
            });
        }
    }

    fn write(&self) {
        self.is_due.store(false, Ordering::Relaxed);
        let [fixed, refused, frequent] = self.take();
        if fixed + refused + frequent > 0 {
            tracing::info!(
                fixed,
                refused,
                frequent,
                "without lines of their own: {fixed} requests for fixed content, {refused} refused with 429, and {frequent} of networks \
                 with many requests"
            );
        }
    }

    fn take(&self) -> [u64; 3] {
        self.counts.each_ref().map(|count| count.swap(0, Ordering::Relaxed))
    }
}

impl Drop for Sums {
    fn drop(&mut self) {
        self.write();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn each_request_is_counted_once() {
        let sums = Arc::new(Sums::default());
        for reason in [Unlogged::Fixed, Unlogged::Frequent, Unlogged::Fixed, Unlogged::Refused] {
            sums.count(reason);
        }
        assert_eq!(Arc::weak_count(&sums), 1, "one line is due");
        assert_eq!((sums.take(), sums.take()), ([2, 1, 1], [0; 3]));
    }
}
