//! Tells a database that cannot answer at the moment from a statement that is wrong.

use sea_orm::{DbErr, RuntimeErr};
use sqlx::error::DatabaseError;

/// Seconds after which a request may be sent again that the database could not answer.
pub const RETRY_AFTER: u64 = 5;

/// `SQLSTATE` codes and classes of a `PostgreSQL` server that cannot answer at the moment.
const TEMPORARY: &[&str] = &[
    "08",      // The connection failed.
    "25P03",   // The server ended a transaction that was idle.
    READ_ONLY, // The server is no longer the primary one.
    "40001",   // The transaction could not be serialized.
    "40P01",   // Two transactions waited for each other.
    "53",      // The server has no disk space, memory or connection left.
    "55P03",   // A lock was not free in time (`lock_timeout`).
    "57014",   // The statement took too long (`statement_timeout`), or an administrator ended it.
    "57P",     // The server shuts down, starts, has crashed, or ended the session.
    "58",      // The server's file system failed.
];

/// The code for a write to a server that takes none.
const READ_ONLY: &str = "25006";

/// Primary result codes of `SQLite` that concern the machine and not the statement.
const TEMPORARY_IN_FILES: &[i32] = &[
    5,  // BUSY: another connection kept the file locked for too long.
    6,  // LOCKED: another statement of the connection kept a table locked.
    7,  // NOMEM: there is no memory left.
    8,  // READONLY: the file, or its file system, takes no writes.
    9,  // INTERRUPT: the statement was interrupted.
    10, // IOERR: the file system failed.
    13, // FULL: the disk is full.
    14, // CANTOPEN: the file, or one beside it, cannot be opened.
    15, // PROTOCOL: the write-ahead log could not be locked.
];

/// Returns whether the database cannot answer at the moment: it is away, restarts, takes no writes, has no space or connection left,
/// its disk fails, or it did not answer in time. The same request may succeed later. If it happened during a commit, the transaction may have been committed.
#[must_use]
pub fn is_unavailable(error: &DbErr) -> bool {
    match error {
        DbErr::ConnectionAcquire(_) => true,
        DbErr::Conn(RuntimeErr::SqlxError(error))
        | DbErr::Exec(RuntimeErr::SqlxError(error))
        | DbErr::Query(RuntimeErr::SqlxError(error)) => is_temporary(error),
        _ => false,
    }
}

/// Returns whether another connection may succeed at once: this one was lost, or what it has opened takes no writes.
#[must_use]
pub(crate) fn is_of_connection(error: &DbErr) -> bool {
    let (DbErr::Conn(RuntimeErr::SqlxError(error))
    | DbErr::Exec(RuntimeErr::SqlxError(error))
    | DbErr::Query(RuntimeErr::SqlxError(error))) = error
    else {
        return false;
    };
    match error.as_ref() {
        sqlx::Error::Io(_) | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => {
            let code = error.code().unwrap_or_default();
            ["08", "25P03", READ_ONLY, "57P"].iter().any(|lost| code.len() == 5 && code.starts_with(lost))
                || primary_code(&code).is_some_and(|code| [8, 10, 14].contains(&code))
        }
        _ => false,
    }
}

fn is_temporary(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed | sqlx::Error::WorkerCrashed => true,
        sqlx::Error::Database(error) => code_is_temporary(error.as_ref()),
        _ => false,
    }
}

fn code_is_temporary(error: &dyn DatabaseError) -> bool {
    let Some(code) = error.code() else { return false };
    // `SQLSTATE` has five characters, a result code of `SQLite` at most four digits.
    if code.len() == 5 {
        return TEMPORARY.iter().any(|temporary| code.starts_with(temporary));
    }
    primary_code(&code).is_some_and(|code| TEMPORARY_IN_FILES.contains(&code))
}

/// The primary result code of `SQLite` in an extended one.
fn primary_code(code: &str) -> Option<i32> {
    code.parse::<i32>().ok().map(|code| code & 0xff)
}

#[cfg(test)]
mod tests {
    use std::{borrow::Cow, fmt, io, sync::Arc};

    use sea_orm::{ConnAcquireErr, ConnectionTrait as _};
    use sqlx::error::ErrorKind;

    use super::*;
    use crate::database::{begin, open};

    /// An error of a server, with its code.
    #[derive(Debug)]
    struct Coded(&'static str);

    impl fmt::Display for Coded {
        fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str(self.0)
        }
    }

    impl std::error::Error for Coded {}

    impl DatabaseError for Coded {
        fn message(&self) -> &str {
            self.0
        }

        fn code(&self) -> Option<Cow<'_, str>> {
            Some(self.0.into())
        }

        fn as_error(&self) -> &(dyn std::error::Error + Send + Sync + 'static) {
            self
        }

        fn as_error_mut(&mut self) -> &mut (dyn std::error::Error + Send + Sync + 'static) {
            self
        }

        fn into_error(self: Box<Self>) -> Box<dyn std::error::Error + Send + Sync + 'static> {
            self
        }

        fn kind(&self) -> ErrorKind {
            ErrorKind::Other
        }
    }

    fn during_query(error: impl Into<sqlx::Error>) -> DbErr {
        DbErr::Query(RuntimeErr::SqlxError(Arc::new(error.into())))
    }

    #[test]
    fn codes_of_a_server_that_is_away_are_told_from_those_of_a_wrong_statement() {
        for code in [
            "08000", "08006", "25006", "25P03", "40001", "40P01", "53100", "53200", "53300", "55P03", "57014", "57P01",
            "57P02", "57P03", "57P05", "58030", "5", "6", "7", "8", "9", "10", "13", "14", "15", "517", "778", "1034",
        ] {
            assert!(is_unavailable(&during_query(sqlx::Error::Database(Box::new(Coded(code))))), "{code}");
        }
        // A duplicate, a null, a syntax error, a missing table, an invalid transaction state, and a constraint of `SQLite`.
        for code in ["23505", "23502", "42601", "42P01", "25P02", "1", "19", "2067"] {
            assert!(!is_unavailable(&during_query(sqlx::Error::Database(Box::new(Coded(code))))), "{code}");
        }
    }

    #[test]
    fn a_lost_connection_and_a_pool_without_one_are_temporary() {
        let lost = io::Error::from(io::ErrorKind::ConnectionReset);
        assert!(is_unavailable(&during_query(lost)));
        assert!(is_unavailable(&DbErr::Conn(RuntimeErr::SqlxError(Arc::new(sqlx::Error::PoolClosed)))));
        assert!(is_unavailable(&DbErr::ConnectionAcquire(ConnAcquireErr::Timeout)));
        assert!(!is_unavailable(&during_query(sqlx::Error::RowNotFound)));
        assert!(!is_unavailable(&DbErr::RecordNotUpdated));
    }

    #[tokio::test]
    async fn a_server_that_takes_no_writes_or_ends_a_statement_is_unavailable() {
        let Some(fresh) = test_data::postgres::fresh().await else { return };
        let opened = open(&fresh.url, 1).await.unwrap();
        for (setting, statement) in [
            ("SET LOCAL transaction_read_only = on", "CREATE TABLE written (number INTEGER)"),
            ("SET LOCAL statement_timeout = 1", "SELECT pg_sleep(20)"),
        ] {
            let transaction = begin(&opened.writer).await.unwrap();
            transaction.execute_unprepared(setting).await.unwrap();
            let error = transaction.execute_unprepared(statement).await.unwrap_err();
            assert!(is_unavailable(&error), "{error}");
        }
        let wrong = opened.writer.execute_unprepared("SELECT no_column").await.unwrap_err();
        assert!(!is_unavailable(&wrong), "{wrong}");
    }
}
