//! Makes deleted rows unreadable in a `SQLite` file.
//!
//! `SQLite` writes zeros over deleted rows (`secure_delete`). Two copies of them may be left: in the write-ahead log until it is emptied, and
//! where rows once were that `SQLite` has moved to another page since, until the file is rewritten. `user_version` in the file's header says
//! whether it is to be rewritten, and outlives the process. `PostgreSQL` reuses the space of deleted rows by itself.

use std::{sync::Arc, time::Duration};

use crate::transaction::Transaction;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, DbBackend, DbErr, RuntimeErr};
use sqlx::sqlite::SqliteConnection;

use super::database::TIMEOUT;

/// The value of `user_version` in a file that is to be rewritten.
const MARKED: i32 = 1;

/// The time to wait for readers of the log. Writers wait as long.
const SHORT_TIMEOUT: Duration = Duration::from_secs(1);

/// Has the file rewritten by the next [`rewrite`] after this transaction.
///
/// # Errors
/// The database cannot answer.
pub async fn mark(tx: &Transaction) -> Result<(), DbErr> {
    if tx.get_database_backend() == DbBackend::Sqlite {
        tx.execute_unprepared(&format!("PRAGMA user_version = {MARKED}")).await?;
    }
    Ok(())
}

/// Moves the write-ahead log into the file and empties it. Returns false if somebody went on reading from it.
///
/// # Errors
/// The database cannot answer.
pub async fn empty_log(db: &DatabaseConnection) -> Result<bool, DbErr> {
    if db.get_database_backend() != DbBackend::Sqlite {
        return Ok(true);
    }
    on_writer(db, truncate).await
}

/// Rewrites the file if it is marked. Returns whether it was. Readers go on meanwhile, and writers wait.
///
/// # Errors
/// The database cannot answer, or lacks the space for a second file.
pub async fn rewrite(db: &DatabaseConnection) -> Result<bool, DbErr> {
    if db.get_database_backend() != DbBackend::Sqlite {
        return Ok(false);
    }
    on_writer(db, rewrite_if_marked).await
}

/// Runs `work` on the only connection that writes, and closes that connection if `work` fails.
async fn on_writer<T>(
    db: &DatabaseConnection,
    work: impl AsyncFnOnce(&mut SqliteConnection) -> Result<T, sqlx::Error>,
) -> Result<T, DbErr> {
    let failed = |error| DbErr::Exec(RuntimeErr::SqlxError(Arc::new(error)));
    let mut connection = db.get_sqlite_connection_pool().acquire().await.map_err(failed)?;
    let result = work(&mut connection).await;
    if result.is_err() {
        connection.close_on_drop();
    }
    result.map_err(failed)
}

async fn rewrite_if_marked(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let version: i32 = sqlx::query_scalar("PRAGMA user_version").fetch_one(&mut *connection).await?;
    if version != MARKED {
        return Ok(false);
    }
    sqlx::raw_sql("VACUUM; PRAGMA user_version = 0").execute(&mut *connection).await?;
    truncate(connection).await?;
    Ok(true)
}

async fn truncate(connection: &mut SqliteConnection) -> Result<bool, sqlx::Error> {
    let patience = |time: Duration| format!("PRAGMA busy_timeout = {}", time.as_millis());
    sqlx::raw_sql(sqlx::AssertSqlSafe(patience(SHORT_TIMEOUT))).execute(&mut *connection).await?;
    let emptied = sqlx::query_as("PRAGMA wal_checkpoint(TRUNCATE)").fetch_one(&mut *connection).await;
    sqlx::raw_sql(sqlx::AssertSqlSafe(patience(TIMEOUT))).execute(&mut *connection).await?;
    let (is_busy, _, _): (i32, i32, i32) = emptied?;
    Ok(is_busy == 0)
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path};

    use sea_orm::Database;

    use super::*;
    use crate::database::{begin, open};

    const PLANTED: &str = "planted in a row";

    /// The files whose bytes hold the planted text.
    fn readable_in(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let holds = |path: &Path| fs::read(path).unwrap().windows(PLANTED.len()).any(|part| part == PLANTED.as_bytes());
        files.filter(|path| holds(path)).map(|path| path.file_name().unwrap().display().to_string()).collect()
    }

    /// Plants rows among others.
    async fn plant(db: &DatabaseConnection) {
        db.execute_unprepared("CREATE TABLE IF NOT EXISTS note (id INTEGER PRIMARY KEY, text TEXT)").await.unwrap();
        let rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)";
        let text = format!("iif(i % 7 = 0, '{PLANTED}', 'kept') || printf('%.*c', i % 300, 'x')");
        db.execute_unprepared(&format!("{rows} INSERT INTO note (text) SELECT {text} FROM n")).await.unwrap();
    }

    async fn rows(db: &DatabaseConnection) -> i64 {
        let pool = db.get_sqlite_connection_pool();
        sqlx::query_scalar("SELECT count(*) FROM note").fetch_one(pool).await.unwrap()
    }

    const DELETE: &str = "DELETE FROM note WHERE text LIKE 'planted%'";

    #[tokio::test]
    async fn what_is_deleted_is_readable_in_no_file_once_the_log_is_empty() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/file.db?mode=rwc", folder.path().display());
        let db = open(&url, 1).await.unwrap().writer;
        plant(&db).await;
        assert!(empty_log(&db).await.unwrap());
        assert_eq!(readable_in(folder.path()), ["file.db"]);
        plant(&db).await;
        db.execute_unprepared(DELETE).await.unwrap();
        assert!(!readable_in(folder.path()).is_empty(), "the log holds it");
        assert!(empty_log(&db).await.unwrap());
        assert_eq!(readable_in(folder.path()), Vec::<String>::new());
    }

    #[tokio::test]
    async fn what_is_left_in_the_file_goes_when_it_is_rewritten() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/file.db?mode=rwc", folder.path().display());
        let before = Database::connect(&url).await.unwrap();
        plant(&before).await;
        before.execute_unprepared(DELETE).await.unwrap();
        before.close().await.unwrap();

        let db = open(&url, 1).await.unwrap().writer;
        let kept = rows(&db).await;
        assert_eq!(readable_in(folder.path()), ["file.db"]);
        assert!(!rewrite(&db).await.unwrap(), "nothing has marked it");
        let tx = begin(&db).await.unwrap();
        mark(&tx).await.unwrap();
        tx.commit().await.unwrap();
        assert!(rewrite(&db).await.unwrap());
        assert_eq!((readable_in(folder.path()), rows(&db).await), (Vec::new(), kept));
        assert!(!rewrite(&db).await.unwrap(), "it was rewritten");
    }

    #[tokio::test]
    async fn a_log_that_is_being_read_is_emptied_later() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/file.db?mode=rwc", folder.path().display());
        let opened = open(&url, 1).await.unwrap();
        plant(&opened.writer).await;
        let reads = sea_orm::TransactionTrait::begin(&opened.reader).await.unwrap();
        reads.query_one_raw(sea_orm::Statement::from_string(DbBackend::Sqlite, "SELECT * FROM note")).await.unwrap();
        opened.writer.execute_unprepared(DELETE).await.unwrap();
        assert!(!empty_log(&opened.writer).await.unwrap());
        reads.rollback().await.unwrap();
        assert!(empty_log(&opened.writer).await.unwrap());
        assert_eq!(readable_in(folder.path()), Vec::<String>::new());
    }
}
