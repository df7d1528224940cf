//! Separate databases for tests, on the `PostgreSQL` server that `SIGHTLINE_TEST_POSTGRES_URL` names.
//!
//! Each is a copy of one that this process made once. Databases left over from a run are dropped by the first run an hour
//! later.

use std::{
    env, mem,
    net::SocketAddr,
    process,
    sync::{
        LazyLock,
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
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

/// A database of one test. Dropping this value drops it.
pub struct Fresh {
    server: Url,
    name: String,
    /// The database to copy, which has the full schema and no rows.
    empty: &'static str,
    /// The URL.
    pub url: String,
}

/// A database that others are copied from. Nothing is connected to it.
pub struct Template(String);

/// Creates a separate database with the full schema and no rows. Returns `None` if the suite runs on `SQLite`.
pub async fn fresh() -> Option<Fresh> {
    let fresh = reserve().await?;
    fresh.create().await;
    Some(fresh)
}

/// Chooses the name of a separate database, without creating it. Returns `None` if the suite runs on `SQLite`.
pub async fn reserve() -> Option<Fresh> {
    static RUN: OnceCell<String> = OnceCell::const_new();
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let server = server()?;
    let empty = RUN.get_or_init(|| template(&server)).await;
    let name = format!("{empty}_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let url = pooled(database(&server, &name)).into();
    Some(Fresh { server, name, empty, url })
}

/// Returns whether databases are reached through a pooler, which stays connected to them.
#[must_use]
pub fn is_pooled() -> bool {
    said(POOLER).is_some()
}

impl Fresh {
    /// Creates the database with the full schema and no rows.
    pub async fn create(&self) {
        self.create_from(self.empty).await;
    }

    /// Creates the database as a copy of another.
    pub async fn copy(&self, template: &Template) {
        self.create_from(&template.0).await;
    }

    /// Creates an empty database whose server keeps text in `encoding`.
    pub async fn create_encoded(&self, encoding: &str) {
        self.create_from(&format!("template0 ENCODING '{encoding}' LC_COLLATE 'C' LC_CTYPE 'C'")).await;
    }

    async fn create_from(&self, template: &str) {
        let (connection, name) = (connect(&self.server).await, &self.name);
        connection.execute_unprepared(&format!("CREATE DATABASE {name} TEMPLATE {template}")).await.unwrap();
        // No commit waits for the disk: no test crashes the server.
        connection.execute_unprepared(&format!("ALTER DATABASE {name} SET synchronous_commit = off")).await.unwrap();
        connection.close().await.unwrap();
    }

    /// Keeps the database, for others to be copied from. Nothing may be connected to it.
    #[must_use]
    pub fn into_template(self) -> Template {
        // The value is never dropped, so a later run drops the database.
        Template(mem::ManuallyDrop::new(self).name.clone())
    }
}

impl Drop for Fresh {
    /// Leaves the database to a thread of its own: a server takes a tenth of a second or more to drop one. What the thread has not dropped
    /// when the process ends is left to a later run.
    fn drop(&mut self) {
        static NAMES: LazyLock<mpsc::Sender<(Url, String)>> = LazyLock::new(|| {
            let (names, dropped) = mpsc::channel();
            thread::spawn(move || drop_all(&dropped));
            names
        });
        let _ = NAMES.send((self.server.clone(), self.name.clone()));
    }
}

fn drop_all(names: &mpsc::Receiver<(Url, String)>) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for (server, name) in names {
        runtime.block_on(async {
            let connection = connect(&server).await;
            connection.execute_unprepared(&format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")).await.unwrap();
            connection.close().await.unwrap();
        });
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
