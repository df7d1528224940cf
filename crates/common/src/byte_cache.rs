//! An in-memory cache of upstream responses with a byte budget. Each entry has its own expiry.
//!
//! A key begins with its holder and a space, such as the search account that was asked. When there is no room, the holder with the most bytes
//! loses its least recently used entries, so that nobody's questions evict what smaller holders keep.
//!
//! Entries are local to the process. Replicas do not share them.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

use cached::{Cached as _, stores::LruCache};

use super::clock::Moment;

/// Maximum number of entries. In practice the byte budget is reached first.
const MAX_ENTRIES: usize = 100_000;

/// Bytes of an entry besides its own estimate: key, list node, table slot.
const OVERHEAD: usize = 256;

#[derive(Clone)]
struct Entry<V> {
    value: V,
    bytes: usize,
    expires_at: Moment,
}

/// The entries of one holder.
struct Own<V> {
    entries: LruCache<String, Entry<V>>,
    bytes: usize,
    /// Bytes of entries evicted by the list since they were last subtracted.
    evicted: Arc<AtomicUsize>,
}

struct Held<V> {
    by_holder: HashMap<String, Own<V>>,
    /// The bytes of each holder.
    sizes: BTreeSet<(usize, String)>,
    entries: usize,
    bytes: usize,
    hits: u64,
    insertions: u64,
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
        let held =
            Held { by_holder: HashMap::new(), sizes: BTreeSet::new(), entries: 0, bytes: 0, hits: 0, insertions: 0 };
        Self { held: Mutex::new(held), max_bytes }
    }

    /// Returns the value under `key`, unless it has expired.
    pub fn get(&self, key: &str, now: Moment) -> Option<V> {
        self.get_if(key, now, |_| true)
    }

    /// Returns the value under `key`, unless it has expired or is not `usable`.
    pub fn get_if(&self, key: &str, now: Moment, usable: impl Fn(&V) -> bool) -> Option<V> {
        self.entry(key, now, usable).map(|(value, _)| value)
    }

    /// Returns the value under `key` and the time at which it expires, unless it has.
    pub fn get_expiring(&self, key: &str, now: Moment) -> Option<(V, Moment)> {
        self.entry(key, now, |_| true)
    }

    fn entry(&self, key: &str, now: Moment, usable: impl Fn(&V) -> bool) -> Option<(V, Moment)> {
        let mut held = self.lock();
        let own = held.by_holder.get_mut(holder_of(key))?;
        let (expires_at, value) = own.entries.cache_get(key).map(|entry| (entry.expires_at, entry.value.clone()))?;
        if expires_at.is_over(now) {
            held.change(holder_of(key), |own| drop(own.entries.cache_remove(key)));
            return None;
        }
        let found = Some(value).filter(usable);
        held.hits += u64::from(found.is_some());
        found.map(|value| (value, expires_at))
    }

    /// Stores `value` of about `bytes` until `expires_at`. A value larger than the whole budget is not stored.
    pub fn put(&self, key: String, value: V, bytes: usize, expires_at: Moment) {
        let bytes = bytes + key.len() + OVERHEAD;
        let holder = holder_of(&key).to_owned();
        let mut held = self.lock();
        held.change(&holder, |own| drop(own.entries.cache_remove(&key)));
        if bytes > self.max_bytes {
            return;
        }
        while held.bytes > self.max_bytes - bytes || held.entries == MAX_ENTRIES {
            held.evict_one(&holder, bytes);
        }
        held.insertions += 1;
        held.by_holder.entry(holder.clone()).or_insert_with(Own::new);
        held.change(&holder, |own| {
            own.bytes += bytes;
            own.entries.cache_set(key, Entry { value, bytes, expires_at });
        });
    }

    /// Removes every entry whose key `is_meant`.
    pub fn remove_all(&self, is_meant: impl Fn(&str) -> bool) {
        let mut held = self.lock();
        for holder in held.by_holder.keys().cloned().collect::<Vec<_>>() {
            held.change(&holder, |own| own.remove(&is_meant));
        }
    }

    /// The current use.
    #[must_use]
    pub fn usage(&self) -> CacheUse {
        let held = self.lock();
        CacheUse {
            entries: held.entries,
            bytes: held.bytes,
            max_bytes: self.max_bytes,
            hits: held.hits,
            insertions: held.insertions,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Held<V>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The holder that a key begins with.
fn holder_of(key: &str) -> &str {
    key.split_once(' ').map_or(key, |(holder, _)| holder)
}

impl<V: Clone> Own<V> {
    fn new() -> Self {
        let evicted = Arc::new(AtomicUsize::new(0));
        let counter = evicted.clone();
        // The list allocates for its first size.
        let builder = LruCache::builder().max_size(1).on_evict(move |_, entry: &Entry<V>| {
            counter.fetch_add(entry.bytes, Ordering::Relaxed);
        });
        // The builder only fails for a size of zero.
        let mut entries = builder.build().unwrap_or_else(|_| LruCache::new(1));
        entries.set_max_size(MAX_ENTRIES);
        Self { entries, bytes: 0, evicted }
    }

    /// Removes the least recently used entry, in constant time.
    fn evict_one(&mut self) {
        let entries = self.entries.cache_size();
        if entries <= 1 {
            return self.remove(|_| true);
        }
        self.entries.set_max_size(entries - 1);
        self.entries.set_max_size(MAX_ENTRIES);
    }

    fn remove(&mut self, is_meant: impl Fn(&str) -> bool) {
        self.entries.retain(|key, _| !is_meant(key));
    }
}

impl<V: Clone> Held<V> {
    /// Evicts an entry of the holder that would have the most bytes if `asking` stored `bytes` more.
    fn evict_one(&mut self, asking: &str, bytes: usize) {
        let Some((most, largest)) = self.sizes.last() else { return };
        let with_more = self.by_holder.get(asking).map_or(0, |own| own.bytes + bytes);
        let loser = if with_more >= *most { asking.to_owned() } else { largest.clone() };
        self.change(&loser, Own::evict_one);
    }

    /// Changes the entries of a holder, if there are any, and counts again.
    fn change(&mut self, holder: &str, change: impl FnOnce(&mut Own<V>)) {
        let Some(own) = self.by_holder.get_mut(holder) else { return };
        self.sizes.remove(&(own.bytes, holder.to_owned()));
        self.entries -= own.entries.cache_size();
        self.bytes -= own.bytes;
        change(own);
        own.bytes -= own.evicted.swap(0, Ordering::Relaxed);
        self.entries += own.entries.cache_size();
        self.bytes += own.bytes;
        if own.entries.cache_size() == 0 {
            self.by_holder.remove(holder);
        } else {
            self.sizes.insert((own.bytes, holder.to_owned()));
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::*;
    use crate::clock::Clock;

    fn noon() -> Moment {
        Moment::starting_at(DateTime::from_timestamp(1_795_262_400, 0).unwrap())
    }

    fn size<V: Clone>(cache: &ByteCache<V>) -> (usize, usize) {
        (cache.usage().entries, cache.usage().bytes)
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let cache = ByteCache::new(3 * (1_000 + OVERHEAD + 3));
        let later = noon() + TimeDelta::hours(1);
        for key in ["x a", "x b", "x c"] {
            cache.put(key.to_owned(), key, 1_000, later);
        }
        assert_eq!(cache.get("x a", noon()), Some("x a"));
        cache.put("x d".to_owned(), "x d", 1_000, later);
        let kept: Vec<bool> = ["x a", "x b", "x c", "x d"].iter().map(|k| cache.get(k, noon()).is_some()).collect();
        assert_eq!(kept, [true, false, true, true]);
    }

    #[test]
    fn the_holder_with_the_most_bytes_loses_first() {
        let (cache, later) = (ByteCache::new(100 * (1_000 + OVERHEAD + 6)), noon() + TimeDelta::hours(1));
        let put = |holder: &str, number: usize| cache.put(format!("{holder} {number:04}"), number, 1_000, later);
        let held = |holder: &str, numbers: std::ops::Range<usize>| {
            numbers.filter(|number| cache.get(&format!("{holder} {number:04}"), noon()).is_some()).count()
        };
        (0..20).for_each(|number| put("a", number));
        (0..1_000).for_each(|number| put("b", number));
        assert_eq!((held("a", 0..20), held("b", 920..1_000)), (20, 80), "a stranger takes what is left");
        (20..70).for_each(|number| put("a", number));
        assert_eq!((held("a", 0..70), held("b", 0..1_000)), (50, 50), "whoever asks for more gets half");
        assert_eq!(held("a", 20..70), 50, "and loses what was least used");
        put("c", 0);
        (1_000..1_200).for_each(|number| put("b", number));
        assert_eq!((held("a", 0..70), held("c", 0..1)), (50, 1), "the largest makes room for the newcomer");
        assert_eq!(size(&cache).0, 100);
    }

    #[test]
    fn the_budget_holds_for_any_readings() {
        let cache = ByteCache::new(10_000);
        for n in 0..100_usize {
            cache.put(format!("{} {n}", n % 3), n, n * 200, noon() + TimeDelta::hours(1));
            assert!(cache.usage().bytes <= 10_000);
        }
        assert!(cache.get("0 99", noon()).is_none(), "larger than the whole budget");
    }

    #[test]
    fn a_full_list_of_entries_counts_the_bytes_that_leave() {
        let cache = ByteCache::new(usize::MAX);
        for n in 0..MAX_ENTRIES + 10 {
            cache.put(format!("{} {n:06}", n % 7), n, 0, noon() + TimeDelta::hours(1));
        }
        assert_eq!(size(&cache), (MAX_ENTRIES, MAX_ENTRIES * (8 + OVERHEAD)));
    }

    #[test]
    fn what_is_removed_gives_its_bytes_back() {
        let cache = ByteCache::new(10_000);
        for key in ["a 1", "a 2", "b 1"] {
            cache.put(key.to_owned(), key, 10, noon() + TimeDelta::hours(1));
        }
        cache.remove_all(|key| key.starts_with("a "));
        assert_eq!(cache.get("a 1", noon()), None);
        assert_eq!(cache.get("b 1", noon()), Some("b 1"));
        assert_eq!(size(&cache), (1, 3 + 10 + OVERHEAD));
    }

    #[test]
    fn an_entry_expires_at_its_own_time() {
        let cache = ByteCache::new(10_000);
        cache.put("a".to_owned(), 1, 10, noon() + TimeDelta::minutes(5));
        assert_eq!(cache.get("a", noon() + TimeDelta::minutes(4)), Some(1));
        assert_eq!(cache.get("a", noon() + TimeDelta::minutes(5)), None);
        assert_eq!(size(&cache), (0, 0));
    }

    #[test]
    fn an_entry_lives_no_longer_where_the_clock_is_set_back() {
        let (clock, hand) = Clock::manual(DateTime::from_timestamp(1_795_262_400, 0).unwrap());
        let (cache, lifetime) = (ByteCache::new(10_000), TimeDelta::hours(6));
        for (before, back) in
            [(5, 2), (0, 10), (3, 24)].map(|(before, back)| (TimeDelta::hours(before), TimeDelta::hours(back)))
        {
            let read_at = clock.now();
            cache.put("a".to_owned(), 1, 10, clock.moment().end_of(read_at, lifetime));
            hand.advance(before);
            hand.set(-back);
            assert_eq!(cache.get("a", clock.moment()), Some(1), "{before} {back}");
            // Written again, such as from another cache, it does not live longer than from now.
            cache.put("b".to_owned(), 1, 10, clock.moment().end_of(read_at, lifetime));
            hand.advance(lifetime - before - TimeDelta::seconds(1));
            assert_eq!(cache.get("a", clock.moment()), Some(1), "{before} {back}");
            hand.advance(TimeDelta::seconds(1));
            assert_eq!(cache.get("a", clock.moment()), None, "{before} {back}");
            hand.advance(before);
            assert_eq!(cache.get("b", clock.moment()), None, "{before} {back}");
        }
        cache.put("a".to_owned(), 1, 10, clock.moment().end_of(clock.now(), lifetime));
        hand.set(TimeDelta::days(1));
        assert_eq!(cache.get("a", clock.moment()), None, "the machine slept, or the clock is set forward");
    }

    #[test]
    fn what_is_found_and_usable_is_a_hit() {
        let cache = ByteCache::new(10_000);
        let later = noon() + TimeDelta::minutes(5);
        cache.put("a".to_owned(), 1, 10, later);
        assert_eq!(cache.get("b", noon()), None);
        assert_eq!(cache.get_if("a", noon(), |value| *value > 1), None);
        assert_eq!(cache.get_if("a", noon(), |value| *value == 1), Some(1));
        assert_eq!(cache.get("a", later), None);
        assert_eq!((cache.usage().hits, cache.usage().insertions), (1, 1));
    }
}
