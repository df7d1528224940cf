//! Caches generated days up to a number of bytes, and daily totals up to a number of entries.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::NaiveDate;

use super::cell::DayCells;

/// The number of the stream and the day.
pub(crate) type DayKey = (u32, NaiveDate);

/// Property-level sums of one day: clicks, impressions, position sum.
pub(crate) type DayTotals = [u64; 3];

const MAX_BYTES: usize = 64 << 20;
const MAX_TOTALS: usize = 250_000;

/// Both caches. Losing an entry only costs time.
#[derive(Debug, Default)]
pub(crate) struct Memo(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    days: HashMap<DayKey, (Arc<DayCells>, u64)>,
    totals: HashMap<DayKey, DayTotals>,
    bytes: usize,
    uses: u64,
}

impl Memo {
    /// Returns the cells of a day, from the cache or from `draw`. `draw` runs without the lock, so two callers may both run
    /// it.
    pub fn day(&self, key: DayKey, draw: impl FnOnce() -> DayCells) -> Arc<DayCells> {
        if let Some(found) = self.lock().find(key) {
            return found;
        }
        let drawn = Arc::new(draw());
        self.lock().keep(key, &drawn);
        drawn
    }

    /// Returns the totals of a day, from the cache or from `add`.
    pub fn totals(&self, key: DayKey, add: impl FnOnce() -> DayTotals) -> DayTotals {
        if let Some(found) = self.lock().totals.get(&key) {
            return *found;
        }
        let totals = add();
        let mut kept = self.lock();
        if kept.totals.len() >= MAX_TOTALS {
            kept.totals.clear();
        }
        kept.totals.insert(key, totals);
        totals
    }

    /// Bytes of cached days.
    pub fn bytes(&self) -> usize {
        self.lock().bytes
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Kept {
    fn find(&mut self, key: DayKey) -> Option<Arc<DayCells>> {
        self.uses += 1;
        let (day, used) = self.days.get_mut(&key)?;
        *used = self.uses;
        Some(Arc::clone(day))
    }

    fn keep(&mut self, key: DayKey, day: &Arc<DayCells>) {
        self.bytes += day.bytes();
        if let Some((replaced, _)) = self.days.insert(key, (Arc::clone(day), self.uses)) {
            self.bytes -= replaced.bytes();
        }
        if self.bytes > MAX_BYTES {
            self.evict();
        }
    }

    /// Drops the least recently used quarter, so that the scan is rarely needed.
    fn evict(&mut self) {
        let mut by_use: Vec<(u64, DayKey)> = self.days.iter().map(|(key, (_, used))| (*used, *key)).collect();
        by_use.sort_unstable();
        for (_, key) in by_use {
            if self.bytes <= MAX_BYTES / 4 * 3 {
                return;
            }
            if let Some((dropped, _)) = self.days.remove(&key) {
                self.bytes -= dropped.bytes();
            }
        }
    }
}
