//! Connections to `PostgreSQL`: time limits of statements, tests of connections, and how many the server allows.

use std::{net::IpAddr, time::Duration};

use chrono::{DateTime, TimeDelta, Utc};
use common::clock::{self, Clock};
use sea_orm::{ConnectOptions, ConnectionTrait, DatabaseConnection, DbBackend, DbErr, Statement};
use sqlx::{Connection as _, PgConnection, pool::PoolConnectionMetadata, postgres::PgConnectOptions};

use crate::failures::Failures;

/// Time limits of a statement, and of its wait for a lock. They are options of the connection's start and no statements, which a pooler
/// in transaction mode would run on somebody else's connection. An option in the URL takes precedence.
const LIMITS: [(&str, &str); 2] = [("statement_timeout", "10s"), ("lock_timeout", "5s")];

/// Lifts the limits until the end of a transaction, which may take as long as it needs.
const WITHOUT_LIMITS: &str = "SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0";

/// A connection is tested if it was idle for this long, or if a statement failed within this time.
const TRUSTED_FOR: Duration = Duration::from_secs(30);

/// Sets the limits of statements, and the test of connections.
pub(super) fn configure(options: &mut ConnectOptions, failures: &Failures) {
    let failures = failures.clone();
    options.test_before_acquire(false).map_sqlx_postgres_opts(limited).map_sqlx_postgres_before_acquire(
        move |connection, metadata| {
            let has_failed = failures.age().is_some_and(|age| age < TRUSTED_FOR);
            Box::pin(is_usable(connection, metadata, has_failed))
        },
    );
}

/// Returns whether a connection from the pool can be used. One that is lost is replaced, and so is one inside a transaction, or to a
/// server that takes no writes: after a failover the same address leads to another server.
async fn is_usable(
    connection: &mut PgConnection,
    metadata: PoolConnectionMetadata,
    has_failed: bool,
) -> Result<bool, sqlx::Error> {
    if connection.is_in_transaction() {
        return Ok(false);
    }
    if metadata.idle_for < TRUSTED_FOR && !has_failed {
        return Ok(true);
    }
    sqlx::query_scalar("SELECT current_setting('transaction_read_only') = 'off'").fetch_one(connection).await
}

/// Returns the options with the limits of statements.
pub(super) fn limited(options: PgConnectOptions) -> PgConnectOptions {
    let set = options.get_options().unwrap_or_default().to_owned();
    options.options(LIMITS.into_iter().filter(|(name, _)| !set.contains(name)))
}

/// Lifts the time limits of statements for the rest of the transaction.
pub(super) async fn lift_limits(transaction: &impl ConnectionTrait) -> Result<(), DbErr> {
    transaction.execute_unprepared(WITHOUT_LIMITS).await.map(drop)
}

/// Returns whether `url` names a `PostgreSQL` server that other machines may use, too: one that is not reached by a loopback address or a
/// socket.
#[must_use]
pub fn is_elsewhere(url: &str) -> bool {
    if !url.starts_with("postgres") {
        return false;
    }
    let Ok(options) = url.parse::<PgConnectOptions>() else { return false };
    let host = options.get_host().trim_matches(['[', ']']);
    let is_here = host == "localhost" || host.starts_with('/') || host.parse().is_ok_and(|ip: IpAddr| ip.is_loopback());
    options.get_socket().is_none() && !is_here
}

/// Returns how far the clock of the server is ahead of `clock`. `None` on `SQLite`, which has none of its own.
///
/// # Errors
/// The database does not answer.
pub async fn clock_offset(db: &DatabaseConnection, clock: &Clock) -> Result<Option<TimeDelta>, DbErr> {
    if db.get_database_backend() != DbBackend::Postgres {
        return Ok(None);
    }
    let ask = async {
        let row =
            db.query_one_raw(Statement::from_string(DbBackend::Postgres, "SELECT clock_timestamp() AS now")).await?;
        let now: Option<DateTime<Utc>> = row.map(|row| row.try_get("", "now")).transpose()?;
        now.ok_or_else(|| DbErr::RecordNotFound("the time of the server".to_owned()))
    };
    clock::offset(clock, ask).await.map(Some)
}

/// Returns the connections that the server allows in all (`max_connections`). `None` on `SQLite`.
///
/// # Errors
/// The database does not answer.
pub async fn max_connections(db: &DatabaseConnection) -> Result<Option<u32>, DbErr> {
    if db.get_database_backend() != DbBackend::Postgres {
        return Ok(None);
    }
    let ask = "SELECT current_setting('max_connections')::integer AS most";
    let row = db.query_one_raw(Statement::from_string(DbBackend::Postgres, ask)).await?;
    let most: Option<i32> = row.map(|row| row.try_get("", "most")).transpose()?;
    Ok(most.and_then(|most| u32::try_from(most).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        database::{begin, open},
        unavailable::is_unavailable,
    };

    async fn value(db: &impl ConnectionTrait, expression: &str) -> String {
        let ask = Statement::from_string(DbBackend::Postgres, format!("SELECT {expression} AS value"));
        db.query_one_raw(ask).await.unwrap().unwrap().try_get("", "value").unwrap()
    }

    async fn run(db: &DatabaseConnection, statement: &str) -> Result<(), DbErr> {
        db.execute_raw(Statement::from_string(DbBackend::Postgres, statement)).await.map(drop)
    }

    #[tokio::test]
    async fn a_statement_and_its_wait_for_a_lock_have_limits_unless_the_url_says_otherwise() {
        let Some(fresh) = test_data::postgres::fresh().await else { return };
        for (url, statement, lock) in [
            (fresh.url.clone(), "10s", "5s"),
            (format!("{}?options=-c%20statement_timeout%3D3s", fresh.url), "3s", "5s"),
            (format!("{}?options[lock_timeout]=0", fresh.url), "10s", "0"),
        ] {
            let db = open(&url, 1).await.unwrap().writer;
            assert_eq!(value(&db, "current_setting('statement_timeout')").await, statement, "{url}");
            assert_eq!(value(&db, "current_setting('lock_timeout')").await, lock, "{url}");
        }
    }

    #[tokio::test]
    async fn a_wait_for_a_lock_ends_and_the_database_counts_as_unavailable() {
        let Some(fresh) = test_data::postgres::fresh().await else { return };
        let db = open(&format!("{}?options[lock_timeout]=1ms", fresh.url), 2).await.unwrap().writer;
        let (one, other) = (begin(&db).await.unwrap(), begin(&db).await.unwrap());
        let lock = "LOCK TABLE users IN ACCESS EXCLUSIVE MODE";
        one.execute_unprepared(lock).await.unwrap();
        let refused = other.execute_unprepared(lock).await.unwrap_err();
        assert!(is_unavailable(&refused), "{refused}");
        lift_limits(&one).await.unwrap();
        assert_eq!(value(&one, "current_setting('lock_timeout')").await, "0");
        one.commit().await.unwrap();
        assert_eq!(value(&db, "current_setting('lock_timeout')").await, "1ms");
    }

    #[tokio::test]
    async fn a_connection_that_takes_no_writes_is_replaced_after_a_failure() {
        let Some(fresh) = test_data::postgres::fresh().await else { return };
        let db = open(&fresh.url, 1).await.unwrap().writer;
        let process = "pg_backend_pid()::text";
        let first = value(&db, process).await;
        // As on a server that has become a standby, and behind a name that leads to the new primary from now on.
        db.execute_unprepared("SET default_transaction_read_only = on").await.unwrap();
        assert_eq!(value(&db, process).await, first, "nothing has failed yet");
        let refused = run(&db, "CREATE TABLE written (number INTEGER)").await.unwrap_err();
        assert!(is_unavailable(&refused), "{refused}");
        assert_ne!(value(&db, process).await, first);
        db.execute_unprepared("CREATE TABLE written (number INTEGER)").await.unwrap();
    }

    #[tokio::test]
    async fn connections_that_the_server_has_ended_cost_one_statement() {
        let Some(fresh) = test_data::postgres::fresh().await else { return };
        let db = open(&fresh.url, 3).await.unwrap().writer;
        let held = [begin(&db).await.unwrap(), begin(&db).await.unwrap(), begin(&db).await.unwrap()];
        for transaction in held {
            transaction.commit().await.unwrap();
        }
        let other = open(&fresh.url, 1).await.unwrap().writer;
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()";
        other.execute_unprepared(end).await.unwrap();
        let mut lost = 0;
        for _ in 0..6 {
            match run(&db, "SELECT 1").await {
                Ok(()) => {}
                Err(error) if is_unavailable(&error) => lost += 1,
                Err(error) => panic!("{error}"),
            }
        }
        assert_eq!(lost, 1);
    }

    #[test]
    fn a_server_is_elsewhere_unless_its_address_is_loopback_or_a_socket() {
        for (url, elsewhere) in [
            ("postgres://a:b@db.example/name", true),
            ("postgresql://a@10.0.0.5:5432/name", true),
            ("postgres://a@[2001:db8::1]/name", true),
            ("postgres://a@localhost/name", false),
            ("postgres://a@127.0.0.1/name", false),
            ("postgres://a@[::1]:5432/name", false),
            ("postgres://a@%2Fvar%2Frun%2Fpostgresql/name", false),
            ("postgres://a@localhost/name?host=/var/run/postgresql", false),
            ("postgres://a@localhost/name?host=db.example", true),
            ("sqlite://data/sightline.db", false),
        ] {
            assert_eq!(is_elsewhere(url), elsewhere, "{url}");
        }
    }

    #[tokio::test]
    async fn the_server_tells_how_many_connections_it_allows() {
        let file = open("sqlite::memory:", 1).await.unwrap().reader;
        assert_eq!(max_connections(&file).await.unwrap(), None);
        let Some(fresh) = test_data::postgres::fresh().await else { return };
        let db = open(&fresh.url, 1).await.unwrap().reader;
        let said = value(&db, "current_setting('max_connections')").await;
        assert_eq!(max_connections(&db).await.unwrap(), said.parse().ok());
    }
}
