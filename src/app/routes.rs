//! The router and its middleware.

use ::http::HeaderName;
use api::document::Locations;
use poem::{EndpointExt as _, Route, endpoint::BoxEndpoint};

use super::{Parts, parts::audience};
use crate::{
    config::Config,
    error::Error,
    http::{
        self, Layers, access::Authorize, authenticate::Authenticate, client_address::NameClient, failures::Failures,
        idempotency::Writes, rate_limit::RateLimit,
    },
    services::replays::Running,
    store::{in_flight::InFlight, rate_limit::Rate},
    urls::is_https,
    web::{documentation, well_known::ResourceMetadata},
};

/// The allowed methods of paths outside the table of operations.
const OTHER_PATHS: &[(&str, &str)] = &[
    ("/.well-known/oauth-protected-resource", "GET, HEAD, OPTIONS"),
    ("/.well-known/oauth-protected-resource/mcp", "GET, HEAD, OPTIONS"),
    ("/.well-known/oauth-authorization-server", "GET, HEAD, OPTIONS"),
    ("/.well-known/openid-configuration", "GET, HEAD, OPTIONS"),
    ("/openapi.json", "GET, HEAD"),
    ("/docs", "GET, HEAD"),
    ("/docs/start.js", "GET, HEAD"),
    ("/docs/swagger-ui.js", "GET, HEAD"),
    ("/docs/swagger-ui.css", "GET, HEAD"),
    ("/docs/oauth2-redirect.html", "GET, HEAD"),
    ("/auth/login", "GET, HEAD"),
    ("/auth/callback", "GET, HEAD"),
    ("/auth/logout", "POST"),
    ("/oauth/authorize", "GET, HEAD, POST"),
    ("/oauth/token", "OPTIONS, POST"),
    ("/oauth/register", "OPTIONS, POST"),
    ("/oauth/revoke", "OPTIONS, POST"),
    ("/oauth/userinfo", "GET, HEAD, OPTIONS, POST"),
    ("/oauth/jwks", "GET, HEAD, OPTIONS"),
];

/// All routes of the service.
pub(super) async fn routes(parts: &Parts) -> Result<BoxEndpoint<'static>, Error> {
    let open = documents_and_sign_in(parts).await?;
    let operations = api::document::routes(&parts.app).map_to_response();
    Ok(http::stack(layers(parts)?, operations, open).boxed())
}

fn layers(parts: &Parts) -> Result<Layers, Error> {
    let app = &parts.app;
    let (config, base_url) = (&app.config, &app.base_url);
    let failures = Failures(parts.limits.clone());
    Ok(Layers {
        clock: app.clock.clone(),
        random: app.random.clone(),
        https: is_https(base_url),
        client: NameClient {
            proxies: config.rate_limit.trusted_proxies.clone(),
            header: client_address_header(config)?,
        },
        other_paths: OTHER_PATHS,
        authenticate: Authenticate {
            admissions: parts.admissions.clone(),
            audience: audience(config, base_url),
            base_url: base_url.clone(),
            config: config.clone(),
            failures: failures.clone(),
        },
        rate_limit: RateLimit {
            limits: parts.limits.clone(),
            in_flight: InFlight::new(config.rate_limit.max_in_flight),
            anonymous: Rate::new(config.rate_limit.per_minute, config.rate_limit.burst),
        },
        authorize: Authorize {
            admissions: parts.admissions.clone(),
            writer: parts.store.writer.clone(),
            config: config.clone(),
            clock: app.clock.clone(),
            limits: parts.limits.clone(),
            failures,
        },
        writes: Writes {
            db: app.db.clone(),
            writer: parts.store.writer.clone(),
            statements: parts.store.statements.clone(),
            store: config.idempotency.store,
            max_bytes_per_user: config.idempotency.max_bytes_per_user.0,
            secrets: app.search.secrets.clone(),
            running: Running::default(),
            clock: app.clock.clone(),
            random: app.random.clone(),
        },
    })
}

/// Routes that are not operations: metadata, the embedded issuer, browser sign-in, the documentation.
async fn documents_and_sign_in(parts: &Parts) -> Result<Route, Error> {
    let app = &parts.app;
    let (config, base_url) = (&app.config, &app.base_url);
    let metadata = ResourceMetadata {
        api: audience(config, base_url),
        mcp: format!("{}/mcp", config.mcp_url(base_url)),
        issuer: app.issuer.url().to_owned(),
    };
    let mut open = metadata.mount(Route::new());
    if let Some(provider) = &parts.provider {
        open = provider.mount(open);
    }
    if let Some(sign_in) = &parts.sign_in {
        open = sign_in.mount(open);
    }
    let document = api::document::document(&locations(parts).await);
    let open = documentation::mount(open, &document).await;
    open.ok_or_else(|| Error::internal("Swagger UI has changed its shape"))
}

fn client_address_header(config: &Config) -> Result<HeaderName, Error> {
    let name = &config.rate_limit.client_address_header;
    HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| Error::invalid("rate_limit.client_address_header: must be the name of a header"))
}

/// The URLs of the server and its OAuth endpoints for the document. If an external issuer is down at start, its usual paths
/// are used until the next start.
async fn locations(parts: &Parts) -> Locations {
    let app = &parts.app;
    let own = |path: &str| format!("{}{path}", app.issuer.url().trim_end_matches('/'));
    let mut locations = Locations {
        server: app.base_url.clone(),
        authorization_url: own("/oauth/authorize"),
        token_url: own("/oauth/token"),
    };
    if parts.provider.is_none()
        && let Ok(metadata) = app.issuer.metadata().await
    {
        locations.authorization_url = metadata.authorization_endpoint().url().to_string();
        locations.token_url =
            metadata.token_endpoint().map_or(locations.token_url, |endpoint| endpoint.url().to_string());
    }
    locations
}
