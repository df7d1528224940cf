//! Serves metrics in the formats that Prometheus reads, on an address of their own.

use std::{
    fmt,
    net::SocketAddr,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::Duration,
};

use common::{byte_cache::CacheUse, disk};
use entity::search_account::{self, Status};
use poem::{
    EndpointExt as _, IntoResponse as _, Request, Response, Route,
    endpoint::make,
    get,
    http::{StatusCode, header},
};
use prometheus_client::{
    collector::Collector,
    encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeMetric},
    metrics::{MetricType, counter::ConstCounter, gauge::ConstGauge},
    registry::Registry,
};
use sea_orm::{ColumnTrait as _, DatabaseConnection, DbBackend, EntityTrait as _, QuerySelect as _};
use store::database::{self, OpenDatabase};
use telemetry::{formats::Format, process::Process};
use tokio::{net::TcpListener, task::JoinHandle, time::timeout};

use super::Parts;
use crate::{
    caller_limits::CallerLimits, config::Config, error::Error, handlers::App, http::entry, server,
    services::drift::Drift,
};

/// The path of the metrics.
const PATH: &str = "/metrics";

/// The time between two probes whether the database takes writes.
const PROBE_INTERVAL: Duration = Duration::from_secs(10);

/// The time within which search accounts are counted. Without a count a scrape has no metric of them.
const COUNTING: Duration = Duration::from_secs(2);

/// The states of search accounts, and their names among the metrics.
const STATES: [(Status, &str); 4] = [
    (Status::Connected, "connected"),
    (Status::ReconnectRequired, "reconnect_required"),
    (Status::ScopeMissing, "scope_missing"),
    (Status::Disconnected, "disconnected"),
];

/// Search accounts by state, as they were last counted.
type Accounts = Arc<Mutex<Option<[(&'static str, u64); 4]>>>;

/// Binds the address of metrics, if one is set.
pub(super) async fn bind(config: &Config) -> Result<Option<TcpListener>, Error> {
    let Some(listen) = config.metrics.listen else { return Ok(None) };
    let listener = TcpListener::bind(listen).await.map_err(|error| {
        Error::invalid(format!(
            "metrics.listen: {listen} cannot be bound: {error}. Set metrics.listen (SIGHTLINE_METRICS__LISTEN) to another address, such \
             as 127.0.0.1:9464, or remove it"
        ))
    })?;
    Ok(Some(listener))
}

/// Serves metrics until the task is aborted.
pub(super) fn start(
    parts: &Parts,
    listener: TcpListener,
    limits: server::Limits,
) -> Result<(SocketAddr, JoinHandle<()>), Error> {
    let address = listener.local_addr().map_err(Error::internal)?;
    let accounts = Accounts::default();
    let (registry, db) = (Arc::new(registry(parts, &limits, accounts.clone())), parts.store.reader.clone());
    let scrape = make(move |request| {
        let (registry, accounts, db) = (registry.clone(), accounts.clone(), db.clone());
        async move {
            let counted = timeout(COUNTING, by_state(&db)).await.ok().flatten();
            *accounts.lock().unwrap_or_else(PoisonError::into_inner) = counted;
            rendered(&registry, &request)
        }
    });
    let endpoint = Route::new().at(PATH, get(scrape)).around(entry::admit).map_to_response().boxed();
    let served = server::serve(listener, endpoint, limits, std::future::pending(), Duration::ZERO);
    let probe = parts.store.write_probe.clone();
    let probing = async move {
        loop {
            probe.takes_writes().await;
            tokio::time::sleep(PROBE_INTERVAL).await;
        }
    };
    let task = tokio::spawn(async move {
        tokio::select! {
            served = served => if let Err(error) = served {
                tracing::warn!(%error, "metrics are not served any more");
            },
            () = probing => {}
        }
    });
    Ok((address, task))
}

fn rendered(registry: &Registry, request: &Request) -> Response {
    let accept = request.headers().get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    let format = Format::wanted(accept);
    match format.encode(registry) {
        Ok(body) => Response::builder()
            .header(header::CONTENT_TYPE, format.media_type())
            .header(header::VARY, "accept")
            .body(body),
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Counts search accounts by state. `None` if the database is away.
async fn by_state(db: &DatabaseConnection) -> Option<[(&'static str, u64); 4]> {
    let counted = search_account::Entity::find()
        .select_only()
        .column(search_account::Column::Status)
        .column_as(search_account::Column::Id.count(), "accounts")
        .group_by(search_account::Column::Status)
        .into_tuple::<(Status, i64)>()
        .all(db)
        .await
        .ok()?;
    let number = |state: Status| counted.iter().find(|(counted, _)| *counted == state).map_or(0, |(_, number)| *number);
    Some(STATES.map(|(state, name)| (name, number(state).unsigned_abs())))
}

fn registry(parts: &Parts, limits: &server::Limits, accounts: Accounts) -> Registry {
    let app = &parts.app;
    let mut all = Registry::default();
    let started = app.clock.now().timestamp_millis() as f64 / 1000.0;
    all.register_collector(Box::new(Process { started }));
    let registry = all.sub_registry_with_prefix("sightline");
    if let Some(requests) = &parts.requests {
        requests.register(registry);
    }
    limits.polls.register(registry);
    parts.events.register(registry);
    parts.store.statements.meter.register(registry);
    let engine = app.search.reader.engine();
    engine.meter().register(registry);
    engine.pace_meter().register(registry);
    app.integrations.meters.register(registry);
    registry.register_collector(Box::new(State {
        store: parts.store.clone(),
        app: app.clone(),
        limits: parts.limits.clone(),
        drift: parts.drift.clone(),
        accounts,
        folder: database::folder(&app.config.database_url()).unwrap_or_else(|| app.config.data_dir.clone().into()),
    }));
    all
}

/// Counters of other parts, read at each scrape.
struct State {
    store: OpenDatabase,
    app: Arc<App>,
    limits: Option<CallerLimits>,
    drift: Drift,
    accounts: Accounts,
    /// The folder of the database's file, or else of the service's other files.
    folder: PathBuf,
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("State")
    }
}

impl Collector for State {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let encoder = &mut encoder;
        let version = [([("version", env!("CARGO_PKG_VERSION"))], 1)];
        gauge(encoder, "build_info", "The version of the program", &version)?;
        self.caches(encoder)?;
        self.pools(encoder)?;
        self.search_accounts(encoder)?;
        counter(
            encoder,
            "database_statements",
            "Statements sent to the database",
            &[([], self.store.statements.count())],
        )?;
        let takes_writes = u64::from(self.store.write_probe.took_writes());
        gauge(encoder, "database_takes_writes", "1 if the database took the last probe", &[([], takes_writes)])?;
        if let Some(free) = disk::free_bytes(&self.folder) {
            gauge(encoder, "disk_free_bytes", "Free space of the disk with the service's files", &[([], free)])?;
        }
        let (callers, refusals) =
            self.limits.as_ref().map_or((0, 0), |limits| (limits.own().callers(), limits.own().refusals()));
        gauge(
            encoder,
            "rate_limit_callers",
            "Callers that have not regained their whole burst",
            &[([], callers as u64)],
        )?;
        counter(encoder, "rate_limit_refusals", "Requests and attempts over a limit", &[([], refusals)])?;
        self.drift(encoder)?;
        self.shared(encoder)
    }
}

impl State {
    /// Metrics of what differs from others.
    fn drift(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let found = self.drift.found();
        let differing = [([], found.settings.len() as u64)];
        gauge(encoder, "settings_differing", "Settings that differ from those of another replica", &differing)?;
        let help = "Time by which the clock of a server is ahead of that of this machine";
        let mut family = encoder.encode_descriptor("clock_offset_seconds", help, None, MetricType::Gauge)?;
        let known = [("database", Some(found.database.unwrap_or_default())), ("redis", found.redis)];
        for (server, lead) in known {
            if let Some(lead) = lead {
                ConstGauge::new(lead.as_seconds_f64()).encode(family.encode_family(&[("server", server)])?)?;
            }
        }
        Ok(())
    }

    /// Metrics of the state that replicas share, if there is any.
    fn shared(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let Some(shared) = &self.app.shared else { return Ok(()) };
        let links = ["counters", "values"].into_iter().zip(shared.uses());
        let links: Vec<_> = links.collect();
        let up: Vec<_> = links.iter().map(|(name, used)| ([("link", *name)], u64::from(used.is_up()))).collect();
        gauge(encoder, "redis_up", "1 if Redis answers", &up)?;
        let calls: Vec<_> = links
            .iter()
            .flat_map(|(name, used)| {
                let outcomes = [("answered", &used.answered), ("failed", &used.failed), ("skipped", &used.skipped)];
                outcomes
                    .map(|(outcome, count)| ([("link", *name), ("outcome", outcome)], count.load(Ordering::Relaxed)))
            })
            .collect();
        counter(encoder, "redis_calls", "Calls of Redis, by what came of them", &calls)?;
        gauge(encoder, "replicas", "Replicas that share Redis and live", &[([], u64::from(shared.replicas()))])?;
        let readings = self.app.search.reader.shared_uses();
        let came: Vec<_> = readings.into_iter().map(|(what, count)| ([("outcome", what)], count)).collect();
        counter(encoder, "shared_readings", "Readings wanted of other replicas, by what came of it", &came)
    }

    fn search_accounts(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let used = self.app.search.reader.engine().quota_used().map(|(of, used)| ([("of", of)], used));
        let help = "Share of what may be sent to the search engine at once that is used up";
        gauge(encoder, "search_engine_quota_used_ratio", help, &used)?;
        let accounts = *self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(accounts) = accounts else { return Ok(()) };
        let accounts = accounts.map(|(state, number)| ([("state", state)], number));
        gauge(encoder, "search_accounts", "Search accounts, by the state of their grants", &accounts)
    }

    fn caches(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let caches = [
            ("readings", self.app.search.reader.cache_use()),
            ("answers", self.app.search.answers.cache_use()),
            ("providers", self.app.integrations.paid_answers.cache_use()),
        ];
        let each = |value: fn(&CacheUse) -> u64| caches.map(|(name, used)| ([("cache", name)], value(&used)));
        gauge(encoder, "cache_entries", "Values in a cache", &each(|used| used.entries as u64))?;
        gauge(encoder, "cache_bytes", "Estimated memory of a cache", &each(|used| used.bytes as u64))?;
        gauge(encoder, "cache_max_bytes", "Budget of a cache", &each(|used| used.max_bytes as u64))?;
        counter(encoder, "cache_hits", "Values found in a cache", &each(|used| used.hits))?;
        counter(encoder, "cache_insertions", "Values stored in a cache", &each(|used| used.insertions))
    }

    fn pools(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let reader = connections(&self.store.reader);
        let writer = connections(&self.store.writer);
        let named = |pool, state, number| ([("pool", pool), ("state", state)], number);
        let all = [
            named("reader", "used", reader.0),
            named("reader", "idle", reader.1),
            named("writer", "used", writer.0),
            named("writer", "idle", writer.1),
        ];
        // On `PostgreSQL` both are one pool.
        let is_one = self.store.reader.get_database_backend() == DbBackend::Postgres;
        let shown = if is_one { &all[..2] } else { &all[..] };
        gauge(encoder, "database_connections", "Connections to the database, by pool and state", shown)
    }
}

/// The connections of a pool that are in use and that are idle.
fn connections(db: &DatabaseConnection) -> (u64, u64) {
    let (size, idle) = if db.get_database_backend() == DbBackend::Postgres {
        let pool = db.get_postgres_connection_pool();
        (pool.size(), pool.num_idle())
    } else {
        let pool = db.get_sqlite_connection_pool();
        (pool.size(), pool.num_idle())
    };
    let (size, idle) = (u64::from(size), idle as u64);
    (size.saturating_sub(idle), idle)
}

type Labelled<const N: usize, V = u64> = ([(&'static str, &'static str); N], V);

fn gauge<const N: usize, V: EncodeGaugeValue + Copy>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: &[Labelled<N, V>],
) -> fmt::Result {
    let mut encoder = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (labels, value) in values {
        if labels.is_empty() {
            return ConstGauge::new(*value).encode(encoder);
        }
        ConstGauge::new(*value).encode(encoder.encode_family(labels)?)?;
    }
    Ok(())
}

fn counter<const N: usize>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: &[Labelled<N>],
) -> fmt::Result {
    let mut encoder = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (labels, value) in values {
        if labels.is_empty() {
            return ConstCounter::new(*value).encode(encoder);
        }
        ConstCounter::new(*value).encode(encoder.encode_family(labels)?)?;
    }
    Ok(())
}
