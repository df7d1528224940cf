//! A separate service for a test: its own data folder, its own simulated search engine, and a manual clock.

use std::{
    net::TcpListener,
    path::Path,
    sync::{Arc, LazyLock, mpsc},
    time::Duration,
};

use chrono::{DateTime, TimeZone, Utc};
use common::{
    clock::{Clock, Hand},
    digest::sha256_hex,
    random::Random,
};
use sightline::{
    app::{self, Service},
    cli::remote::login::EVERYTHING,
    config::{Bytes, Config, Seconds, Secret},
};
use telemetry::logs::{self, Guard, LogFormat};
use tempfile::TempDir;
use test_data::postgres::Fresh;

use super::{actor::Actor, seeds};

/// The time at which every test app starts: noon of 21 November 2026 in UTC, early morning in the search engine's time zone.
pub fn start_of_test() -> DateTime<Utc> {
    Utc.with_ymd_and_hms(2026, 11, 21, 12, 0, 0).unwrap()
}

/// Makes the server at `root` the search engine of a service.
pub fn searches_at(root: &str, config: &mut Config) {
    config.identity.demo_sign_in = Some(true);
    let (engine, url) = (&mut config.search_engine, |path: &str| format!("{root}{path}").parse().ok());
    engine.api_url = url("");
    engine.authorize_url = url("/authorize");
    engine.token_url = url("/token");
    engine.revoke_url = url("/revoke");
    engine.userinfo_url = url("/userinfo");
    engine.client_id = Some("client".to_owned());
    engine.client_secret = Some(Secret("secret".to_owned()));
}

/// A running service and its test controls.
pub struct TestApp {
    /// The service.
    pub service: Service,
    /// Moves its clock.
    pub hand: Hand,
    /// Its database, if it is not in the data folder.
    database: Option<Fresh>,
    settings: Config,
    data: TempDir,
}

/// Settings of a test app: without rate limits and without a pace for the simulated search engine, so that tests do not
/// reach them by accident.
pub fn settings() -> Config {
    let mut config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
    config.rate_limit.enabled = false;
    // All tests call from one address, some with hundreds of concurrent requests.
    config.connections.max_per_address = 10_000;
    config.connections.max = 10_000;
    // A loaded machine may take long to send a body.
    config.connections.deadlines.first_byte = Duration::from_secs(20);
    config.connections.deadlines.drain = Duration::from_secs(20);
    config.search_engine.bucket = 1_000_000;
    config.search_engine.refill_per_second = 1_000_000;
    config.search_engine.quota.per_minute = 1_000_000;
    // A loaded machine may take long to answer a probe.
    config.search_engine.patience.probe = Duration::from_secs(10);
    // Many apps run concurrently, and a server has a hundred connections.
    config.database.max_connections = 4;
    config.cache.max_bytes = Bytes(64 * 1024 * 1024);
    config.cache.ttl = Seconds(6 * 60 * 60);
    config
}

/// Lets a service and those beside it share the Redis server that `SIGHTLINE_TEST_REDIS_URL` names. Returns its address, if it names one.
/// They have a key that no other test has, so they share nothing with others.
#[expect(clippy::disallowed_methods, reason = "no setting of the service: it says where the suite runs")]
pub fn share_redis(config: &mut Config) -> Option<String> {
    let url = std::env::var("SIGHTLINE_TEST_REDIS_URL").ok().filter(|url| !url.is_empty())?;
    let key = sha256_hex(&Random::system().token());
    config.secrets.key = Some(Secret(key));
    config.redis.url = Some(url.clone());
    Some(url)
}

/// A socket for services that run one after the other. Its address stays taken between them.
pub struct Socket(TcpListener);

impl Socket {
    /// Binds a free port.
    pub fn bind() -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    /// The listener for the next service.
    pub fn listener(&self) -> tokio::net::TcpListener {
        tokio::net::TcpListener::from_std(self.0.try_clone().unwrap()).unwrap()
    }
}

/// The log of all apps of this process, on stderr, if `RUST_LOG` sets a level.
#[expect(clippy::disallowed_methods, reason = "no setting of the service: it says what a developer reads")]
static LOG: LazyLock<Option<Guard>> =
    LazyLock::new(|| std::env::var_os("RUST_LOG").map(|_| logs::start(LogFormat::Text)));

/// A folder for the files of a test: in memory, where the system has a file system there.
pub fn folder() -> TempDir {
    TempDir::new_in("/dev/shm").unwrap_or_else(|_| TempDir::new().unwrap())
}

impl TestApp {
    /// Starts a service with [`settings`] modified by `change`, on its own database: `SQLite` in its data folder, or a
    /// database on the server of [`postgres`].
    pub async fn start(change: impl FnOnce(&mut Config)) -> Self {
        Self::start_on(&Socket::bind(), change).await
    }

    /// Starts a service as [`TestApp::start`] does, on `socket`.
    pub async fn start_on(socket: &Socket, change: impl FnOnce(&mut Config)) -> Self {
        let (data, database) = (folder(), test_data::postgres::reserve().await);
        let mut config = settings();
        config.data_dir = data.path().display().to_string();
        config.database.url = database.as_ref().map(|fresh| fresh.url.clone());
        change(&mut config);
        let is_seeded = seeds::is_alike(&config) && seeds::copy(data.path(), database.as_ref()).await;
        if let (Some(fresh), false) = (&database, is_seeded) {
            fresh.create().await;
        }
        Self::run(socket, config, 11, database, data).await
    }

    /// Starts another process of the same service: the same database, keys and public root, at another address. Returns
    /// `None` on `SQLite`, where only one process may serve a file.
    pub async fn beside(&self) -> Option<Self> {
        self.beside_as(12).await
    }

    /// Starts another process as [`TestApp::beside`] does, with a `seed` of its own. Processes that know of each other need different ones.
    pub async fn beside_as(&self, seed: u64) -> Option<Self> {
        self.beside_with(seed, |_| {}).await
    }

    /// Starts another process as [`TestApp::beside_as`] does, with settings modified by `change`.
    pub async fn beside_with(&self, seed: u64, change: impl FnOnce(&mut Config)) -> Option<Self> {
        self.database.as_ref()?;
        let mut config = self.settings.clone();
        config.base_url = self.service.base_url.parse().ok();
        change(&mut config);
        Some(Self::run(&Socket::bind(), config, seed, None, folder()).await)
    }

    async fn run(socket: &Socket, config: Config, seed: u64, database: Option<Fresh>, data: TempDir) -> Self {
        LazyLock::force(&LOG);
        let (clock, hand) = Clock::manual(start_of_test());
        let starting = app::start_on(socket.listener(), config.clone(), clock, Random::seeded(seed));
        let service = Box::pin(starting).await.unwrap();
        Self { service, hand, settings: config, database, data }
    }

    /// The folder of its key and, on `SQLite`, of its database.
    pub fn folder(&self) -> &Path {
        self.data.path()
    }

    /// A demo person with a token of the embedded issuer, and of another issuer through the code flow.
    pub async fn actor(&self, name: &str) -> Actor {
        let base_url = &self.service.base_url;
        match &self.service.issuer {
            Some(issuer) => Actor::with_token(base_url, &issuer.demo_token(name, EVERYTHING).await.unwrap()),
            None => Actor::signed_in(base_url, name).await,
        }
    }

    /// A caller without credentials.
    pub fn anonymous(&self) -> Actor {
        Actor::anonymous(&self.service.base_url)
    }

    /// The controls of the simulated search engine.
    pub fn simulator(&self) -> &simulator::Simulator {
        self.service.simulator.as_ref().unwrap()
    }
}

/// The app shared by tests that only read. It has its own runtime, because each test has its own.
pub fn shared() -> &'static TestApp {
    static SHARED: LazyLock<Arc<TestApp>> = LazyLock::new(|| {
        let (ready, started) = mpsc::channel();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
            runtime.block_on(async {
                let app = Arc::new(TestApp::start(|_| {}).await);
                ready.send(app.clone()).unwrap();
                std::future::pending::<()>().await;
            });
        });
        started.recv().unwrap()
    });
    &SHARED
}
