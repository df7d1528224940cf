//! Upper bounds of the number and size of records, so that most writes need not count them.
//!
//! One process adds records to a `SQLite` file. A count that it read once, plus what it added since, is therefore never too low. What
//! was deleted since makes it too high, so records are counted again where a bound leaves no room. On `PostgreSQL` other processes
//! write, and nothing is remembered.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cached::{Cached as _, stores::LruCache};
use uuid::Uuid;

/// The maximum number of bounds. The least recently used is dropped first.
const MAX_BOUNDS: usize = 4_096;

/// Records of one kind, and whose they are: a person's or a property's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Records {
    /// The table.
    pub table: &'static str,
    /// The id of the person or property.
    pub owner: Uuid,
}

/// The number of records and the sum of their sizes in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taken {
    /// The number.
    pub count: u64,
    /// The bytes.
    pub bytes: u64,
}

/// The bounds of all records that were counted lately.
#[derive(Debug, Clone, Default)]
pub struct Bounds(Option<Arc<Mutex<LruCache<Records, Taken>>>>);

impl Bounds {
    /// Remembers bounds. Only for a database that no other process adds records to.
    #[must_use]
    pub fn of_one_writer() -> Self {
        Self(Some(Arc::new(Mutex::new(LruCache::new(MAX_BOUNDS)))))
    }

    /// Returns whether bounds are remembered.
    #[must_use]
    pub fn remembers(&self) -> bool {
        self.0.is_some()
    }

    /// Takes room for `more`, if it is certain that all records then stay within `most`. Call it in the write transaction.
    #[must_use]
    pub fn take(&self, records: Records, more: Taken, most: Taken) -> bool {
        let Some(mut bounds) = self.bounds() else { return false };
        let Some(taken) = bounds.cache_get_mut(&records) else { return false };
        let (count, bytes) = (taken.count.saturating_add(more.count), taken.bytes.saturating_add(more.bytes));
        let fits = count <= most.count && bytes <= most.bytes;
        if fits {
            *taken = Taken { count, bytes };
        }
        fits
    }

    /// Remembers what the records take after they were counted. Call it in the write transaction that counted them.
    pub fn set(&self, records: Records, taken: Taken) {
        if let Some(mut bounds) = self.bounds() {
            bounds.cache_set(records, taken);
        }
    }

    fn bounds(&self) -> Option<MutexGuard<'_, LruCache<Records, Taken>>> {
        self.0.as_ref().map(|bounds| bounds.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_taken_while_it_is_certain() {
        let taken = |count, bytes| Taken { count, bytes };
        let records = Records { table: "annotation", owner: Uuid::nil() };
        let (bounds, most) = (Bounds::of_one_writer(), taken(3, 10));
        assert!(!bounds.take(records, taken(1, 1), most), "nothing is known before the first count");
        bounds.set(records, taken(1, 4));
        assert!(!bounds.take(Records { table: "tag", ..records }, taken(1, 1), most));
        assert!(!bounds.take(records, taken(1, 7), most), "too large");
        assert!(bounds.take(records, taken(1, 6), most));
        assert!(!bounds.take(records, taken(1, 1), most), "no bytes are left");
        assert!(bounds.take(records, taken(1, 0), most));
        assert!(!bounds.take(records, taken(1, 0), most), "no record is left");
    }

    #[test]
    fn nothing_is_remembered_where_others_write() {
        let records = Records { table: "annotation", owner: Uuid::nil() };
        let bounds = Bounds::default();
        bounds.set(records, Taken { count: 0, bytes: 0 });
        assert!(!bounds.take(records, Taken { count: 0, bytes: 0 }, Taken { count: 9, bytes: 9 }));
    }
}
