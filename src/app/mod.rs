//! Assembles a service from its settings. The only module that depends on all parts.

mod parts;
mod routes;
mod sweep;

pub use self::parts::{open_database, simulator_settings};

use std::{fs::File, net::SocketAddr, sync::Arc, time::Duration};

use sea_orm::DatabaseConnection;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::{
    clock::Clock,
    config::Config,
    demo,
    error::Error,
    random::Random,
    search_engine::Reader,
    server,
    simulator::Simulator,
    store::database::{self, Opened, Statements},
};

/// Time for open requests to finish when the service stops.
const GRACE: Duration = Duration::from_secs(10);

/// A running service.
pub struct Service {
    /// Its public root URL.
    pub base_url: String,
    /// The address it listens on.
    pub address: SocketAddr,
    /// The embedded simulated search engine, if there is one.
    pub simulator: Option<Simulator>,
    /// The database, for reading and writing.
    pub db: DatabaseConnection,
    /// Counts the statements sent to the database.
    pub statements: Statements,
    /// The reader of search data.
    pub reader: Reader,
    store: Opened,
    /// The lock on the database file, which only this process may serve.
    _claim: Option<File>,
    watcher: Option<JoinHandle<()>>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<std::io::Result<()>>,
}

/// Starts a service. It accepts requests when this returns.
///
/// # Errors
/// A setting is invalid, the address cannot be bound, or the database cannot be opened.
pub async fn start(config: Config, clock: Clock, random: Random) -> Result<Service, Error> {
    let listener = TcpListener::bind(config.listen).await;
    let listener = listener.map_err(|e| Error::invalid(format!("listen: {} cannot be bound: {e}", config.listen)))?;
    let address = listener.local_addr().map_err(Error::internal)?;
    let base_url = config.base_url.clone().unwrap_or_else(|| format!("http://{address}"));
    let base_url = base_url.trim_end_matches('/').to_owned();
    parts::check_exposure(&config, address, &base_url)?;
    let limits = parts::connection_limits(&config);

    let database_url = config.database_url();
    let simulator = parts::simulator(&config, &clock).await?;
    let engine_url = simulator.as_ref().map(Simulator::url);
    parts::make_data_folder(&config).await?;
    let claim = database::claim(&database_url)?;
    let parts = parts::build(config, base_url.clone(), engine_url, clock, random).await?;
    if parts.app.config.embeds_issuer() {
        demo::seed(&parts.app, &parts.store.writer, &http_client()?).await?;
    }
    let watcher = match &parts.store.commits {
        Some(commits) if claim.is_some() => {
            Some(database::watch_other_processes(&database_url, commits.clone()).await?)
        }
        _ => None,
    };
    let sweeper = sweep::start(&parts);
    let (store, reader) = (parts.store.clone(), parts.app.search.reader.clone());
    let endpoint = routes::routes(&parts).await?;

    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let signal = async { drop(stopped.await) };
        let result = server::serve(listener, endpoint, limits, signal, GRACE).await;
        sweeper.abort();
        result
    });
    Ok(Service {
        base_url,
        address,
        simulator,
        db: store.writer.clone(),
        statements: store.statements.clone(),
        reader,
        store,
        _claim: claim,
        watcher,
        stop: Some(stop),
        task,
    })
}

impl Service {
    /// Stops accepting requests, lets open ones finish within a time limit, and returns.
    pub async fn shutdown(mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Ok(Err(error)) = (&mut self.task).await {
            tracing::warn!(%error, "the server ended with an error");
        }
        if let Some(simulator) = self.simulator.take() {
            simulator.shutdown().await;
        }
        if let Some(watcher) = self.watcher.take() {
            watcher.abort();
        }
        self.close_database().await;
    }

    /// Closes the connections to the database, without which the service is down.
    pub async fn close_database(&self) {
        for db in [&self.store.writer, &self.store.reader] {
            if let Err(error) = db.close_by_ref().await {
                tracing::warn!(%error, "the database did not close");
            }
        }
    }
}

/// Creates the HTTP client for all outgoing requests: time limits, no redirects, no proxies from the environment.
///
/// # Errors
/// No root certificates are available.
pub fn http_client() -> Result<reqwest::Client, Error> {
    #[expect(clippy::disallowed_methods, reason = "the one client is made here and handed on")]
    let builder = reqwest::Client::builder();
    builder
        .connect_timeout(Duration::from_secs(5))
        .timeout(Duration::from_mins(1))
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("sightline/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(Error::internal)
}

/// The parts of a service.
struct Parts {
    app: Arc<crate::handlers::App>,
    store: Opened,
    admissions: crate::admission::Admissions,
    sessions: crate::identity::session::Sessions,
    provider: Option<crate::embedded_issuer::IdentityProvider>,
    sign_in: Option<crate::web::sign_in::BrowserSignIn>,
    /// Counters of requests. `None` if requests are not counted.
    limits: Option<Arc<crate::store::rate_limit::RateLimits>>,
}
