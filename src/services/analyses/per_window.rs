//! The readings of an analysis, for each window of its question.

use api::models::Window;
use futures_util::future::OptionFuture;

use super::question::Settled;
use crate::error::Error;

/// One value for each window of a question.
#[derive(Debug, Clone, Default)]
pub struct PerWindow<T> {
    /// That of the window.
    pub current: T,
    /// That of the window's compared days, if they differ from the days that `current` counts.
    base: Option<T>,
    /// That of the comparison window's compared days.
    pub previous: Option<T>,
}

impl<T> PerWindow<T> {
    /// Makes `read` for each window in parallel.
    pub async fn read<F>(asked: &Settled, read: impl Fn(Window) -> F) -> Result<Self, Error>
    where
        F: Future<Output = Result<T, Error>>,
    {
        let base = OptionFuture::from(asked.base.map(&read));
        let previous = OptionFuture::from(asked.compared.map(|compared| read(compared.previous)));
        let (current, base, previous) =
            tokio::try_join!(read(asked.window), async { base.await.transpose() }, async {
                previous.await.transpose()
            },)?;
        Ok(Self { current, base, previous })
    }

    /// All values, always in the same order.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        [&self.current].into_iter().chain(&self.base).chain(&self.previous)
    }

    /// The two values that are compared.
    pub fn compared(&self) -> Option<(&T, &T)> {
        Some((self.base.as_ref().unwrap_or(&self.current), self.previous.as_ref()?))
    }

    /// The value of the window's compared days, if it is not `current`.
    pub fn base(&self) -> Option<&T> {
        self.base.as_ref()
    }

    /// Returns what `of` makes of each value.
    pub fn map<'w, U>(&'w self, of: impl Fn(&'w T) -> U) -> PerWindow<U> {
        PerWindow {
            current: of(&self.current),
            base: self.base.as_ref().map(&of),
            previous: self.previous.as_ref().map(&of),
        }
    }
}
