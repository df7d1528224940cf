//! People who call the API. Every response they get is validated against the published document.

use std::time::Duration;

use common::random::Random;
use poem::http::{HeaderMap, Method, StatusCode};
use serde_json::Value;
use sightline::cli::remote::login::{EVERYTHING, login};

use super::{contract, whole::Whole as _};

/// A caller of the API, with or without credentials.
#[derive(Clone)]
pub struct Actor {
    base_url: String,
    token: Option<String>,
    http: reqwest::Client,
}

/// A response of the API.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as received.
    pub bytes: Vec<u8>,
    /// The body as JSON. Null if it is not JSON.
    pub json: Value,
}

fn http() -> reqwest::Client {
    sightline::app::http_client().unwrap()
}

impl Actor {
    /// A caller without credentials.
    pub fn anonymous(base_url: &str) -> Self {
        Self { base_url: base_url.to_owned(), token: None, http: http() }
    }

    /// A demo person, signed in through the real flow.
    pub async fn signed_in(base_url: &str, name: &str) -> Self {
        Self::with_scope(base_url, name, EVERYTHING).await
    }

    /// A demo person, signed in for a token with `scope`.
    pub async fn with_scope(base_url: &str, name: &str, scope: &str) -> Self {
        let token = login(base_url, name, scope, http(), &Random::system()).await.unwrap();
        Self::with_token(base_url, &token)
    }

    /// A caller with `token`.
    pub fn with_token(base_url: &str, token: &str) -> Self {
        Self { base_url: base_url.to_owned(), token: Some(token.to_owned()), http: http() }
    }

    /// Waits until `path` answers with `status`, for what a command of another process changes.
    pub async fn until(&self, path: &str, status: u16) {
        let answers = async {
            while self.get(path).await.status != status {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(30), answers).await;
        assert!(waited.is_ok(), "GET {path} never answers {status}");
    }

    /// The access token.
    pub fn token(&self) -> &str {
        self.token.as_deref().unwrap()
    }

    /// `GET path`.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(Method::GET, path, None, &[]).await
    }

    /// `GET path` with query parameters, which are encoded here.
    pub async fn ask(&self, path: &str, query: &[(&str, &str)]) -> Answer {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
        self.get(&format!("{path}?{query}")).await
    }

    /// `method path` with a JSON body.
    pub async fn send_json(&self, method: Method, path: &str, body: &Value) -> Answer {
        self.send(method, path, Some(body.to_string()), &[("content-type", "application/json")]).await
    }

    /// `POST path` with a JSON body.
    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send_json(Method::POST, path, body).await
    }

    /// `PUT path` with a JSON body.
    pub async fn put(&self, path: &str, body: &Value) -> Answer {
        self.send_json(Method::PUT, path, body).await
    }

    /// `DELETE path`.
    pub async fn delete(&self, path: &str) -> Answer {
        self.send(Method::DELETE, path, None, &[]).await
    }

    /// Creates a record and returns its id.
    pub async fn made(&self, path: &str, body: &Value) -> String {
        self.post(path, body).await.expect(201).json["data"]["id"].as_str().unwrap().to_owned()
    }

    /// The list returned by `GET path`.
    pub async fn listed(&self, path: &str) -> Vec<Value> {
        self.get(path).await.expect(200).json["data"].as_array().unwrap().clone()
    }

    /// Sends a HEAD request, which the document does not describe.
    pub async fn head(&self, path: &str) -> reqwest::Response {
        let request = self.http.head(format!("{}{path}", self.base_url));
        request.bearer_auth(self.token.as_deref().unwrap_or_default()).send().await.unwrap()
    }

    /// Sends any request. The response is validated against the document.
    pub async fn send(&self, method: Method, path: &str, body: Option<String>, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.http.request(method.clone(), format!("{}{path}", self.base_url));
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        let bytes = response.whole_bytes().await.unwrap().to_vec();
        let json = serde_json::from_slice(&bytes).unwrap_or(Value::Null);
        let answer = Answer { status, headers, bytes, json };
        contract::check(&method, path.split('?').next().unwrap(), &answer);
        answer
    }

    /// The id of the property whose site contains `part`, from the property list.
    pub async fn property(&self, part: &str) -> String {
        let answer = self.get("/api/properties").await.expect(200);
        let found =
            answer.json["data"].as_array().unwrap().iter().find(|p| p["siteUrl"].as_str().unwrap().contains(part));
        found.unwrap_or_else(|| panic!("no property {part}"))["id"].as_str().unwrap().to_owned()
    }
}

impl Answer {
    /// Returns the response if it has this status. Otherwise the test fails and prints the response.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(
            self.status.as_u16(),
            status,
            "{}",
            String::from_utf8_lossy(&self.bytes[..self.bytes.len().min(2000)])
        );
        self
    }

    /// `code` of an error body.
    pub fn code(&self) -> &str {
        self.json["code"].as_str().unwrap_or_default()
    }

    /// `hint` of an error body.
    pub fn hint(&self) -> &str {
        self.json["hint"].as_str().unwrap_or_default()
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}
