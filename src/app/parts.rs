//! The parts of a service, each built from the settings.

use std::{collections::BTreeSet, net::SocketAddr, sync::Arc};

use chrono::TimeDelta;
use common::{base_url::BaseUrl, clock::Clock, random::Random, secrets::Secrets, urls};
use identity::{departures::Departures, issuer::Issuer, jwks::Jwks, relying_party::RelyingParty, session::Sessions};
use issuer::{
    clients,
    upstream::{self, Upstream, rules::Rules},
};
use replicas::Shared;
use search_engine::{OauthSettings, Pace, Quota, Reader, SearchEngine, Settings as EngineSettings};
use store::{database::OpenDatabase, database_file::DatabaseFile};
use telemetry::{
    events::EventMeter,
    polls::PollMeter,
    requests::RequestMeter,
    traces::{Source, Traces},
};
use url::Url;

use super::{
    Parts, basis::Basis, capacity, data::open_database, http_client, http_client_to, key_file, local_http_client,
    providers,
};
use crate::{
    admission::Admissions,
    caller_limits::CallerLimits,
    config::{Config, IdentifierUrl, SecureUrl},
    demo,
    error::Error,
    handlers::{App, discovery::Index, lists::Lists},
    server,
    services::{
        analyses::{answers::Answers, search_data::SearchData, weeks::Weeks},
        drift::Drift,
        health::HealthCheck,
        privacy::Privacy,
        search_accounts::grants::StoredGrants,
        system_annotations::SystemAnnotations,
        waiting::Waiting,
    },
    web::account,
};

/// The divisor of the cache's budget for rendered responses. Readings take the rest.
const RENDERED_SHARE: u64 = 4;

/// Returns whether the demo people are present. They need no password, so other machines must not reach them: at the bound
/// address, or at one of the public URLs, which may lead through a proxy.
///
/// # Errors
/// They are asked for by name where others can reach them, or passwords would travel unencrypted.
pub fn demo_people(config: &Config, address: SocketAddr, base_url: &BaseUrl) -> Result<bool, Error> {
    if !config.embeds_issuer() || !demo::IS_BUILT_IN {
        return Ok(false);
    }
    if !base_url.is_secure() {
        return Err(Error::invalid(format!(
            "base_url: {base_url} is neither https nor a loopback address, and the embedded issuer takes passwords there. Set base_url \
             to the https address of a proxy, set identity.issuer to an issuer of your own, or use a loopback address such as 127.0.0.1"
        )));
    }
    let addresses = [
        ("listen", BaseUrl::of_address(address)),
        ("base_url", base_url.clone()),
        ("mcp.url", config.mcp_url(base_url)),
    ];
    match addresses.into_iter().find(|(_, url)| !url.is_loopback()) {
        Some((setting, url)) if config.identity.demo_sign_in == Some(true) => Err(Error::invalid(format!(
            "{setting}: {url} is not a loopback address, and with identity.demo_sign_in the embedded issuer signs demo people in without a \
             password. Remove identity.demo_sign_in, set identity.issuer to an issuer of your own, or use a loopback address such as \
             127.0.0.1"
        ))),
        Some(_) => Ok(false),
        None => Ok(config.simulates_search_engine() || config.demo_sign_in()),
    }
}

/// Limits on the connections to the service.
pub fn connection_limits(config: &Config) -> server::Limits {
    server::Limits {
        connections: capacity::connections(config),
        per_address: config.connections.max_per_address,
        trusted: config.rate_limit.trusted_proxies.clone(),
        deadlines: config.connections.deadlines,
        polls: PollMeter::default(),
    }
}

/// Builds everything behind the router. `simulated` is the root URL of the simulated search engine.
pub async fn build(
    config: Config,
    base_url: BaseUrl,
    demo_people: bool,
    simulated: Option<String>,
    clock: Clock,
    random: Random,
) -> Result<Parts, Error> {
    let store = open_database(&config).await?;
    let traces = traces(&config, &clock, &random)?;
    let (db, writer) = (store.reader.clone(), store.writer.clone());
    let secrets = key_file::secrets(&config, &random, &writer).await?;
    let http = http_client()?;
    // The simulator is on this machine.
    let engine_http = if simulated.is_some() { local_http_client()? } else { http.clone() };
    let config = Arc::new(config);
    let shared = shared_state(&config, &secrets, &clock, &random).await?;
    let events = EventMeter::default();
    let basis = Basis {
        events: &events,
        config: &config,
        base_url: &base_url,
        writer: &writer,
        secrets: &secrets,
        clock: &clock,
        random: &random,
    };
    let search = search_data(&basis, &store, simulated.as_deref(), engine_http.clone(), shared.as_ref())?;
    let upstream = upstream(&config, &base_url, &http, &clock)?;
    let issuer = issuer(&config, &base_url, &clock)?;
    let departures = Departures::open(&writer, &secrets, &random).await?;
    let users = basis.users(&departures);
    let sessions = Sessions::new(writer.clone(), clock.clone(), random.clone());
    let keys = Jwks::new(issuer.clone(), clock.clone());
    let verifier = basis.verifier(&keys);
    let admissions = Admissions::new(
        verifier.clone(),
        users.clone(),
        departures.clone(),
        &store,
        config.clone(),
        clock.clone(),
        &base_url,
    );
    let limits =
        config.rate_limit.enabled.then(|| CallerLimits::new(clock.clone(), shared.as_ref().map(Shared::limits)));
    let provider = basis.provider(demo_people, upstream)?;
    let sign_in = client_id(&config).map(|client_id| basis.sign_in(&client_id, keys, &sessions, users)).transpose()?;
    let integrations = providers::integrations(&config, &search, simulated.as_deref(), &engine_http, shared.as_ref());
    let (drift, health) = health(&basis, &store, &issuer, &search, shared.clone());
    let app = Arc::new(App {
        index: Index::new(&base_url, &config.mcp_url(&base_url)),
        health,
        privacy: Privacy::new(search.clone(), departures, verifier, integrations.clone(), random.clone()),
        lists: Lists::default(),
        config,
        base_url,
        db,
        shared,
        search,
        integrations,
        issuer,
        clock,
        random,
    });
    let requests = app.config.metrics.listen.map(|_| Arc::new(request_meter()));
    Ok(Parts { app, store, admissions, sessions, provider, sign_in, limits, requests, events, drift, traces })
}

fn request_meter() -> RequestMeter {
    RequestMeter::new(api::operation::all().iter().map(|operation| operation.id))
}

/// The exporter of spans, if there is one.
fn traces(config: &Config, clock: &Clock, random: &Random) -> Result<Traces, Error> {
    let Some(collector) = &config.traces.otlp_endpoint else { return Ok(Traces::default()) };
    let source = Source { version: env!("CARGO_PKG_VERSION"), instance: random.id(clock.now()).to_string() };
    Traces::to(&collector.of_traces(), http_client_to(collector.as_str())?, source)
        .map_err(|refused| Error::invalid(format!("traces.otlp_endpoint: {refused}")))
}

/// The comparison with other replicas, and the check of health that says what it finds.
fn health(
    basis: &Basis,
    store: &OpenDatabase,
    issuer: &Issuer,
    search: &SearchData,
    shared: Option<Shared>,
) -> (Drift, HealthCheck) {
    let Basis { config, base_url, writer, clock, random, .. } = *basis;
    let drift = Drift::new(config.digests(base_url), writer.clone(), shared.clone(), clock.clone(), random);
    let (file, writes) = (DatabaseFile::of(&config.database_url()), store.write_probe.clone());
    let (db, issuer, search) = (store.reader.clone(), issuer.clone(), search.clone());
    let health = HealthCheck::new(shared, db, writes, file, issuer, search, drift.clone());
    (drift, health)
}

/// Connects to Redis, if it is set, and tells what an operator should know of it.
async fn shared_state(
    config: &Config,
    secrets: &Secrets,
    clock: &Clock,
    random: &Random,
) -> Result<Option<Shared>, Error> {
    let Some(addresses) = config.redis.addresses() else { return Ok(None) };
    let distinct = BTreeSet::from([&addresses.counters, &addresses.cache]);
    for url in distinct.into_iter().filter_map(|url| Url::parse(url).ok()) {
        if url.scheme() == "redis" && !urls::is_loopback(&url) {
            let host = url.host_str().unwrap_or_default();
            tracing::warn!(
                host,
                "Redis is reached in clear: use rediss:// beyond this machine, or a network of your own"
            );
        }
    }
    let shared = Shared::open(&addresses, secrets.clone(), clock.clone(), random).await;
    let shared = shared.map_err(|error| Error::invalid(format!("redis.url: {error}")))?;
    for warning in shared.warnings().await {
        tracing::warn!("{warning}");
    }
    Ok(Some(shared))
}

/// The client as which the service signs browsers in. `None` if another issuer knows none for it.
fn client_id(config: &Config) -> Option<String> {
    let own = config.identity.client_id.clone();
    own.or_else(|| config.embeds_issuer().then(|| clients::WEB.to_owned()))
}

/// The issuer of the tokens that the service accepts.
fn issuer(config: &Config, base_url: &BaseUrl, clock: &Clock) -> Result<Issuer, Error> {
    let url = config.identity.issuer.as_ref().map_or(base_url.as_str(), IdentifierUrl::as_str);
    let issuer = Issuer::new(url, http_client_to(url)?, clock.clone());
    let issuer = issuer.map_err(|e| Error::invalid(format!("identity.issuer: {e}")))?;
    Ok(if config.embeds_issuer() { issuer.embedded() } else { issuer })
}

/// The other provider at which people sign in to the embedded issuer.
fn upstream(
    config: &Config,
    base_url: &BaseUrl,
    http: &reqwest::Client,
    clock: &Clock,
) -> Result<Option<Upstream>, Error> {
    let own = &config.identity.sign_in;
    let (Some(url), Some(client_id)) = (&own.issuer, &own.client_id) else { return Ok(None) };
    let issuer = Issuer::new(url.as_str(), http.clone(), clock.clone());
    let issuer = issuer.map_err(|e| Error::invalid(format!("identity.sign_in.issuer: {e}")))?;
    let secret = own.client_secret.clone().map(|secret| secret.0);
    let back = base_url.join(upstream::CALLBACK);
    let party = RelyingParty::new(Jwks::new(issuer, clock.clone()), client_id, secret, back, clock.clone());
    let party = party.map_err(|e| Error::invalid(format!("base_url: {e}")))?.trusting(own.trusted_audiences.clone());
    let rules = Rules::new(&own.allowed_domains, &own.allowed_emails, own.emails_are_verified);
    Ok(Some(Upstream::new(party, rules)))
}

fn search_data(
    basis: &Basis,
    store: &OpenDatabase,
    simulated: Option<&str>,
    http: reqwest::Client,
    shared: Option<&Shared>,
) -> Result<SearchData, Error> {
    let Basis { config, secrets, clock, random, .. } = *basis;
    let connections = config.database.max_connections;
    let (writer, reader) = (store.writer.clone(), store.reader.clone());
    let grants = StoredGrants::new(writer, reader, connections, secrets.clone(), clock.clone());
    let settings = engine_settings(config, simulated);
    let engine = SearchEngine::new(settings, http, clock.clone(), random.clone(), Arc::new(grants), shared);
    let budget = config.cache.max_bytes.0;
    let bytes = |share: u64| usize::try_from(share).unwrap_or(usize::MAX);
    let ttl = TimeDelta::from_std(config.cache.ttl.duration()).unwrap_or(TimeDelta::hours(6));
    let rendered = budget / RENDERED_SHARE;
    let readings = shared.map(Shared::readings);
    Ok(SearchData {
        db: store.reader.clone(),
        writer: store.writer.clone(),
        secrets: secrets.clone(),
        clock: clock.clone(),
        reader: Reader::new(Arc::new(engine), clock.clone(), bytes(budget - rendered), ttl, readings),
        answers: Answers::new(bytes(rendered), clock.clone()),
        weeks: Weeks::default(),
        system_annotations: SystemAnnotations::load(&config.annotations)?,
        account_page: client_id(config).map(|_| basis.base_url.join(account::PATH).into()),
        lane: None,
        waiting: Waiting::default(),
    })
}

/// The settings of the search engine. `simulated` is the root URL of the simulated one.
pub fn engine_settings(config: &Config, simulated: Option<&str>) -> EngineSettings {
    let own = &config.search_engine;
    let or_default = |setting: &Option<SecureUrl>, path: &str, real: &str| match (setting, &simulated) {
        (Some(url), _) => url.to_string(),
        (None, Some(root)) => format!("{root}{path}"),
        (None, None) => real.to_owned(),
    };
    EngineSettings {
        api_url: or_default(&own.api_url, "", "https://searchconsole.googleapis.com").trim_end_matches('/').to_owned(),
        oauth: OauthSettings {
            authorize_url: or_default(
                &own.authorize_url,
                "/o/oauth2/v2/auth",
                "https://accounts.google.com/o/oauth2/v2/auth",
            ),
            token_url: or_default(&own.token_url, "/token", "https://oauth2.googleapis.com/token"),
            revoke_url: or_default(&own.revoke_url, "/revoke", "https://oauth2.googleapis.com/revoke"),
            userinfo_url: or_default(
                &own.userinfo_url,
                "/userinfo",
                "https://openidconnect.googleapis.com/v1/userinfo",
            ),
            client_id: own.client_id.clone().unwrap_or_else(|| "sightline".to_owned()),
            client_secret: own.client_secret.clone().map_or_else(|| "simulated".to_owned(), |secret| secret.0).into(),
        },
        pace: Pace {
            max_in_flight: own.max_in_flight,
            bucket: own.bucket,
            refill_per_second: own.refill_per_second,
            quota: Quota { per_minute: own.quota.per_minute, per_day: own.quota.per_day },
        },
        patience: own.patience,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    #[test]
    fn a_client_without_urls_is_one_of_the_real_search_engine() {
        let mut config = Config::default();
        assert!(config.simulates_search_engine() && config.connects_search_accounts() && config.demo_sign_in());
        let simulated = engine_settings(&config, Some("http://127.0.0.1:9"));
        assert_eq!(
            (simulated.api_url.as_str(), simulated.oauth.client_id.as_str()),
            ("http://127.0.0.1:9", "sightline")
        );
        assert_eq!(simulated.oauth.token_url, "http://127.0.0.1:9/token");

        config.search_engine.client_id = Some("client".to_owned());
        assert!(!config.simulates_search_engine() && !config.demo_sign_in());
        assert!(!config.connects_search_accounts(), "its secret is missing");
        config.search_engine.client_secret = Some(Secret("secret".to_owned()));
        assert!(config.connects_search_accounts());
        let real = engine_settings(&config, None);
        assert_eq!(real.api_url, "https://searchconsole.googleapis.com");
        assert_eq!(real.oauth.authorize_url, "https://accounts.google.com/o/oauth2/v2/auth");
        assert_eq!(real.oauth.userinfo_url, "https://openidconnect.googleapis.com/v1/userinfo");
    }
}
