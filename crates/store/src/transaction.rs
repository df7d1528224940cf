//! A transaction that commits only if each of its statements succeeded.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicUsize, Ordering},
};

use async_trait::async_trait;
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult, Statement};

/// A transaction. Dropping it without [`Transaction::commit`] rolls it back.
///
/// After an error the databases differ. `SQLite` may have rolled back by itself (a full disk, an I/O error, no memory), and then runs each
/// further statement in a transaction of its own. `PostgreSQL` refuses further statements, and answers `COMMIT` with success although it
/// rolls back. Here the first error is final: each further statement, and the commit, return it again.
#[derive(Debug)]
pub struct Transaction {
    inner: DatabaseTransaction,
    /// The first error of a statement.
    failure: Mutex<Option<DbErr>>,
    /// Statements that have begun and not ended. One that was abandoned stays counted.
    unfinished: AtomicUsize,
}

impl Transaction {
    pub(crate) fn new(inner: DatabaseTransaction) -> Self {
        Self { inner, failure: Mutex::default(), unfinished: AtomicUsize::default() }
    }

    /// Commits the transaction. If the connection is lost meanwhile, it may have been committed although this fails.
    ///
    /// # Errors
    /// A statement failed or was abandoned, and the transaction is rolled back; or the database cannot commit.
    pub async fn commit(self) -> Result<(), DbErr> {
        self.check()?;
        if self.unfinished.load(Ordering::SeqCst) > 0 {
            return Err(DbErr::Custom("a statement of the transaction was abandoned".to_owned()));
        }
        self.inner.commit().await
    }

    /// Rolls the transaction back.
    ///
    /// # Errors
    /// The database cannot roll back a transaction whose statements succeeded. It does so when the connection closes.
    pub async fn rollback(self) -> Result<(), DbErr> {
        let has_failed = self.check().is_err();
        let rolled_back = self.inner.rollback().await;
        // `SQLite` has nothing left to roll back if it did so by itself, and a lost connection takes its transaction with it.
        if has_failed { Ok(()) } else { rolled_back }
    }

    /// Returns the error of the first statement that failed.
    fn check(&self) -> Result<(), DbErr> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone().map_or(Ok(()), Err)
    }

    /// Runs a statement, unless one has failed.
    async fn run<T>(&self, statement: impl Future<Output = Result<T, DbErr>>) -> Result<T, DbErr> {
        self.check()?;
        self.unfinished.fetch_add(1, Ordering::SeqCst);
        let result = statement.await;
        self.unfinished.fetch_sub(1, Ordering::SeqCst);
        if let Err(error) = &result {
            self.failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| error.clone());
        }
        result
    }
}

#[async_trait]
impl ConnectionTrait for Transaction {
    fn get_database_backend(&self) -> DbBackend {
        self.inner.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.run(self.inner.execute_raw(statement)).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.run(self.inner.execute_unprepared(sql)).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.run(self.inner.query_one_raw(statement)).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.run(self.inner.query_all_raw(statement)).await
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::DatabaseConnection;
    use tempfile::TempDir;

    use super::*;
    use crate::{
        database::{OpenDatabase, begin, open},
        unavailable::is_unavailable,
        unit_of_work::UnitOfWork,
    };

    /// A table whose rows may not be negative.
    const TABLE: &str = "CREATE TABLE written (number INTEGER CHECK (number >= 0))";

    /// A `SQLite` file and, if the suite has a server, a `PostgreSQL` database. Each with a second opening, as of another process.
    async fn databases(folder: &TempDir) -> Vec<(OpenDatabase, DatabaseConnection)> {
        let mut urls = vec![format!("sqlite://{}/a.sqlite?mode=rwc", folder.path().display())];
        let fresh = test_data::postgres::fresh().await;
        urls.extend(fresh.iter().map(|fresh| fresh.url.clone()));
        // A later run drops the database.
        std::mem::forget(fresh);
        let mut opened = Vec::new();
        for url in urls {
            let own = open(&url, 2).await.unwrap();
            own.writer.execute_unprepared(TABLE).await.unwrap();
            opened.push((own, open(&url, 1).await.unwrap().reader));
        }
        opened
    }

    async fn insert(db: &impl ConnectionTrait, number: i64) -> Result<(), DbErr> {
        let insert = format!("INSERT INTO written VALUES ({number})");
        db.execute_raw(Statement::from_string(db.get_database_backend(), insert)).await.map(drop)
    }

    async fn rows(db: &DatabaseConnection) -> Vec<i64> {
        let ask = Statement::from_string(db.get_database_backend(), "SELECT number::bigint AS number FROM written");
        let ask = if ask.db_backend == DbBackend::Sqlite { ask.sql.replace("::bigint", "") } else { ask.sql };
        let rows = db.query_all_raw(Statement::from_string(db.get_database_backend(), ask)).await.unwrap();
        rows.iter().map(|row| row.try_get("", "number").unwrap()).collect()
    }

    #[tokio::test]
    async fn an_error_that_the_caller_ignores_is_not_committed() {
        let folder = TempDir::new().unwrap();
        for (own, other) in databases(&folder).await {
            let unit = UnitOfWork::new(&own);
            let transaction = unit.transaction().await.unwrap();
            insert(&**transaction, 1).await.unwrap();
            let first = insert(&**transaction, -1).await.unwrap_err();
            let next = insert(&**transaction, 2).await.unwrap_err();
            assert_eq!(next.to_string(), first.to_string());
            assert_eq!(unit.commit().await.unwrap_err().to_string(), first.to_string());
            assert_eq!(rows(&other).await, Vec::<i64>::new());

            let transaction = begin(&own.writer).await.unwrap();
            insert(&transaction, 3).await.unwrap();
            transaction.commit().await.unwrap();
            assert_eq!(rows(&other).await, [3]);
        }
    }

    #[tokio::test]
    async fn a_statement_that_was_abandoned_is_not_committed() {
        let folder = TempDir::new().unwrap();
        for (own, other) in databases(&folder).await {
            let transaction = begin(&own.writer).await.unwrap();
            insert(&transaction, 1).await.unwrap();
            let slow = "INSERT INTO written WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n";
            tokio::select! {
                biased;
                _ = transaction.execute_unprepared(slow) => panic!("it ended at once"),
                () = std::future::ready(()) => {}
            }
            transaction.commit().await.unwrap_err();
            insert(&own.writer, 2).await.unwrap();
            assert_eq!(rows(&other).await, [2]);
        }
    }

    /// `SQLite` rolls back by itself, as it does when the disk is full: inside a transaction, and at a statement outside of one.
    #[tokio::test]
    async fn writes_are_kept_after_the_engine_has_rolled_back() {
        let folder = TempDir::new().unwrap();
        let (own, other) = databases(&folder).await.remove(0);
        let trigger = "CREATE TRIGGER full BEFORE INSERT ON written WHEN new.number >= 100 BEGIN SELECT RAISE(ROLLBACK, 'full'); END";
        own.writer.execute_unprepared(trigger).await.unwrap();
        for number in 0..3 {
            let transaction = begin(&own.writer).await.unwrap();
            insert(&transaction, 10 + number).await.unwrap();
            insert(&transaction, 100).await.unwrap_err();
            insert(&transaction, 20 + number).await.unwrap_err();
            if number == 0 {
                drop(transaction);
            } else {
                transaction.rollback().await.unwrap();
            }
            insert(&own.writer, 100).await.unwrap_err();
            let refused = begin(&own.writer).await.unwrap();
            insert(&refused, 30 + number).await.unwrap();
            refused.rollback().await.unwrap();
            let transaction = begin(&own.writer).await.unwrap();
            insert(&transaction, number).await.unwrap();
            transaction.commit().await.unwrap();
            insert(&own.writer, 50 + number).await.unwrap();
        }
        assert_eq!(rows(&other).await, [0, 50, 1, 51, 2, 52]);
    }

    #[tokio::test]
    async fn a_full_file_is_unavailable_until_there_is_room() {
        let folder = TempDir::new().unwrap();
        let (own, other) = databases(&folder).await.remove(0);
        own.writer.execute_unprepared("CREATE TABLE large (text TEXT); PRAGMA max_page_count = 20").await.unwrap();
        let grow = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300) \
                    INSERT INTO large SELECT hex(zeroblob(200)) FROM n";
        let transaction = begin(&own.writer).await.unwrap();
        insert(&transaction, 1).await.unwrap();
        let grow = Statement::from_string(DbBackend::Sqlite, grow);
        let full = transaction.execute_raw(grow.clone()).await.unwrap_err();
        assert!(is_unavailable(&full), "{full}");
        let full = transaction.commit().await.unwrap_err();
        assert!(is_unavailable(&full), "{full}");
        assert_eq!(rows(&own.reader).await, Vec::<i64>::new());

        // The limit was one of the connection.
        let transaction = begin(&own.writer).await.unwrap();
        insert(&transaction, 2).await.unwrap();
        transaction.execute_raw(grow).await.unwrap();
        transaction.commit().await.unwrap();
        assert_eq!(rows(&other).await, [2]);
    }

    /// The session ends inside a transaction: by an administrator, and because it was idle for too long.
    #[tokio::test]
    async fn a_session_that_the_server_ends_commits_nothing() {
        let folder = TempDir::new().unwrap();
        let mut databases = databases(&folder).await;
        let Some((own, other)) = (databases.len() > 1).then(|| databases.remove(1)) else { return };
        for (number, end) in (0..)
            .zip(["SELECT pg_terminate_backend(pg_backend_pid())", "SET LOCAL idle_in_transaction_session_timeout = 1"])
        {
            let transaction = begin(&own.writer).await.unwrap();
            insert(&transaction, 100).await.unwrap();
            let pid = "SELECT pg_backend_pid() AS pid";
            let pid =
                transaction.query_one_raw(Statement::from_string(DbBackend::Postgres, pid)).await.unwrap().unwrap();
            let pid: i32 = pid.try_get("", "pid").unwrap();
            let _ = transaction.execute_unprepared(end).await;
            let running = format!("SELECT 1 FROM pg_stat_activity WHERE pid = {pid}");
            let running = || other.query_one_raw(Statement::from_string(DbBackend::Postgres, running.clone()));
            while running().await.unwrap().is_some() {
                tokio::task::yield_now().await;
            }
            let ended = transaction.commit().await.unwrap_err();
            assert!(is_unavailable(&ended), "{ended}");
            // A failure that nobody has seen yet costs one statement.
            let _ = insert(&own.writer, -1).await;
            let transaction = begin(&own.writer).await.unwrap();
            insert(&transaction, number).await.unwrap();
            transaction.commit().await.unwrap();
        }
        assert_eq!(rows(&other).await, [0, 1]);
    }
}
