//! The HTTP endpoints: routes a request, injects faults, and responds.

use std::sync::Arc;

use bytes::Bytes;
use percent_encoding::percent_decode_str;
use poem::http::{Method, StatusCode, header};
use poem::{Body, Endpoint as PoemEndpoint, Request, Response};
use serde_json::{Value, json};

use super::accounts::{Account, ListedSite, UNVERIFIED};
use super::controls::Endpoint;
use super::error::ApiError;
use super::fault::FaultKind;
use super::oauth;
use super::providers;
use super::search;
use super::state::Shared;
use super::world::Standing;

/// Maximum size of a request body, in bytes.
const LARGEST_BODY: usize = 1 << 20;

/// The operation that a path and method address.
enum Route {
    Api(ApiRoute),
    Authorize,
    Permissions,
    RemoveAccess,
    Token,
    Revoke,
    Userinfo,
    Provider(providers::Call),
    Unknown,
}

enum ApiRoute {
    Sites,
    Site(String),
    Query(String),
}

fn route(request: &Request) -> Route {
    let path = request.uri().path().trim_start_matches('/');
    let segments: Vec<&str> = path.split('/').collect();
    let site = |segment: &str| percent_decode_str(segment).decode_utf8_lossy().into_owned();
    match (request.method(), segments.as_slice()) {
        (&Method::GET, ["webmasters", "v3", "sites"]) => Route::Api(ApiRoute::Sites),
        (&Method::GET, ["webmasters", "v3", "sites", id]) => Route::Api(ApiRoute::Site(site(id))),
        (&Method::POST, ["webmasters", "v3", "sites", id, "searchAnalytics", "query"]) => {
            Route::Api(ApiRoute::Query(site(id)))
        }
        (&Method::GET, ["o", "oauth2", "v2", "auth"]) => Route::Authorize,
        (&Method::GET, ["o", "oauth2", "v2", "permissions"]) => Route::Permissions,
        (&Method::POST, ["o", "oauth2", "v2", "permissions"]) => Route::RemoveAccess,
        (&Method::POST, ["token"]) => Route::Token,
        (&Method::POST, ["revoke"]) => Route::Revoke,
        (&Method::GET | &Method::POST, ["userinfo"]) => Route::Userinfo,
        (method, _) => providers::Call::at(method, path).map_or(Route::Unknown, Route::Provider),
    }
}

impl Route {
    fn endpoint(&self) -> Endpoint {
        match self {
            Self::Api(ApiRoute::Sites) => Endpoint::Sites,
            Self::Api(ApiRoute::Site(_)) => Endpoint::Site,
            Self::Api(ApiRoute::Query(_)) => Endpoint::Query,
            Self::Authorize => Endpoint::Authorize,
            Self::Permissions | Self::RemoveAccess => Endpoint::Permissions,
            Self::Token => Endpoint::Token,
            Self::Revoke => Endpoint::Revoke,
            Self::Userinfo => Endpoint::Userinfo,
            Self::Provider(call) => call.endpoint(),
            Self::Unknown => Endpoint::Unknown,
        }
    }
}

/// The whole server as one endpoint.
pub(super) struct Service(pub Arc<Shared>);

impl PoemEndpoint for Service {
    type Output = Response;

    async fn call(&self, request: Request) -> poem::Result<Response> {
        let shared = &self.0;
        let route = route(&request);
        shared.controls.count(route.endpoint());
        // The computation counts towards the latency: a real search engine has machines of its own for it.
        let latency = shared.controls.latency();
        let released = (!latency.is_zero()).then(|| tokio::time::sleep(latency));
        let response = self.respond(route, request).await;
        if let Some(released) = released {
            released.await;
        }
        Ok(response)
    }
}

impl Service {
    async fn respond(&self, route: Route, mut request: Request) -> Response {
        let shared = &self.0;
        let Ok(body) = request.take_body().into_bytes_limit(LARGEST_BODY).await else {
            return ApiError::too_large().into_response();
        };
        if let Route::Api(ApiRoute::Query(_)) = route {
            shared.controls.pass(&body).await;
        }
        match route {
            Route::Api(route) => api(shared, &request, route, body).await,
            Route::Authorize => oauth::authorize(shared, &request),
            Route::Permissions => oauth::permissions(shared),
            Route::RemoveAccess => oauth::remove(shared, &body),
            Route::Token => oauth::token(shared, &request, &body),
            Route::Revoke => oauth::revoke(shared, request.uri().query().unwrap_or_default(), &body),
            Route::Userinfo => oauth::userinfo(shared, &request),
            Route::Provider(call) => provider(shared, call, &request, body).await,
            Route::Unknown => ApiError::not_found("Requested entity was not found.").into_response(),
        }
    }
}

async fn api(shared: &Arc<Shared>, request: &Request, route: ApiRoute, body: Bytes) -> Response {
    let strikes = |kind| shared.controls.strikes(kind);
    let troubled = match &route {
        _ if strikes(FaultKind::Error500) => Err(ApiError::backend()),
        _ if strikes(FaultKind::Rate429) => Err(ApiError::rate_limit()),
        _ if strikes(FaultKind::Quota403) => Err(ApiError::load_quota()),
        ApiRoute::Site(site) | ApiRoute::Query(site) if strikes(FaultKind::Permission403) => {
            Err(ApiError::forbidden(site))
        }
        _ => Ok(()),
    };
    let answer = match troubled.and_then(|()| shared.caller(request)) {
        Ok(account) => {
            if let ApiRoute::Query(_) = route {
                shared.controls.count_query(account.name);
            }
            answer(shared, account, route, body).await
        }
        Err(error) => Err(error),
    };
    match answer.map(|text| shared.controls.planted(text)) {
        Ok(_) if strikes(FaultKind::Error200) => accepted_error(),
        Ok(text) if strikes(FaultKind::Slow) => json_response(text.len(), slow(text)),
        Ok(text) if strikes(FaultKind::Truncated) => json_response(text.len(), truncated(&text)),
        Ok(text) => json_response(text.len(), Body::from(text)),
        Err(error) => error.into_response(),
    }
}

async fn provider(shared: &Arc<Shared>, call: providers::Call, request: &Request, body: Bytes) -> Response {
    let question = providers::Question::new(call, request, body);
    shared.controls.pass(question.text().as_bytes()).await;
    let Ok(turn) = Arc::clone(&shared.turns).acquire_owned().await else {
        return ApiError::backend().into_response();
    };
    let (state, strikes) = (Arc::clone(shared), |kind| shared.controls.strikes(kind));
    let work = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        providers::answer(&state, &question)
    });
    let Ok(answer) = work.await else { return ApiError::backend().into_response() };
    if answer.status == StatusCode::OK && strikes(FaultKind::Error200) {
        return accepted_error();
    }
    let (length, text) = (answer.body.len(), answer.body);
    let body = match answer.status {
        StatusCode::OK if strikes(FaultKind::Slow) => slow(text),
        StatusCode::OK if strikes(FaultKind::Truncated) => truncated(&text),
        _ => Body::from(text),
    };
    let mut response = json_response(length, body);
    response.set_status(answer.status);
    for (name, value) in answer.headers {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// The body of an error with status 200.
fn accepted_error() -> Response {
    let mut response = ApiError::backend().into_response();
    response.set_status(StatusCode::OK);
    response
}

fn json_response(length: usize, body: Body) -> Response {
    Response::builder()
        .header(header::CONTENT_TYPE, "application/json; charset=UTF-8")
        .header(header::CACHE_CONTROL, "private")
        .header(header::CONTENT_LENGTH, length)
        .body(body)
}

/// Sends one byte a second.
fn slow(text: String) -> Body {
    let bytes = Bytes::from(text);
    Body::from_bytes_stream(futures_util::stream::unfold(0, move |sent| {
        let piece = (sent < bytes.len()).then(|| bytes.slice(sent..=sent));
        async move {
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
            piece.map(|piece| (Ok::<_, std::io::Error>(piece), sent + 1))
        }
    }))
}

/// Sends the first half, then breaks the connection.
fn truncated(text: &str) -> Body {
    let half = Bytes::copy_from_slice(&text.as_bytes()[..text.len() / 2]);
    Body::from_bytes_stream(futures_util::stream::unfold(Some(half), |half| async move {
        if let Some(half) = half {
            return Some((Ok(half), None));
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        Some((Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset)), None))
    }))
}

async fn answer(shared: &Arc<Shared>, account: Arc<Account>, route: ApiRoute, body: Bytes) -> Result<String, ApiError> {
    match route {
        ApiRoute::Sites if account.sites.is_empty() => Ok("{}".to_owned()),
        ApiRoute::Sites => {
            let entries: Vec<Value> = account.sites.iter().map(site_entry).collect();
            Ok(json!({ "siteEntry": entries }).to_string())
        }
        ApiRoute::Site(site) => Ok(site_entry(listed(&account, &site)?).to_string()),
        ApiRoute::Query(site) => {
            let (url, level) = listed(&account, &site)?;
            if *level == UNVERIFIED {
                return Err(ApiError::forbidden(url));
            }
            // The permit moves into the work, which continues if the client disconnects.
            let turn = Arc::clone(&shared.turns).acquire_owned().await.map_err(|_| ApiError::backend())?;
            let shared = Arc::clone(shared);
            let work = tokio::task::spawn_blocking(move || {
                let _turn = turn;
                let found = shared.drawn.world.site(&site).filter(|found| found.standing() == Standing::Open);
                let site = found.ok_or_else(|| ApiError::forbidden(&site))?;
                search::query(&shared.drawn.world, site, &body, shared.now(), shared.conflicts)
            });
            work.await.map_err(|_| ApiError::backend())?
        }
    }
}

fn site_entry((url, level): &ListedSite) -> Value {
    json!({ "siteUrl": url, "permissionLevel": level })
}

/// Returns the site with exactly this id from the account's list. A malformed site id returns 404. Any other site, existing
/// or not, returns 403.
fn listed<'a>(account: &'a Account, site: &str) -> Result<&'a ListedSite, ApiError> {
    let well_formed = ["sc-domain:", "http://", "https://"].iter().any(|start| site.starts_with(start));
    if !well_formed {
        return Err(ApiError::not_found(&format!("'{site}' is not a valid Search Console site URL.")));
    }
    let found = account.sites.iter().find(|(url, _)| url == site);
    found.ok_or_else(|| ApiError::forbidden(site))
}
