//! The readings of an analysis, for each window of its question.

use futures_util::future::OptionFuture;

use super::{compared::Days, question::Settled};
use crate::error::Error;

/// One value for each window of a question.
#[derive(Debug, Clone, Default)]
pub struct PerWindow<T> {
    /// The window's value.
    pub current: T,
    /// The value of the comparison window's compared days.
    pub previous: Option<T>,
}

impl<T> PerWindow<T> {
    /// Makes a value for each window that is read.
    pub fn of(asked: &Settled, mut make: impl FnMut(Days) -> T) -> Self {
        Self { current: make(asked.days()), previous: asked.previous_days().map(make) }
    }

    /// Makes `read` for each window in parallel.
    pub async fn read<F>(asked: &Settled, read: impl Fn(Days) -> F) -> Result<Self, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let previous = OptionFuture::from(asked.previous_days().map(&read));
        let (current, previous) = tokio::try_join!(read(asked.days()), async { previous.await.transpose() })?;
        Ok(Self { current, previous })
    }

    /// All values, always in the same order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        [&self.current].into_iter().chain(&self.previous)
    }

    /// The two values that are compared.
    pub fn compared(&self) -> Option<(&T, &T)> {
        Some((&self.current, self.previous.as_ref()?))
    }

    /// Applies `of` to each value.
    pub fn map<'w, U>(&'w self, of: impl Fn(&'w T) -> U) -> PerWindow<U> {
        PerWindow { current: of(&self.current), previous: self.previous.as_ref().map(&of) }
    }

    /// Converts each value.
    pub fn into_map<U>(self, mut of: impl FnMut(T) -> U) -> PerWindow<U> {
        PerWindow { current: of(self.current), previous: self.previous.map(of) }
    }
}
