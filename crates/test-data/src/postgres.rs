//! Separate databases for tests, on the `PostgreSQL` server that `SIGHTLINE_TEST_POSTGRES_URL` names.
//!
//! Each is a copy of one that this process migrated once. Databases left over from a run are dropped by the first run an
//! hour later.

use std::{
    env,
    net::SocketAddr,
    process,
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use migration::{Migrator, MigratorTrait as _};
use sea_orm::{ConnectOptions, ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use tokio::sync::OnceCell;
use url::Url;

/// The URL of the server and of a database from which others are created and dropped, such as
/// `postgres://postgres@127.0.0.1/postgres`.
const VARIABLE: &str = "SIGHTLINE_TEST_POSTGRES_URL";

/// The address of a pooler before that server, such as `127.0.0.1:6432`, if there is one. Tests use their databases through it. They are
/// made and dropped without it, because a database is copied only while nothing is connected to it, and a pooler stays connected.
const POOLER: &str = "SIGHTLINE_TEST_POSTGRES_POOLER";

/// The prefix of the names of all these databases. The start of the run in Unix seconds, its process id and a number follow.
const PREFIX: &str = "sightline_test_";

/// Age in seconds above which no run needs a database.
const OLD: i64 = 60 * 60;

/// A database with the full schema and no rows. Dropping this value drops it.
pub struct Fresh {
    server: Url,
    name: String,
    /// The URL.
    pub url: String,
}

/// Creates a separate database. Returns `None` if the suite runs on `SQLite`.
pub async fn fresh() -> Option<Fresh> {
    static RUN: OnceCell<String> = OnceCell::const_new();
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let server = server()?;
    let template = RUN.get_or_init(|| template(&server)).await;
    let name = format!("{template}_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let connection = connect(&server).await;
    connection.execute_unprepared(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await.unwrap();
    connection.close().await.unwrap();
    let url = pooled(database(&server, &name)).into();
    Some(Fresh { server, name, url })
}

impl Drop for Fresh {
    fn drop(&mut self) {
        let (server, drop) = (self.server.clone(), format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
        // The test's own runtime may be shutting down.
        let dropped = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { connect(&server).await.execute_unprepared(&drop).await.unwrap() });
        });
        let _ = dropped.join();
    }
}

#[expect(clippy::disallowed_methods, reason = "no setting of the service: it says where the suite runs")]
fn said(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|text| !text.is_empty())
}

fn server() -> Option<Url> {
    Some(said(VARIABLE)?.parse().unwrap_or_else(|error| panic!("{VARIABLE}: {error}")))
}

/// The same database behind the pooler, if there is one.
fn pooled(mut url: Url) -> Url {
    if let Some(text) = said(POOLER) {
        let address: SocketAddr = text.parse().unwrap_or_else(|error| panic!("{POOLER}: {error}"));
        url.set_ip_host(address.ip()).unwrap();
        url.set_port(Some(address.port())).unwrap();
    }
    url
}

fn database(server: &Url, name: &str) -> Url {
    let mut url = server.clone();
    url.set_path(name);
    url
}

async fn connect(url: &Url) -> DatabaseConnection {
    let mut options = ConnectOptions::new(url.as_str());
    options.max_connections(1).sqlx_logging(false);
    Database::connect(options).await.unwrap_or_else(|error| panic!("{VARIABLE}: {error}"))
}

/// Creates the database that the others are copied from.
async fn template(server: &Url) -> String {
    let connection = connect(server).await;
    let ask = |sql: &str| Statement::from_string(DbBackend::Postgres, sql);
    let clock = "SELECT EXTRACT(EPOCH FROM now())::bigint AS now";
    let now: i64 = connection.query_one_raw(ask(clock)).await.unwrap().unwrap().try_get("", "now").unwrap();
    for row in connection.query_all_raw(ask("SELECT datname FROM pg_database")).await.unwrap() {
        let found: String = row.try_get("", "datname").unwrap();
        let began = found.strip_prefix(PREFIX).and_then(|rest| rest.split('_').next()?.parse::<i64>().ok());
        if began.is_some_and(|began| began + OLD < now) {
            connection.execute_unprepared(&format!("DROP DATABASE IF EXISTS {found} WITH (FORCE)")).await.unwrap();
        }
    }
    let name = format!("{PREFIX}{now}_{}", process::id());
    // Text is sorted by language rules, as on many servers, and unlike on `SQLite`.
    let unlike = "TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu ICU_LOCALE 'en-US'";
    connection.execute_unprepared(&format!("CREATE DATABASE {name} {unlike}")).await.unwrap();
    connection.close().await.unwrap();
    let made = connect(&database(server, &name)).await;
    Migrator::up(&made, None).await.unwrap();
    // A database can be copied only while it has no connections.
    made.close().await.unwrap();
    name
}
