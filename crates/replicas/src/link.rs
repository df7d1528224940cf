//! The connection to one Redis: time limits of our own, a breaker, and a new connection after trouble.
//!
//! The client library keeps a connection after a time-out, and after `READONLY` from a server that has become a replica. Neither is
//! of use, so this file drops the connection after either.

use std::{
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use common::{compute::Died, single_flight::SingleFlight};
use redis::{
    AsyncConnectionConfig, Client, Cmd, ErrorKind, FromRedisValue, IntoConnectionInfo as _, Pipeline, RedisError,
    RedisFuture, RedisResult, ScriptInvocation, ServerErrorKind, Value,
    aio::{ConnectionLike, MultiplexedConnection},
    cluster::ClusterClient,
    cluster_async::ClusterConnection,
    io::tcp::TcpSettings,
};
use tokio::time::{Instant, timeout};

use super::breaker::{Breaker, Outcome};

/// The purpose of a link, and the time limit of its calls.
#[derive(Debug, Clone, Copy)]
pub struct Purpose {
    name: &'static str,
    limit: Duration,
}

/// Counters and pace: small, and somebody waits for them.
pub const OF_COUNTERS: Purpose = Purpose { name: "counters", limit: Duration::from_millis(100) };

/// Readings, which may be megabytes.
pub const OF_VALUES: Purpose = Purpose { name: "values", limit: Duration::from_millis(250) };

/// The time for a new connection. Calls do not wait for it longer than for anything else.
pub(super) const CONNECTING: Duration = Duration::from_secs(1);

/// A peer that acknowledges nothing for so long is lost.
const UNACKNOWLEDGED: Duration = Duration::from_secs(3);

/// So many calls in a row that took too long end the connection.
const TIMEOUTS: u32 = 3;

/// The use of a link.
#[derive(Debug, Default)]
pub struct Use {
    /// Calls that were answered.
    pub answered: AtomicU64,
    /// Calls that were not answered in time, or with an error.
    pub failed: AtomicU64,
    /// Calls that were not made, because Redis was away.
    pub skipped: AtomicU64,
    up: AtomicBool,
    refuses_login: AtomicBool,
}

impl Use {
    /// True if calls go through.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.up.load(Ordering::Relaxed)
    }

    /// True if the server refused the login when it last said anything.
    #[must_use]
    pub fn is_login_refused(&self) -> bool {
        self.refuses_login.load(Ordering::Relaxed)
    }
}

/// The connection to one Redis, made when it is needed.
pub struct Link {
    purpose: Purpose,
    client: Client,
    connection: Mutex<Option<Connection>>,
    connecting: SingleFlight<(), Connection, Failed>,
    breaker: Mutex<Breaker>,
    timeouts: AtomicU32,
    usage: Use,
}

/// The reason why there is no connection, or no answer.
#[derive(Debug, Clone)]
struct Failed {
    reason: String,
    /// True if the server refuses the login. `None` if it said nothing in time.
    refuses_login: Option<bool>,
}

impl Failed {
    fn late(reason: &str) -> Self {
        Self { reason: reason.to_owned(), refuses_login: None }
    }
}

impl From<Died> for Failed {
    fn from(died: Died) -> Self {
        Self { reason: died.to_string(), refuses_login: None }
    }
}

impl From<RedisError> for Failed {
    fn from(error: RedisError) -> Self {
        Self { reason: error.to_string(), refuses_login: Some(is_login_refused(&error)) }
    }
}

/// A connection to one server or to a cluster.
#[derive(Clone)]
pub(super) enum Connection {
    One(MultiplexedConnection),
    Cluster(ClusterConnection),
}

impl ConnectionLike for Connection {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        match self {
            Self::One(one) => one.req_packed_command(command),
            Self::Cluster(cluster) => cluster.req_packed_command(command),
        }
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        commands: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        match self {
            Self::One(one) => one.req_packed_commands(commands, offset, count),
            Self::Cluster(cluster) => cluster.req_packed_commands(commands, offset, count),
        }
    }

    fn get_db(&self) -> i64 {
        match self {
            Self::One(one) => one.get_db(),
            Self::Cluster(cluster) => cluster.get_db(),
        }
    }
}

impl Link {
    /// A link to the server at `url`. Connects later.
    pub fn new(url: &str, purpose: Purpose) -> Result<Self, RedisError> {
        let tcp = TcpSettings::default().set_nodelay(true);
        #[cfg(target_os = "linux")]
        let tcp = tcp.set_user_timeout(UNACKNOWLEDGED);
        let client = Client::open(url.into_connection_info()?.set_tcp_settings(tcp))?;
        Ok(Self {
            purpose,
            client,
            connection: Mutex::default(),
            connecting: SingleFlight::lasting(),
            breaker: Mutex::default(),
            timeouts: AtomicU32::default(),
            usage: Use::default(),
        })
    }

    /// Waits for the first connection, if there is one within a second.
    pub async fn first_connection(&self) {
        let connected = timeout(CONNECTING, self.connected()).await;
        self.usage.up.store(matches!(connected, Ok(Ok(_))), Ordering::Relaxed);
        if let Ok(Err(failed)) = connected {
            self.usage.refuses_login.store(failed.refuses_login == Some(true), Ordering::Relaxed);
            self.tell(&failed);
        }
    }

    /// Says in the log that Redis is of no use.
    fn tell(&self, Failed { reason, refuses_login }: &Failed) {
        let link = self.purpose.name;
        if *refuses_login == Some(true) {
            tracing::warn!(
                link,
                error = reason,
                "Redis refuses the login: check user and password in redis.url and redis.cache_url; each replica works by itself until then"
            );
        } else {
            tracing::warn!(link, error = reason, "Redis is away; each replica works by itself until it is back");
        }
    }

    /// The use of the link.
    pub fn usage(&self) -> &Use {
        &self.usage
    }

    /// Runs a script. `None` if Redis is away.
    pub async fn script<T: FromRedisValue>(&self, script: &ScriptInvocation<'_>) -> Option<T> {
        self.call(|mut connection| async move { script.invoke_async(&mut connection).await }).await
    }

    /// Runs a command. `None` if Redis is away.
    pub async fn command<T: FromRedisValue>(&self, command: &Cmd) -> Option<T> {
        self.call(|mut connection| async move { command.query_async(&mut connection).await }).await
    }

    async fn call<T, F>(&self, ask: impl FnOnce(Connection) -> F) -> Option<T>
    where
        F: Future<Output = RedisResult<T>>,
    {
        if !lock(&self.breaker).admits(Instant::now()) {
            self.usage.skipped.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let begun = Instant::now();
        let asked = timeout(self.purpose.limit, async { Ok(ask(self.connected().await?).await?) }).await;
        let answer = match asked {
            Ok(Ok(answer)) => {
                self.timeouts.store(0, Ordering::Relaxed);
                Ok(answer)
            }
            Ok(Err(Problem::Redis(error))) => {
                if is_over(&error) {
                    self.drop_connection();
                }
                Err(error.into())
            }
            Ok(Err(Problem::Connection(failed))) => Err(failed),
            Err(_) => {
                if self.timeouts.fetch_add(1, Ordering::Relaxed) + 1 >= TIMEOUTS {
                    self.drop_connection();
                }
                Err(Failed::late("no answer in time"))
            }
        };
        self.note(answer.as_ref().map(|_| begun.elapsed()));
        answer.ok()
    }

    fn note(&self, outcome: Result<Duration, &Failed>) {
        let count = if outcome.is_ok() { &self.usage.answered } else { &self.usage.failed };
        count.fetch_add(1, Ordering::Relaxed);
        let noted = outcome.map_or(Outcome::Failed, Outcome::Answered);
        let mut breaker = lock(&self.breaker);
        let changed = breaker.note(noted, Instant::now());
        let is_closed = breaker.is_closed();
        drop(breaker);
        self.usage.up.store(is_closed, Ordering::Relaxed);
        let before = self.usage.refuses_login.load(Ordering::Relaxed);
        let refuses_login = outcome.err().is_some_and(|failed| failed.refuses_login.unwrap_or(before));
        self.usage.refuses_login.store(refuses_login, Ordering::Relaxed);
        match outcome {
            Ok(_) if changed && is_closed => tracing::info!(link = self.purpose.name, "Redis is back"),
            Ok(_) if changed => self.tell(&Failed::late("half of the last answers were slow")),
            Err(failed) if refuses_login != before || (changed && !refuses_login) => self.tell(failed),
            _ => {}
        }
    }

    /// The connection, or a new one.
    async fn connected(&self) -> Result<Connection, Failed> {
        if let Some(connection) = lock(&self.connection).clone() {
            return Ok(connection);
        }
        let connecting = {
            let mut connecting = self.connecting.lock();
            match connecting.get(&()) {
                Some(connecting) => connecting,
                None => connecting.start((), {
                    let client = self.client.clone();
                    move |_| async move {
                        Ok(timeout(CONNECTING, connect(client))
                            .await
                            .map_err(|_| Failed::late("no connection in time"))??)
                    }
                }),
            }
        };
        let connection = connecting.await?;
        self.timeouts.store(0, Ordering::Relaxed);
        *lock(&self.connection) = Some(connection.clone());
        Ok(connection)
    }

    fn drop_connection(&self) {
        *lock(&self.connection) = None;
    }

    /// Warnings for the operator of the server.
    pub async fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let info: Option<String> = self.command(redis::cmd("INFO").arg("persistence")).await;
        let saves: Option<Vec<String>> = self.command(redis::cmd("CONFIG").arg("GET").arg("save")).await;
        let appends = info.is_some_and(|info| info.contains("aof_enabled:1"));
        if appends || saves.is_some_and(|saves| saves.get(1).is_some_and(|rules| !rules.is_empty())) {
            warnings.push(
                "Redis writes to disk: switch off save and appendonly, because search data is not to be stored"
                    .to_owned(),
            );
        }
        warnings
    }
}

enum Problem {
    Redis(RedisError),
    Connection(Failed),
}

impl From<RedisError> for Problem {
    fn from(error: RedisError) -> Self {
        Self::Redis(error)
    }
}

impl From<Failed> for Problem {
    fn from(failed: Failed) -> Self {
        Self::Connection(failed)
    }
}

/// Connects to the server, or to the cluster that it belongs to.
pub(super) async fn connect(client: Client) -> Result<Connection, RedisError> {
    let config = AsyncConnectionConfig::new().set_connection_timeout(Some(CONNECTING)).set_response_timeout(None);
    let mut one = client.get_multiplexed_async_connection_with_config(&config).await?;
    let info: RedisResult<String> = redis::cmd("INFO").arg("cluster").query_async(&mut one).await;
    let info = match info {
        Err(error) if is_login_refused(&error) => return Err(error),
        info => info.unwrap_or_default(),
    };
    if !info.contains("cluster_enabled:1") {
        return Ok(Connection::One(one));
    }
    let nodes = [client.get_connection_info().clone()];
    let cluster = ClusterClient::builder(nodes).connection_timeout(CONNECTING).build()?;
    Ok(Connection::Cluster(cluster.get_async_connection().await?))
}

/// Returns whether the server wants another user or password, or any. Without one, a question that comes before the first command is
/// refused in words alone.
pub(super) fn is_login_refused(error: &RedisError) -> bool {
    error.kind() == ErrorKind::AuthenticationFailed
        || matches!(error.code(), Some("NOAUTH" | "WRONGPASS"))
        || error.detail().is_some_and(|detail| detail.contains("Authentication required"))
}

/// Returns whether an error means that the connection is of no further use.
fn is_over(error: &RedisError) -> bool {
    error.is_unrecoverable_error()
        || error.is_io_error()
        || error.is_connection_dropped()
        || error.kind() == ErrorKind::Server(ServerErrorKind::ReadOnly)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
