//! Gives all failures (typed errors, errors of the HTTP layer, panics) the form `{ error, code?, hint?, correlationId? }`, or that of a page
//! for a browser outside the API.

use std::sync::Arc;

use api::error::ApiError;
use common::rate_limit::LimitState;
use pages::{
    page::{self, unsent::Unsent},
    paths::{Methods, TOOLS, is_below},
};
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{StatusCode, header},
};

use super::{authenticate::Challenge, error_map, methods, rate_limit, request_id};
use crate::{
    error::{RequestId, caught, finished, with_plans},
    web::refusal_page,
};

/// The settings of the layer.
#[derive(Debug, Clone)]
pub struct Errors {
    /// The paths outside the operation table, such as the token endpoint, with their methods for `Allow`.
    pub other_paths: Methods,
    /// The page where a plan is bought.
    pub subscribe_url: String,
}

/// The error layer.
///
/// # Errors
/// None. It converts every inner failure to a response.
pub async fn errors<E: Endpoint>(settings: Arc<Errors>, next: Arc<E>, request: Request) -> Result<Response> {
    let asked = Asked::of(&request);
    let answer = caught(next.call(request)).await.map(IntoResponse::into_response);
    Ok(answer.unwrap_or_else(|error| settings.wrap(error, &asked)))
}

/// The parts of a request that its refusal depends on.
struct Asked {
    path: String,
    id: Option<RequestId>,
    /// True outside the API and the tool endpoint, where the form of a refusal depends on `Accept`.
    has_pages: bool,
    wants_page: bool,
}

impl Asked {
    fn of(request: &Request) -> Self {
        let path = request.uri().path();
        let has_pages = !["/api", TOOLS].iter().any(|programs| is_below(programs, path));
        Self {
            path: path.to_owned(),
            id: request_id::of(request).cloned(),
            has_pages,
            wants_page: has_pages && page::is_wanted(request.headers()),
        }
    }
}

impl Errors {
    fn wrap(&self, error: poem::Error, asked: &Asked) -> Response {
        let standing = error.data::<LimitState>().copied();
        let challenge = error.data::<Challenge>().cloned();
        let mut response = if error.is_from_response() {
            error.into_response()
        } else {
            self.refuse(error_map::of(&error), asked, error.data::<Unsent>())
        };
        if let Some(standing) = standing {
            rate_limit::tell(&mut response, &standing);
        }
        if let Some(value) = challenge.and_then(|Challenge(text)| text.parse().ok()) {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
        }
        response
    }

    /// Returns the response to a refusal, with the headers that belong to its code.
    fn refuse(&self, refusal: ApiError, asked: &Asked, unsent: Option<&Unsent>) -> Response {
        let mut refusal = finished(refusal, asked.id.as_ref());
        let told = match refusal.code.status() {
            StatusCode::METHOD_NOT_ALLOWED => Some((header::ALLOW, methods::allow(&asked.path, &self.other_paths))),
            StatusCode::PAYMENT_REQUIRED => {
                refusal = with_plans(refusal, &self.subscribe_url);
                Some((header::LINK, format!("<{}>; rel=\"payment\"", self.subscribe_url)))
            }
            StatusCode::NOT_FOUND if refusal.hint.is_none() => {
                let path = &asked.path;
                let hint = self.without_slash(path).or_else(|| self.with_single_slashes(path));
                refusal.hint = hint.or_else(|| of_no_operation(path));
                None
            }
            _ => None,
        };
        let mut response =
            if asked.wants_page { refusal_page::page_with(&refusal, unsent) } else { refusal.into_response() };
        if asked.has_pages {
            response.headers_mut().append(header::VARY, header::HeaderValue::from_static("Accept"));
        }
        if let Some((name, Ok(value))) = told.map(|(name, text)| (name, text.parse())) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

impl Errors {
    /// Returns a hint for a path with a slash at its end, if there is one without it.
    fn without_slash(&self, path: &str) -> Option<String> {
        let path = path.strip_suffix('/')?;
        let is_known = !path.ends_with('/') && !methods::allow(path, &self.other_paths).is_empty();
        is_known.then(|| format!("The address has no slash at its end: {path}"))
    }

    /// Returns a hint for a path with slashes in a row, if there is one with single slashes. A base address that ends with a slash makes
    /// such paths.
    fn with_single_slashes(&self, path: &str) -> Option<String> {
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        let single = format!("/{}", parts.join("/"));
        let is_known = path.contains("//") && !methods::allow(&single, &self.other_paths).is_empty();
        is_known.then(|| {
            format!("The address has two slashes in a row: it is {single}. A base address has no slash at its end.")
        })
    }
}

/// Returns a hint for a path below the API that has no operation.
fn of_no_operation(path: &str) -> Option<String> {
    let is_none = is_below("/api", path) && methods::allow(path, &[]).is_empty();
    is_none.then(|| "No operation has this address. GET /api lists all of them, and /docs explains them.".to_owned())
}

/// Returns the response to an error, without the headers that other layers add.
pub(super) fn response_of(error: poem::Error, id: Option<&RequestId>) -> Response {
    if error.is_from_response() { error.into_response() } else { finished(error_map::of(&error), id).into_response() }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use api::versions::{RELEASES, Versions};
    use common::{clock::Clock, random::Random};
    use poem::{EndpointExt, Route, error::ReadBodyError, get, handler, http::HeaderValue, test::TestClient};

    use super::*;
    use crate::http::{
        headers::{Headers, headers},
        request_id::{Identify, request_id},
        version::{Served, version},
    };

    fn settings(other_paths: Methods) -> Arc<Errors> {
        Arc::new(Errors { other_paths, subscribe_url: "https://s.example/subscribe".to_owned() })
    }

    #[handler]
    fn panics() -> &'static str {
        panic!("secret detail")
    }

    #[handler]
    fn faults() -> Result<&'static str> {
        Err(ApiError::from(crate::error::Error::internal("secret detail")).into())
    }

    #[handler]
    fn refuses() -> Result<&'static str> {
        Err(ApiError::invalid("days", "1 to 480").into())
    }

    #[handler]
    fn too_large() -> Result<&'static str> {
        Err(ReadBodyError::PayloadTooLarge.into())
    }

    #[handler]
    fn unnamed() -> Result<&'static str> {
        Err(poem::Error::from_string("secret detail", poem::http::StatusCode::BAD_GATEWAY))
    }

    fn client() -> TestClient<impl Endpoint> {
        let (clock, _) = Clock::manual(test_data::noon());
        let routes = Route::new()
            .at("/panics", get(panics))
            .at("/faults", get(faults))
            .at("/refuses", get(refuses))
            .at("/large", get(too_large))
            .at("/unnamed", get(unnamed))
            .at("/api/properties/tracking", get(refuses));
        let served =
            Arc::new(Served::new(Versions::new(RELEASES).unwrap(), &"http://127.0.0.1".parse().unwrap()).unwrap());
        let base_url = "http://127.0.0.1".parse().unwrap();
        let standing = Arc::new(Headers { base_url, newest: HeaderValue::from_static(api::VERSION) });
        let identify = Arc::new(Identify::new(clock, Random::seeded(1), &Methods::default()));
        let app = routes
            .around(move |next, request| errors(settings([("/panics", "GET, HEAD")].into()), next, request))
            .around(move |next, request| version(served.clone(), next, request))
            .around(move |next, request| headers(standing.clone(), next, request))
            .around(move |next, request| request_id(identify.clone(), next, request));
        TestClient::new(Arc::new(app))
    }

    #[tokio::test]
    async fn every_failure_has_the_one_shape() {
        let unexpected = "An unexpected error occurred.";
        let cases = [
            ("/panics", 500, unexpected, None, true),
            ("/faults", 500, unexpected, None, true),
            ("/unnamed", 500, unexpected, None, true),
            ("/refuses", 400, "Invalid request", Some("days: 1 to 480"), false),
            ("/large", 413, "Payload too large", None, false),
            ("/nowhere", 404, "Not found", None, false),
        ];
        for (path, status, error, hint, named) in cases {
            let response = client().get(path).header("x-correlation-id", "abc-1").send().await;
            assert_eq!(response.0.status().as_u16(), status, "{path}");
            assert_eq!(response.0.header("x-correlation-id"), Some("abc-1"));
            assert_eq!(response.0.header("x-api-version"), Some("2026-09-14"));
            assert_eq!(response.0.header("cache-control"), Some("no-store"));
            assert_eq!(response.0.header("x-content-type-options"), Some("nosniff"));
            let text = response.0.into_body().into_string().await.unwrap();
            let body: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(body["error"], error, "{path}");
            assert_eq!(body["hint"].as_str(), hint, "{path}");
            assert_eq!(body.get("correlationId").is_some(), named, "{path}");
            assert!(!text.contains("secret"), "{path}: {text}");
        }
    }

    #[tokio::test]
    async fn a_wrong_method_is_told_the_right_ones() {
        for (path, allow) in [("/panics", "GET, HEAD"), ("/api/properties/tracking", "GET, HEAD, OPTIONS, PUT")] {
            let response = client().delete(path).send().await;
            assert_eq!(response.0.status().as_u16(), 405);
            assert_eq!(response.0.header("allow"), Some(allow));
        }
    }

    /// A query string of 60 kB passes the HTTP layer, so only an operation can refuse it. Beyond 64 KB the HTTP layer itself
    /// answers 414.
    #[tokio::test]
    async fn long_addresses_reach_the_operations() {
        use poem::listener::{Acceptor as _, Listener as _, TcpListener};
        use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

        let acceptor = TcpListener::bind("127.0.0.1:0").into_acceptor().await.unwrap();
        let address = *acceptor.local_addr()[0].as_socket_addr().unwrap();
        let app = Route::new()
            .at("/refuses", get(refuses))
            .around(|next, request| errors(settings(Methods::default()), next, request));
        let server = tokio::spawn(poem::Server::new_with_acceptor(acceptor).run(app));
        for (length, status, ours) in [(60_000, "400", true), (70_000, "414", false)] {
            let filters = "x".repeat(length);
            let request = format!("GET /refuses?filters={filters} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
            let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).await.unwrap();
            assert_eq!(answer.split(' ').nth(1), Some(status), "{length}: {answer}");
            assert_eq!(answer.contains("days: 1 to 480"), ours);
        }
        server.abort();
    }

    #[tokio::test]
    async fn a_name_that_is_not_plain_is_replaced() {
        let response = client().get("/refuses").header("x-correlation-id", "a b").send().await;
        assert_eq!(response.0.header("x-correlation-id").unwrap().len(), 36);
    }

    #[tokio::test]
    async fn only_the_current_version_is_served() {
        for (version, path, status) in [
            ("2026-09-14", "/api/properties/tracking", 400),
            ("2020-01-01", "/refuses", 400),
            ("2020-01-01", "/nowhere", 404),
            ("2020-01-01", "/api/nowhere", 400),
        ] {
            let response = client().get(path).header("x-api-version", version).send().await;
            assert_eq!(response.0.status().as_u16(), status, "{path} {version}");
            let refused = version == "2020-01-01" && path.starts_with("/api");
            let text = response.0.into_body().into_string().await.unwrap();
            assert_eq!(text.contains("unsupported_api_version"), refused, "{text}");
        }
    }
}
