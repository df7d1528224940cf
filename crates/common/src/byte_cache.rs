//! An in-memory cache of upstream responses with a byte budget. The least recently used entries are evicted first, and each
//! entry has its own expiry.
//!
//! Entries are local to the process. Replicas do not share them.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use cached::{Cached as _, stores::LruCache};
use chrono::{DateTime, Utc};

/// Maximum number of entries. In practice the byte budget is reached first.
const MAX_ENTRIES: usize = 100_000;

/// Bytes of an entry besides its own estimate: key, list node, table slot.
const OVERHEAD: usize = 256;

#[derive(Clone)]
struct Entry<V> {
    value: V,
    bytes: usize,
    expires_at: DateTime<Utc>,
}

struct Held<V> {
    entries: LruCache<String, Entry<V>>,
    bytes: usize,
    hits: u64,
    insertions: u64,
    /// Bytes of entries evicted by the list since they were last subtracted.
    evicted: Arc<AtomicUsize>,
}

/// A cache whose entries take at most `max_bytes` in total.
pub struct ByteCache<V> {
    held: Mutex<Held<V>>,
    max_bytes: usize,
}

/// The current use of a cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheUse {
    /// The number of entries.
    pub entries: usize,
    /// Estimated bytes.
    pub bytes: usize,
    /// The budget.
    pub max_bytes: usize,
    /// The number of reads that found a value.
    pub hits: u64,
    /// The number of values stored.
    pub insertions: u64,
}

impl<V: Clone> ByteCache<V> {
    /// An empty cache.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        let evicted = Arc::new(AtomicUsize::new(0));
        let counter = evicted.clone();
        let builder = LruCache::builder().max_size(MAX_ENTRIES).on_evict(move |_, entry: &Entry<V>| {
            counter.fetch_add(entry.bytes, Ordering::Relaxed);
        });
        // The builder only fails for a size of zero.
        let entries = builder.build().unwrap_or_else(|_| LruCache::new(MAX_ENTRIES));
        Self { held: Mutex::new(Held { entries, bytes: 0, hits: 0, insertions: 0, evicted }), max_bytes }
    }

    /// Returns the value under `key`, unless it has expired.
    pub fn get(&self, key: &String, now: DateTime<Utc>) -> Option<V> {
        self.get_if(key, now, |_| true)
    }

    /// Returns the value under `key`, unless it has expired or is not `usable`.
    pub fn get_if(&self, key: &String, now: DateTime<Utc>, usable: impl Fn(&V) -> bool) -> Option<V> {
        let mut held = self.lock();
        let found = held.entries.cache_get(key).map(|entry| (entry.expires_at, entry.value.clone()))?;
        if found.0 <= now {
            held.remove(key);
            return None;
        }
        let found = Some(found.1).filter(usable);
        held.hits += u64::from(found.is_some());
        found
    }

    /// Stores `value` of about `bytes` until `expires_at`. A value larger than the whole budget is not stored.
    pub fn put(&self, key: String, value: V, bytes: usize, expires_at: DateTime<Utc>) {
        let bytes = bytes + key.len() + OVERHEAD;
        let mut held = self.lock();
        held.remove(&key);
        if bytes > self.max_bytes {
            return;
        }
        held.make_room(self.max_bytes - bytes);
        held.bytes += bytes;
        held.insertions += 1;
        held.entries.cache_set(key, Entry { value, bytes, expires_at });
        held.subtract_evicted();
    }

    /// Removes every entry whose key `is_meant`.
    pub fn remove_all(&self, is_meant: impl Fn(&str) -> bool) {
        let mut held = self.lock();
        held.entries.retain(|key, _| !is_meant(key));
        held.subtract_evicted();
    }

    /// The current use.
    #[must_use]
    pub fn usage(&self) -> CacheUse {
        let held = self.lock();
        CacheUse {
            entries: held.entries.cache_size(),
            bytes: held.bytes,
            max_bytes: self.max_bytes,
            hits: held.hits,
            insertions: held.insertions,
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Held<V>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<V: Clone> Held<V> {
    fn remove(&mut self, key: &String) {
        let _ = self.entries.cache_remove(key);
        self.subtract_evicted();
    }

    /// Evicts the least recently used entries until at most `budget` bytes remain. Each eviction takes constant time.
    fn make_room(&mut self, budget: usize) {
        while self.bytes > budget {
            let entries = self.entries.cache_size();
            if entries <= 1 {
                self.entries.cache_clear();
                self.bytes = 0;
                return;
            }
            self.entries.set_max_size(entries - 1);
            self.entries.set_max_size(MAX_ENTRIES);
            self.subtract_evicted();
        }
    }

    fn subtract_evicted(&mut self) {
        self.bytes -= self.evicted.swap(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use chrono::{TimeDelta, TimeZone};

    use super::*;

    fn noon() -> DateTime<Utc> {
        Utc.with_ymd_and_hms(2026, 11, 21, 12, 0, 0).unwrap()
    }

    fn size<V: Clone>(cache: &ByteCache<V>) -> (usize, usize) {
        (cache.usage().entries, cache.usage().bytes)
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let cache = ByteCache::new(3 * (1_000 + OVERHEAD + 1));
        let later = noon() + TimeDelta::hours(1);
        for key in ["a", "b", "c"] {
            cache.put(key.to_owned(), key, 1_000, later);
        }
        assert_eq!(cache.get(&"a".to_owned(), noon()), Some("a"));
        cache.put("d".to_owned(), "d", 1_000, later);
        let kept: Vec<bool> =
            ["a", "b", "c", "d"].iter().map(|k| cache.get(&(*k).to_owned(), noon()).is_some()).collect();
        assert_eq!(kept, [true, false, true, true]);
    }

    #[test]
    fn the_budget_holds_for_any_readings() {
        let cache = ByteCache::new(10_000);
        for n in 0..100_usize {
            cache.put(format!("{n}"), n, n * 200, noon() + TimeDelta::hours(1));
            assert!(cache.usage().bytes <= 10_000);
        }
        assert!(cache.get(&"99".to_owned(), noon()).is_none(), "larger than the whole budget");
    }

    #[test]
    fn a_full_list_of_entries_counts_the_bytes_that_leave() {
        let cache = ByteCache::new(usize::MAX);
        for n in 0..MAX_ENTRIES + 10 {
            cache.put(format!("{n:06}"), n, 0, noon() + TimeDelta::hours(1));
        }
        assert_eq!(size(&cache), (MAX_ENTRIES, MAX_ENTRIES * (6 + OVERHEAD)));
    }

    #[test]
    fn what_is_removed_gives_its_bytes_back() {
        let cache = ByteCache::new(10_000);
        for key in ["a 1", "a 2", "b 1"] {
            cache.put(key.to_owned(), key, 10, noon() + TimeDelta::hours(1));
        }
        cache.remove_all(|key| key.starts_with("a "));
        assert_eq!(cache.get(&"a 1".to_owned(), noon()), None);
        assert_eq!(cache.get(&"b 1".to_owned(), noon()), Some("b 1"));
        assert_eq!(size(&cache), (1, 3 + 10 + OVERHEAD));
    }

    #[test]
    fn an_entry_expires_at_its_own_time() {
        let cache = ByteCache::new(10_000);
        cache.put("a".to_owned(), 1, 10, noon() + TimeDelta::minutes(5));
        assert_eq!(cache.get(&"a".to_owned(), noon() + TimeDelta::minutes(4)), Some(1));
        assert_eq!(cache.get(&"a".to_owned(), noon() + TimeDelta::minutes(5)), None);
        assert_eq!(size(&cache), (0, 0));
    }

    #[test]
    fn what_is_found_and_usable_is_a_hit() {
        let cache = ByteCache::new(10_000);
        let later = noon() + TimeDelta::minutes(5);
        cache.put("a".to_owned(), 1, 10, later);
        assert_eq!(cache.get(&"b".to_owned(), noon()), None);
        assert_eq!(cache.get_if(&"a".to_owned(), noon(), |value| *value > 1), None);
        assert_eq!(cache.get_if(&"a".to_owned(), noon(), |value| *value == 1), Some(1));
        assert_eq!(cache.get(&"a".to_owned(), later), None);
        assert_eq!((cache.usage().hits, cache.usage().insertions), (1, 1));
    }
}
