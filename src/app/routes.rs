//! The router and the layers in front of it.

use std::sync::Arc;

use api::document::Locations;
use poem::{EndpointExt, Route, endpoint::BoxEndpoint, middleware::Compression, web::CompressionAlgo};

use super::{Parts, parts::audience};
use crate::{
    error::Error,
    handlers::documentation,
    identity::metadata::ResourceMetadata,
    middleware::{
        api_version::ApiVersion,
        authenticate::Authenticate,
        body_limit::{BodyLimit, BodyVerdict},
        codings::Codings,
        conditional::Conditional,
        correlation::Correlation,
        envelope::Envelope,
        options::Options,
        property_access::ResolveProperty,
        rate_limit::RateLimit,
        standing_headers::StandingHeaders,
        writes::Writes,
    },
    services::replays::Running,
    store::rate_limit::{Rate, RateLimits},
};

/// What paths outside the table of operations allow.
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

/// Everything that the service answers.
pub(super) async fn routes(parts: &Parts) -> Result<BoxEndpoint<'static>, Error> {
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
    let open = open.ok_or_else(|| Error::internal("Swagger UI has changed its shape"))?;

    let limits = config.rate_limit.enabled.then(|| Arc::new(RateLimits::new(app.clock.clone())));
    let anonymous = Rate::new(config.rate_limit.per_minute, config.rate_limit.burst);
    let authenticate = Authenticate {
        authenticator: parts.authenticator.clone(),
        audience: audience(config, base_url),
        base_url: base_url.clone(),
        config: config.clone(),
        clock: app.clock.clone(),
        limits: limits.clone(),
    };
    let resolve = ResolveProperty {
        db: app.db.clone(),
        writer: parts.writer.clone(),
        config: config.clone(),
        clock: app.clock.clone(),
    };
    let writes = Writes {
        db: app.db.clone(),
        writer: parts.writer.clone(),
        store: config.idempotency.store,
        max_bytes_per_user: config.idempotency.max_bytes_per_user.0,
        secrets: app.search.secrets.clone(),
        running: Running::default(),
        clock: app.clock.clone(),
        random: app.random.clone(),
    };
    let operations = api::document::routes(app)
        .with(Conditional)
        .with(writes)
        .with(BodyVerdict)
        .with(resolve)
        .with(RateLimit { limits, anonymous })
        .with(authenticate)
        .with(Options);
    let endpoint = Route::new()
        .nest_no_strip("/api", operations)
        .nest_no_strip("/", open.with(BodyVerdict))
        .with(BodyLimit)
        .with(Envelope::new(OTHER_PATHS))
        .with(ApiVersion)
        .with(StandingHeaders)
        .with(Compression::new().algorithms([CompressionAlgo::GZIP, CompressionAlgo::BR]))
        .with(Codings)
        .with(Correlation { clock: app.clock.clone(), random: app.random.clone() });
    Ok(endpoint.map_to_response().boxed())
}

/// Where the document says that the server and its OAuth endpoints are. An external issuer that is away at start is named by
/// its usual paths; the document is made again at the next start.
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
