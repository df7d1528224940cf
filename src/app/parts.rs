//! The parts of a service, each built from the settings.

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use chrono::TimeDelta;
use url::Url;

use super::{Parts, http_client};
use crate::{
    admission::Admissions,
    clock::Clock,
    config::{Config, Secret},
    embedded_issuer::{IdentityProvider, Settings as IssuerSettings, clients},
    error::Error,
    handlers::{App, discovery::Index},
    identity::{Users, issuer::Issuer, jwks::Jwks, relying_party::RelyingParty, session::Sessions, token::Verifier},
    random::Random,
    search_engine::{OauthSettings, Pace, Reader, SearchEngine, Settings as EngineSettings},
    secrets::Secrets,
    server,
    services::{
        analyses::{
            rendered::Answers,
            search_data::{SearchData, StoredGrants},
            weeks::Weeks,
        },
        system::HealthCheck,
        users::StoredUsers,
    },
    simulator::{self, Simulator},
    store::{
        database::{self, Opened},
        rate_limit::RateLimits,
    },
    urls::{is_loopback, without_credentials},
    web::sign_in::BrowserSignIn,
};

/// The divisor of the cache's budget for rendered responses. Readings take the rest.
const RENDERED_SHARE: u64 = 4;

/// Refuses passwordless demo sign-in if other machines could use it: at the bound address, or at one of the public URLs,
/// which may lead through a proxy.
pub fn check_exposure(config: &Config, address: SocketAddr, base_url: &str) -> Result<(), Error> {
    if !config.embeds_issuer() {
        return Ok(());
    }
    let bound = format!("http://{address}");
    let mcp_url = config.mcp_url(base_url);
    let addresses = [("listen", bound.as_str()), ("base_url", base_url), ("mcp.url", &mcp_url)];
    let is_exposed = |url: &str| !Url::parse(url).is_ok_and(|url| is_loopback(&url));
    match addresses.into_iter().find(|(_, url)| is_exposed(url)) {
        Some((setting, url)) => Err(Error::invalid(format!(
            "{setting}: {url} is no loopback address, and the embedded issuer signs demo people in without a password. Set \
             identity.issuer to an issuer of your own, or use a loopback address such as 127.0.0.1"
        ))),
        None => Ok(()),
    }
}

/// Limits on the connections to the service.
pub fn connection_limits(config: &Config) -> server::Limits {
    server::Limits {
        connections: config.connections.max,
        per_address: config.connections.max_per_address,
        trusted: config.rate_limit.trusted_proxies.clone(),
        deadlines: config.connections.deadlines,
    }
}

/// Starts the simulated search engine, if no other is configured.
pub async fn simulator(config: &Config, clock: &Clock) -> Result<Option<Simulator>, Error> {
    if !config.simulates_search_engine() {
        return Ok(None);
    }
    let settings = simulator_settings(&config.simulator)?;
    let started = simulator::start(settings, clock.clone()).await;
    started
        .map(Some)
        .map_err(|e| Error::invalid(format!("simulator.listen: {} cannot be bound: {e}", config.simulator.listen)))
}

/// The simulator's own settings.
pub fn simulator_settings(config: &crate::config::Simulator) -> Result<simulator::Settings, Error> {
    let faults: Result<Vec<simulator::Fault>, Error> = config
        .fail
        .iter()
        .map(|text| text.parse().map_err(|e| Error::invalid(format!("simulator.fail: {text}: {e}"))))
        .collect();
    let conflicts = config.conflicts.join(",");
    Ok(simulator::Settings {
        listen: config.listen,
        seed: config.seed,
        today: config.today,
        latency: Duration::from_millis(config.latency_ms),
        faults: faults?,
        conflicts: conflicts.parse().map_err(|e| Error::invalid(format!("simulator.conflicts: {e}")))?,
    })
}

/// Builds everything behind the router. `simulated` is the root URL of the simulated search engine.
pub async fn build(
    config: Config,
    base_url: String,
    simulated: Option<String>,
    clock: Clock,
    random: Random,
) -> Result<Parts, Error> {
    let store = open_database(&config).await?;
    let (db, writer) = (store.reader.clone(), store.writer.clone());
    let secrets = Secrets::new(secret_key(&config, &random).await?, random.clone());
    let http = http_client()?;
    let config = Arc::new(config);
    let search = search_data(&config, &store, &secrets, simulated, http.clone(), &clock, &random);
    let issuer_url = config.identity.issuer.clone().unwrap_or_else(|| base_url.clone());
    let issuer =
        Issuer::new(&issuer_url, http, clock.clone()).map_err(|e| Error::invalid(format!("identity.issuer: {e}")))?;
    let users: Arc<dyn Users> = Arc::new(StoredUsers {
        db: writer.clone(),
        random: random.clone(),
        clock: clock.clone(),
        trial_days: config.billing.trial_days,
    });
    let sessions = Sessions::new(writer.clone(), clock.clone(), random.clone());
    let keys = Jwks::new(issuer.clone(), clock.clone());
    let verifier = Verifier::new(keys.clone(), clock.clone());
    let admissions = Admissions::new(verifier, users.clone(), &store, config.clone(), clock.clone(), &base_url);
    let limits = config.rate_limit.enabled.then(|| Arc::new(RateLimits::new(clock.clone())));
    let provider = config.embeds_issuer().then(|| {
        let settings = IssuerSettings {
            base_url: base_url.clone(),
            audiences: vec![audience(&config, &base_url), format!("{}/mcp", config.mcp_url(&base_url))],
            demo_sign_in: config.demo_sign_in(),
        };
        IdentityProvider::new(settings, writer.clone(), secrets.clone(), clock.clone(), random.clone())
            .with_limits(limits.clone())
    });
    let client_id =
        config.identity.client_id.clone().or_else(|| config.embeds_issuer().then(|| clients::WEB.to_owned()));
    let sign_in = client_id.map(|client_id| {
        let secret = config.identity.client_secret.clone().map(|secret| secret.0);
        let party = RelyingParty::new(keys, &client_id, secret, &base_url, clock.clone());
        let party = party.map_err(|e| Error::invalid(format!("base_url: {e}")))?;
        let (clock, random) = (clock.clone(), random.clone());
        Ok::<_, Error>(BrowserSignIn::new(party, sessions.clone(), users, secrets, clock, random, &base_url))
    });
    let sign_in = sign_in.transpose()?;
    let health = HealthCheck::new(db.clone(), issuer.clone(), search.clone());
    let index = Index::new(&base_url, &config.mcp_url(&base_url));
    let app = Arc::new(App { config, base_url, index, db, search, issuer, health, clock, random });
    Ok(Parts { app, store, admissions, sessions, provider, sign_in, limits })
}

/// Opens the configured database and applies pending migrations.
pub async fn open_database(config: &Config) -> Result<Opened, Error> {
    make_data_folder(config).await?;
    let url = config.database_url();
    let opened = database::open(&url, config.database.max_connections).await;
    let opened = opened.map_err(|error| {
        // The driver's message repeats the URL, which may contain a password.
        let reason = error.to_string().replace(&url, "…");
        Error::invalid(format!("database.url: {} cannot be opened: {reason}", without_credentials(&url)))
    })?;
    database::migrate(&opened.writer).await?;
    Ok(opened)
}

/// Creates the folder of the default database, if it does not exist.
pub async fn make_data_folder(config: &Config) -> Result<(), Error> {
    if config.database.url.is_none() {
        make_private_folder(&config.data_dir).await.map_err(Error::internal)?;
    }
    Ok(())
}

/// Creates a folder that only its owner can read, if it does not exist.
async fn make_private_folder(path: &str) -> std::io::Result<()> {
    let mut builder = tokio::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    builder.mode(0o700);
    builder.create(path).await
}

/// The required audience of access tokens.
pub fn audience(config: &Config, base_url: &str) -> String {
    config.identity.audience.clone().unwrap_or_else(|| base_url.to_owned())
}

fn search_data(
    config: &Config,
    store: &Opened,
    secrets: &Secrets,
    simulated: Option<String>,
    http: reqwest::Client,
    clock: &Clock,
    random: &Random,
) -> SearchData {
    let sink = StoredGrants { db: store.writer.clone(), secrets: secrets.clone(), clock: clock.clone() };
    let settings = engine_settings(config, simulated);
    let engine = SearchEngine::new(settings, http, clock.clone(), random.clone(), Arc::new(sink));
    let budget = config.cache.max_bytes.0;
    let bytes = |share: u64| usize::try_from(share).unwrap_or(usize::MAX);
    let ttl = TimeDelta::from_std(config.cache.ttl.duration()).unwrap_or(TimeDelta::hours(6));
    let rendered = budget / RENDERED_SHARE;
    SearchData {
        db: store.reader.clone(),
        writer: store.writer.clone(),
        secrets: secrets.clone(),
        clock: clock.clone(),
        reader: Reader::new(Arc::new(engine), clock.clone(), bytes(budget - rendered), ttl),
        answers: Answers::new(bytes(rendered), clock.clone()),
        weeks: Weeks::default(),
    }
}

fn engine_settings(config: &Config, simulated: Option<String>) -> EngineSettings {
    let own = &config.search_engine;
    let root = simulated.unwrap_or_default();
    let or_simulated =
        |setting: &Option<String>, path: &str| setting.clone().unwrap_or_else(|| format!("{root}{path}"));
    EngineSettings {
        api_url: or_simulated(&own.api_url, "").trim_end_matches('/').to_owned(),
        oauth: OauthSettings {
            authorize_url: or_simulated(&own.authorize_url, "/o/oauth2/v2/auth"),
            token_url: or_simulated(&own.token_url, "/token"),
            revoke_url: or_simulated(&own.revoke_url, "/revoke"),
            userinfo_url: or_simulated(&own.userinfo_url, "/userinfo"),
            client_id: own.client_id.clone().unwrap_or_else(|| "sightline".to_owned()),
            client_secret: own.client_secret.clone().map_or_else(|| "simulated".to_owned(), |secret| secret.0).into(),
        },
        pace: Pace { max_in_flight: own.max_in_flight, bucket: own.bucket, refill_per_second: own.refill_per_second },
        patience: own.patience,
    }
}

/// The key that encrypts stored secrets: the configured one, or one that is generated once and stored in the data folder,
/// readable only by its owner.
async fn secret_key(config: &Config, random: &Random) -> Result<[u8; 32], Error> {
    if let Some(Secret(digits)) = &config.secrets.key {
        return parse_key(digits).ok_or_else(|| Error::invalid("secrets.key: must be 64 hex digits"));
    }
    let path = Path::new(&config.data_dir).join("secrets.key");
    if let Ok(digits) = tokio::fs::read_to_string(&path).await {
        return parse_key(digits.trim())
            .ok_or_else(|| Error::invalid(format!("{}: must hold 64 hex digits", path.display())));
    }
    make_private_folder(&config.data_dir).await.map_err(Error::internal)?;
    let key = random.bytes::<32>();
    let digits = key.iter().fold(String::with_capacity(64), |digits, byte| digits + &format!("{byte:02x}"));
    write_private(&path, &digits).await.map_err(Error::internal)?;
    Ok(key)
}

async fn write_private(path: &Path, text: &str) -> std::io::Result<()> {
    use tokio::io::AsyncWriteExt as _;
    let mut options = tokio::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    options.mode(0o600);
    let mut file = options.open(path).await?;
    file.write_all(text.as_bytes()).await?;
    file.sync_all().await
}

fn parse_key(digits: &str) -> Option<[u8; 32]> {
    let bytes = digits.as_bytes();
    if bytes.len() != 64 || !bytes.iter().all(u8::is_ascii_hexdigit) {
        return None;
    }
    let mut key = [0; 32];
    for (byte, pair) in key.iter_mut().zip(bytes.chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(key)
}
