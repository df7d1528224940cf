//! Assembles a service from its settings. The only module that depends on all parts.

mod basis;
mod capacity;
mod check;
mod data;
mod http_clients;
mod key_file;
mod key_rotation;
mod local;
mod metrics;
mod parts;
mod providers;
mod routes;
mod sweep;
mod turn;
mod warm;

use std::{
    fs::File,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use common::{clock::Clock, random::Random};
use sea_orm::DatabaseConnection;
use search_engine::Reader;
use store::{
    database::{OpenDatabase, Statements},
    locks,
};
use telemetry::traces::Traces;
use tokio::{net::TcpListener, sync::oneshot, task::JoinHandle};

use crate::{
    config::Config,
    demo::{self, Simulator},
    error::Error,
    server,
    services::{drift::Drift, health::HealthCheck, warming::Warmer},
};

pub use self::{
    basis::mailer,
    check::{Tried, try_settings},
    data::{check_for_database, connect, make_data_folder, migrate, open_database, open_existing_database},
    http_clients::{http_client, http_client_to, http_settings, local_http_client},
    key_file::secrets,
    key_rotation::{Resealed, rotate_secrets},
    local::local_addresses,
    parts::demo_people,
};

/// A running service.
pub struct Service {
    /// Its public root URL.
    pub base_url: String,
    /// The address it listens on.
    pub address: SocketAddr,
    /// The address that serves metrics, if they are served.
    pub metrics_address: Option<SocketAddr>,
    /// The embedded simulated search engine, if there is one.
    pub simulator: Option<Simulator>,
    /// The database, for reading and writing.
    pub db: DatabaseConnection,
    /// Counts the statements sent to the database.
    pub statements: Statements,
    /// The reader of search data.
    pub reader: Reader,
    /// The embedded issuer, if it is the issuer.
    pub issuer: Option<Box<issuer::IdentityProvider>>,
    /// The state that it shares with other replicas, if there is any.
    pub shared: Option<replicas::Shared>,
    health: HealthCheck,
    drift: Drift,
    comparing: JoinHandle<()>,
    traces: Traces,
    /// Time for which it still accepts connections when it stops.
    delay: Duration,
    store: OpenDatabase,
    sweeper: sweep::Sweeper,
    warmer: Warmer,
    /// The lock on the database file, which only this process may serve.
    _claim: Option<File>,
    metrics: Option<JoinHandle<()>>,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<std::io::Result<()>>,
}

/// Starts a service. It accepts requests when this returns.
///
/// # Errors
/// A setting is invalid, the address cannot be bound, or the database cannot be opened.
pub async fn start(config: Config, clock: Clock, random: Random) -> Result<Service, Error> {
    Box::pin(start_on(bind(config.listen).await?, config, clock, random)).await
}

/// Starts a service on a socket that is bound already, in place of `config.listen`.
///
/// # Errors
/// As [`start`].
pub async fn start_on(
    listener: TcpListener,
    mut config: Config,
    clock: Clock,
    random: Random,
) -> Result<Service, Error> {
    let address = listener.local_addr().map_err(Error::internal)?;
    let base_url = config.base_url(address);
    let demo_people = demo_people(&config, address, &base_url)?;
    if demo_people {
        // All sites of the demo person `network` are tracked.
        let agency = &mut config.plans.agency;
        agency.tracked_properties = agency.tracked_properties.max(config.simulator.sites);
    }
    let (limits, metrics_listener) = (parts::connection_limits(&config), metrics::bind(&config).await?);
    let simulator = demo::beside(&config, &clock).await?;
    let engine_url = simulator.as_ref().map(Simulator::url);
    data::make_data_folder(&config)?;
    let claim = locks::claim(&config.database_url())?;
    let parts = parts::build(config, base_url.clone(), demo_people, engine_url, clock, random).await?;
    prepare(&parts, demo_people).await?;
    let sweeper = sweep::Sweeper::new(&parts);
    let warmer = Warmer::new(&parts.app.search, parts.app.config.clone(), parts.events.clone());
    let warming = parts.app.config.search_engine.warm.then(|| warm::start(&parts, warmer.clone()));
    let periodic: Vec<JoinHandle<()>> = [sweeper.start()].into_iter().chain(warming).collect();
    let (store, reader) = (parts.store.clone(), parts.app.search.reader.clone());
    let (shared, health, drift) = (parts.app.shared.clone(), parts.app.health.clone(), parts.drift.clone());
    let (delay, grace) = (parts.app.config.shutdown.delay_at(&base_url), parts.app.config.shutdown.grace.duration());
    let endpoint = routes::routes(&parts).await?;
    let metrics = metrics_listener.map(|listener| metrics::start(&parts, listener, limits.clone()));
    let (metrics_address, metrics) = metrics.transpose()?.unzip();

    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(async move {
        let signal = async { drop(stopped.await) };
        let result = server::serve(listener, endpoint, limits, signal, grace).await;
        periodic.iter().for_each(JoinHandle::abort);
        result
    });
    Ok(Service {
        base_url: base_url.to_string(),
        shared,
        issuer: parts.provider.map(Box::new),
        health,
        comparing: drift.start(parts.traces.clone()),
        traces: parts.traces,
        drift,
        delay: delay.duration(),
        address,
        metrics_address,
        simulator,
        db: store.writer.clone(),
        statements: store.statements.clone(),
        reader,
        store,
        sweeper,
        warmer,
        _claim: claim,
        metrics,
        stop: Some(stop),
        task,
    })
}

/// Looks at what others allow and set, and adds the demo people to a service that has them.
async fn prepare(parts: &Parts, demo_people: bool) -> Result<(), Error> {
    capacity::warn_if_scarce(parts).await;
    parts.drift.compare().await;
    if demo_people {
        demo::seed(&parts.app, &parts.store.writer, &local_http_client()?).await?;
    }
    Ok(())
}

async fn bind(address: SocketAddr) -> Result<TcpListener, Error> {
    let refused = match TcpListener::bind(address).await {
        Ok(listener) => return Ok(listener),
        Err(error) => error,
    };
    let free = free_port(address).await.unwrap_or(8090);
    Err(Error::invalid(format!(
        "listen: {address} cannot be bound: {refused}. Set listen (SIGHTLINE_LISTEN) to another address, such as 127.0.0.1:{free}"
    )))
}

/// The next port after that of `address` that is free on this machine, of ten.
async fn free_port(address: SocketAddr) -> Option<u16> {
    for port in (1..=10).filter_map(|more| address.port().checked_add(more)) {
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.is_ok() {
            return Some(port);
        }
    }
    None
}

impl Service {
    /// Says by its health that it stops, for `shutdown.delay`. Then stops accepting requests, lets open ones finish within
    /// `shutdown.grace`, and returns.
    pub async fn shutdown(mut self) {
        self.health.stop();
        tokio::time::sleep(self.delay).await;
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Ok(Err(error)) = (&mut self.task).await {
            tracing::warn!(%error, "the server ended with an error");
        }
        if let Some(simulator) = self.simulator.take() {
            simulator.shutdown().await;
        }
        if let Some(metrics) = self.metrics.take() {
            metrics.abort();
        }
        if let Some(shared) = &self.shared {
            shared.end().await;
        }
        self.comparing.abort();
        self.drift.end().await;
        self.traces.end().await;
        self.close_database().await;
    }

    /// Deletes expired rows, and tries again to revoke waiting grants. A running service does so every 15 minutes.
    pub async fn sweep(&self) {
        self.sweeper.sweep().await;
    }

    /// Reads ahead what was opened lately. A running service does so every five minutes, if `search_engine.warm` is set.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn warm(&self) -> Result<(), Error> {
        self.warmer.pass().await
    }

    /// Compares the clock and the settings with those of others. A running service does so every 20 seconds.
    pub async fn compare(&self) {
        self.drift.compare().await;
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

/// The parts of a service.
struct Parts {
    app: Arc<crate::handlers::App>,
    store: OpenDatabase,
    admissions: crate::admission::Admissions,
    sessions: identity::session::Sessions,
    provider: Option<issuer::IdentityProvider>,
    sign_in: Option<crate::web::sign_in::BrowserSignIn>,
    /// Counters of requests. `None` if requests are not counted.
    limits: Option<crate::caller_limits::CallerLimits>,
    /// Metrics of requests. `None` if they are not served.
    requests: Option<Arc<telemetry::requests::RequestMeter>>,
    /// Counts sign-ins, messages and sweeps.
    events: telemetry::events::EventMeter,
    drift: Drift,
    /// Begins spans, and exports them.
    traces: Traces,
}
