//! Permits for weeks of rows.
//!
//! By day and query, a week of a large site takes some megabytes. The holder of such rows holds a permit, which limits the memory
//! of concurrent questions. One person holds at most a quarter of the permits.

use std::{sync::Arc, time::Duration};

use common::places::Places;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use uuid::Uuid;

use crate::error::Error;

/// The maximum number of weeks in memory at once, besides the cache.
const MAX_WEEKS: usize = 16;
/// The maximum number of weeks that one person's questions hold at once. The default window has four.
pub(super) const MAX_WEEKS_PER_PERSON: usize = MAX_WEEKS / 4;
/// The time limit for a question to get a permit.
const TIMEOUT: Duration = Duration::from_secs(25);

/// The permits of all people.
#[derive(Debug, Clone)]
pub struct Weeks {
    all: Arc<Semaphore>,
    by_person: Places<Uuid>,
}

/// The right to hold one week's rows. Dropping it returns the permit.
#[derive(Debug)]
pub(super) struct WeekPermit {
    _of_all: OwnedSemaphorePermit,
    _of_person: OwnedSemaphorePermit,
}

impl Default for Weeks {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(MAX_WEEKS)), by_person: Places::new(MAX_WEEKS_PER_PERSON) }
    }
}

impl Weeks {
    /// Waits for a permit.
    ///
    /// # Errors
    /// [`Error::Overloaded`] if none becomes free in time.
    pub(super) async fn acquire(&self, person: Uuid) -> Result<WeekPermit, Error> {
        let own = self.by_person.of(person);
        let both = async {
            // The person's own permit comes first, so that waiting for it holds up nobody else.
            let of_person = own.acquire_owned().await?;
            Ok::<_, tokio::sync::AcquireError>(WeekPermit {
                _of_all: self.all.clone().acquire_owned().await?,
                _of_person: of_person,
            })
        };
        let waited = tokio::time::timeout(TIMEOUT, both).await;
        waited
            .map_err(|_| Error::Overloaded("too many weeks of rows are in memory".to_owned()))?
            .map_err(Error::internal)
    }

    /// Waits for one permit, then takes as many more as are free, up to `most` in total.
    ///
    /// # Errors
    /// The errors of [`Weeks::acquire`].
    pub(super) async fn acquire_up_to(&self, person: Uuid, most: usize) -> Result<Vec<WeekPermit>, Error> {
        let mut permits = vec![self.acquire(person).await?];
        let own = self.by_person.of(person);
        while permits.len() < most
            && let (Ok(of_person), Ok(of_all)) = (own.clone().try_acquire_owned(), self.all.clone().try_acquire_owned())
        {
            permits.push(WeekPermit { _of_all: of_all, _of_person: of_person });
        }
        Ok(permits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether a permit is free.
    async fn is_free(weeks: &Weeks, person: Uuid) -> bool {
        tokio::time::timeout(Duration::from_millis(10), weeks.acquire(person)).await.is_ok_and(|permit| permit.is_ok())
    }

    #[tokio::test]
    async fn one_person_holds_a_quarter_of_the_permits() {
        let weeks = Weeks::default();
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let mut held = weeks.acquire_up_to(one, 100).await.unwrap();
        assert_eq!(held.len(), MAX_WEEKS / 4);
        assert!(!is_free(&weeks, one).await);
        let others = weeks.acquire_up_to(other, 2).await.unwrap();
        assert_eq!(others.len(), 2);
        held.pop();
        assert!(is_free(&weeks, one).await);
    }

    #[tokio::test]
    async fn all_people_together_hold_no_more_than_there_are() {
        let weeks = Weeks::default();
        let mut held = Vec::new();
        for person in 1..=4 {
            held.extend(weeks.acquire_up_to(Uuid::from_u128(person), 100).await.unwrap());
        }
        assert_eq!(held.len(), MAX_WEEKS);
        assert!(!is_free(&weeks, Uuid::from_u128(5)).await);
        drop(held);
        assert!(is_free(&weeks, Uuid::from_u128(5)).await);
    }
}
