//! The settings of the layers, and the paths outside the API.

use std::sync::Arc;

use api::{document::Locations, scope::Scope, versions::Versions};
use common::{
    base_url::{BaseUrl, SESSION_COOKIE},
    places::Places,
    rate_limit::Rate,
};
use pages::{
    page,
    paths::{Methods, Paths, TOOLS},
};
use poem::{Endpoint, EndpointExt as _, Response, endpoint::BoxEndpoint};
use serde_json::Value;

use super::{
    Parts,
    basis::{audience, mcp_audience, mcp_endpoint, navigation},
};
use crate::{
    admission::Surface,
    calls::Calls,
    config::Config,
    error::Error,
    http::{
        self, Layers,
        access::Authorize,
        authenticate::Authenticate,
        client_address::NameClient,
        cors::Cors,
        errors::Errors,
        failures::Failures,
        idempotency::Writes,
        origin::OwnOrigins,
        rate_limit::{self, RateLimit},
        tools::Tools,
        version::Served,
    },
    mcp,
    services::{applications::uses::SurfaceKind, connections::SearchConnections, warming::opened::OpenedPages},
    web::{
        account::{Account, search::SearchPages},
        changelog::Changelog,
        dashboard::{self, Dashboard},
        documentation,
        subscribe::Subscribe,
        well_known::{self, ResourceMetadata},
    },
};

/// All routes of the service.
pub(super) async fn routes(parts: &Parts) -> Result<BoxEndpoint<'static>, Error> {
    let locations = locations(parts).await;
    let document = api::document::document(&locations);
    let endpoint = mcp_endpoint(&parts.app.config, &parts.app.base_url);
    let open = documentation::mount(documents_and_sign_in(parts)?, &document, &locations.token_url, &endpoint);
    let mut open = open.ok_or_else(|| Error::internal("the token endpoint has no URL"))?;
    for (path, methods) in dashboard::paths() {
        open = open.elsewhere(path, methods);
    }
    let (open, methods) = open.elsewhere(TOOLS, "POST").into_parts();
    let operations = Arc::new(api::document::routes(&parts.app).map_to_response());
    let layers = layers(parts, methods)?;
    let tools = tools(parts, &layers, operations.clone(), document);
    Ok(http::stack(layers, operations, tools, open).boxed())
}

/// The tool endpoint.
fn tools(
    parts: &Parts,
    layers: &Layers,
    operations: impl Endpoint<Output = Response> + 'static,
    document: Value,
) -> Tools {
    let app = &parts.app;
    let mcp_url = app.config.mcp_url(&app.base_url);
    let (search, clock) = (app.search.clone(), app.clock.clone());
    Tools {
        address: mcp_endpoint(&app.config, &app.base_url),
        operations: mcp::dated(search.clone(), operations),
        authenticate: Authenticate {
            surface: Surface { kind: SurfaceKind::Tools, audience: mcp_audience(&app.config, &app.base_url) },
            metadata: mcp_url.join(well_known::MCP_PATH),
            first_scope: Some(Scope::SearchRead.as_str()),
            ..layers.authenticate.clone()
        },
        origins: layers.cors.tools.clone(),
        build: Box::new(move |operations| mcp::endpoint(&document, operations, search, clock)),
    }
}

/// The pages that may call the API and the tool endpoint.
fn cors(config: &Config, base_url: &BaseUrl) -> Cors {
    let origins: Vec<String> = config.cors.origins.iter().map(|origin| origin.as_str().to_owned()).collect();
    let (of_tools, loopback) = config.mcp.origins();
    let listed = [origins.clone(), of_tools].concat();
    let tools = OwnOrigins { tools: config.mcp_url(base_url), pages: base_url.clone(), listed, loopback };
    Cors { origins, tools: Arc::new(tools) }
}

fn name_client(config: &Config) -> NameClient {
    let own = &config.rate_limit;
    NameClient { proxies: own.trusted_proxies.clone(), header: own.client_address_header.clone() }
}

fn layers(parts: &Parts, other_paths: Methods) -> Result<Layers, Error> {
    let app = &parts.app;
    let (config, base_url) = (&app.config, &app.base_url);
    let failures = Failures(parts.limits.clone());
    let versions = Served::new(versions(config)?, base_url)?;
    let newest = versions.versions.newest();
    Ok(Layers {
        clock: app.clock.clone(),
        requests: parts.requests.clone(),
        traces: parts.traces.clone(),
        random: app.random.clone(),
        base_url: base_url.clone(),
        cors: Arc::new(cors(config, base_url)),
        client: name_client(config),
        deadlines: config.connections.deadlines,
        versions: Arc::new(versions),
        errors: Arc::new(Errors { other_paths, subscribe_url: config.subscribe_url(base_url) }),
        authenticate: Authenticate {
            admissions: parts.admissions.clone(),
            surface: Surface { kind: SurfaceKind::Api, audience: audience(config, base_url) },
            base_url: base_url.clone(),
            metadata: base_url.join(well_known::API_PATH),
            first_scope: None,
            config: config.clone(),
            failures: failures.clone(),
        },
        rate_limit: RateLimit {
            unread: rate_limit::unread(),
            limits: parts.limits.clone(),
            in_flight: Places::new(config.rate_limit.max_in_flight as usize),
            anonymous: Rate::new(config.rate_limit.per_minute, config.rate_limit.burst),
        },
        authorize: Authorize {
            admissions: parts.admissions.clone(),
            db: app.db.clone(),
            writer: parts.store.writer.clone(),
            config: config.clone(),
            clock: app.clock.clone(),
            limits: parts.limits.clone(),
            failures,
        },
        writes: Writes {
            db: parts.store.clone(),
            store: config.idempotency.store,
            max_bytes_per_user: config.idempotency.max_bytes_per_user.0,
            secrets: app.search.secrets.clone(),
            version: newest,
            keys: Places::new(1),
            clock: app.clock.clone(),
            random: app.random.clone(),
        },
        dashboard: dashboard(parts),
    })
}

/// The dashboard.
fn dashboard(parts: &Parts) -> Dashboard {
    let app = &parts.app;
    let (config, base_url) = (&app.config, &app.base_url);
    Dashboard {
        navigation: navigation(config, base_url),
        base_url: base_url.clone(),
        clock: app.clock.clone(),
        random: app.random.clone(),
        limits: parts.limits.clone(),
        signs_in: parts.sign_in.is_some(),
        opened: opened_pages(parts),
        calls: Arc::new(Calls {
            app: app.clone(),
            admissions: parts.admissions.clone(),
            meter: parts.requests.clone(),
            subscribe_url: config.subscribe_url(base_url),
        }),
    }
}

/// Notes what is opened, if it is read ahead.
fn opened_pages(parts: &Parts) -> OpenedPages {
    if parts.app.config.search_engine.warm {
        OpenedPages::start(parts.store.writer.clone(), parts.app.clock.clone())
    } else {
        OpenedPages::off()
    }
}

/// Routes that are not operations: metadata, the embedded issuer, browser sign-in, pages.
fn documents_and_sign_in(parts: &Parts) -> Result<Paths, Error> {
    let app = &parts.app;
    let (config, base_url) = (&app.config, &app.base_url);
    let metadata = ResourceMetadata {
        api: audience(config, base_url),
        mcp: mcp_endpoint(config, base_url),
        issuer: app.issuer.url().to_owned(),
    };
    let mut open = Changelog::new(&versions(config)?).mount(metadata.mount(Paths::default()));
    if let Some(provider) = &parts.provider {
        open = provider.mount(open);
    }
    if let Some(sign_in) = &parts.sign_in {
        open = sign_in.mount(open);
    }
    open = documentation::errors::mount(page::mount(open));
    if parts.sign_in.is_some() {
        open = account(parts).mount(open);
    }
    let admissions = parts.sign_in.is_some().then(|| parts.admissions.clone());
    let (config, base_url) = (config.clone(), base_url.clone());
    let plans =
        Subscribe { admissions: admissions.clone(), navigation: navigation(&config, &base_url), config, base_url };
    Ok(plans.mount(open))
}

fn account(parts: &Parts) -> Account {
    let app = &parts.app;
    Account {
        admissions: parts.admissions.clone(),
        config: app.config.clone(),
        base_url: app.base_url.clone(),
        tools: mcp_endpoint(&app.config, &app.base_url),
        audience: audience(&app.config, &app.base_url),
        clock: app.clock.clone(),
        sessions: parts.sessions.clone(),
        reader: app.db.clone(),
        writer: parts.store.writer.clone(),
        issuer: app.issuer.url().to_owned(),
        random: app.random.clone(),
        privacy: app.privacy.clone(),
        navigation: navigation(&app.config, &app.base_url),
        search: SearchPages::new(
            SearchConnections::new(
                app.search.clone(),
                parts.store.clone(),
                app.random.clone(),
                app.config.clone(),
                &app.base_url,
            ),
            &app.search.secrets,
            app.random.clone(),
            &app.base_url,
        ),
    }
}

fn versions(config: &Config) -> Result<Versions, Error> {
    Versions::new(config.releases.0).map_err(|error| Error::invalid(format!("releases: {error}")))
}

/// The URLs of the server and its OAuth endpoints for the document. If an external issuer is down at start, its usual paths
/// are used until the next start.
async fn locations(parts: &Parts) -> Locations {
    let app = &parts.app;
    let own = |path: &str| format!("{}{path}", app.issuer.url().trim_end_matches('/'));
    let mut locations = Locations {
        server: Some(app.base_url.to_string()),
        authorization_url: own("/oauth/authorize"),
        token_url: own("/oauth/token"),
        session_cookie: app.base_url.host_cookie(SESSION_COOKIE),
    };
    if parts.provider.is_none()
        && let Ok(metadata) = app.issuer.metadata().await
    {
        let (authorization, token) = (&metadata.authorization_endpoint, &metadata.token_endpoint);
        locations.authorization_url =
            authorization.as_ref().map_or(locations.authorization_url, |endpoint| endpoint.url().to_string());
        locations.token_url = token.as_ref().map_or(locations.token_url, |endpoint| endpoint.url().to_string());
    }
    locations
}
