//! Values read from the database that are still valid.

use std::{
    hash::Hash,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use cached::{Cached as _, stores::LruCache};
use sea_orm::DbErr;
use store::commits::{Commits, Moment};

/// The maximum number of entries, of about 2 kB each. The least recently used is evicted first.
const MAX_ENTRIES: usize = 4_096;

/// Values by key, each valid until the next commit. Nothing is remembered if commits cannot be observed.
pub(super) struct Remembered<K, V> {
    commits: Option<Commits>,
    entries: Mutex<LruCache<K, (Moment, V)>>,
    hits: AtomicU64,
    reads: AtomicU64,
}

/// The use of the caches.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RememberedUse {
    /// The number of values in memory, valid or not.
    pub entries: usize,
    /// The number of reads of a valid value in memory.
    pub hits: u64,
    /// The number of values read anew.
    pub reads: u64,
}

impl<K: Hash + Eq + Clone, V: Clone> Remembered<K, V> {
    /// Creates an empty cache.
    pub fn new(commits: Option<Commits>) -> Self {
        Self {
            commits,
            entries: Mutex::new(LruCache::new(MAX_ENTRIES)),
            hits: AtomicU64::default(),
            reads: AtomicU64::default(),
        }
    }

    /// The current use.
    pub fn usage(&self) -> RememberedUse {
        RememberedUse {
            entries: self.entries().cache_size(),
            hits: self.hits.load(Ordering::Relaxed),
            reads: self.reads.load(Ordering::Relaxed),
        }
    }

    /// Returns the value of `key`, remembered or read with `read`. The absence of a value is not remembered.
    pub async fn get(&self, key: &K, read: impl Future<Output = Result<Option<V>, DbErr>>) -> Result<Option<V>, DbErr> {
        let Some(commits) = &self.commits else {
            self.reads.fetch_add(1, Ordering::Relaxed);
            return read.await;
        };
        if let Some((moment, value)) = self.entries().cache_get(key)
            && commits.is_now(*moment)
        {
            self.hits.fetch_add(1, Ordering::Relaxed);
            return Ok(Some(value.clone()));
        }
        self.reads.fetch_add(1, Ordering::Relaxed);
        // A commit during the reading ends this moment before its changes become visible.
        let moment = commits.now();
        let found = read.await?;
        if let (Some(moment), Some(value)) = (moment, &found)
            && commits.is_now(moment)
        {
            self.entries().cache_set(key.clone(), (moment, value.clone()));
        }
        Ok(found)
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, LruCache<K, (Moment, V)>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, collections::BTreeSet};

    use regex::Regex;
    use sea_orm::ConnectionTrait as _;
    use store::{commits::UNRELATED, database::open};

    use super::*;
    use crate::services::privacy::tables::TABLES;

    #[test]
    fn a_commit_to_a_table_that_admission_reads_ends_what_is_remembered() {
        let statements = include_str!("../services/access/facts.rs");
        let named = Regex::new(r#"(?:FROM |JOIN |tables: ")(\w+)"#).unwrap();
        let read: BTreeSet<&str> =
            named.captures_iter(statements).map(|found| found.get(1).unwrap().as_str()).collect();
        let missed: Vec<_> = UNRELATED.iter().filter(|table| read.contains(*table)).collect();
        assert!(missed.is_empty(), "commits to {missed:?} go unnoticed");
        // Sessions end with the issuer's session, by its foreign key.
        let known: BTreeSet<&str> = UNRELATED.iter().chain(&read).copied().chain(["issuer_session"]).collect();
        let all: BTreeSet<&str> = TABLES.iter().map(|table| table.name).collect();
        assert_eq!(known, all, "a table that admission reads is in a statement, any other one in UNRELATED");
    }

    #[tokio::test]
    async fn a_value_is_read_once_until_a_commit() {
        let store = open("sqlite::memory:", 1).await.unwrap();
        let reads = Cell::new(0);
        let remembered = Remembered::new(store.commits.clone());
        let get = async || {
            let read = async {
                reads.set(reads.get() + 1);
                Ok(Some(reads.get()))
            };
            remembered.get(&"a", read).await.unwrap()
        };
        assert_eq!([get().await, get().await], [Some(1), Some(1)]);
        assert_eq!(remembered.usage(), RememberedUse { entries: 1, hits: 1, reads: 1 });
        store.writer.execute_unprepared("CREATE TABLE users (n INTEGER)").await.unwrap();
        while store.commits.as_ref().unwrap().now().is_none() {
            tokio::task::yield_now().await;
        }
        assert_eq!([get().await, get().await], [Some(2), Some(2)]);
    }

    #[tokio::test]
    async fn what_a_commit_overtakes_while_it_is_read_is_not_remembered() {
        let store = open("sqlite::memory:", 1).await.unwrap();
        let remembered = Remembered::new(store.commits.clone());
        let overtaken = async {
            store.writer.execute_unprepared("CREATE TABLE users (n INTEGER)").await?;
            Ok(Some("before"))
        };
        assert_eq!(remembered.get(&"a", overtaken).await.unwrap(), Some("before"));
        assert_eq!(remembered.get(&"a", async { Ok(Some("after")) }).await.unwrap(), Some("after"));
    }

    #[tokio::test]
    async fn nothing_is_remembered_where_commits_are_not_seen() {
        let remembered = Remembered::new(None);
        for value in [1, 2] {
            assert_eq!(remembered.get(&"a", async move { Ok(Some(value)) }).await.unwrap(), Some(value));
        }
    }

    #[tokio::test]
    async fn that_there_is_nothing_is_not_remembered() {
        let store = open("sqlite::memory:", 1).await.unwrap();
        let remembered = Remembered::new(store.commits.clone());
        for found in [None, Some(1), Some(1)] {
            assert_eq!(remembered.get(&"a", async move { Ok(found) }).await.unwrap(), found);
        }
    }
}
