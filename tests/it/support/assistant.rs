//! An assistant that calls the tool endpoint for a person.

use poem::http::{HeaderMap, Method, StatusCode};
use serde_json::{Value, json};

use super::{actor::Actor, app::TestApp, whole::Whole as _};

/// The newest revision of the protocol with an `initialize` handshake.
pub const HANDSHAKE: &str = "2025-11-25";
/// The revision without one.
pub const STATELESS: &str = "2026-07-28";

/// An assistant.
#[derive(Clone)]
pub struct Assistant {
    url: String,
    token: Option<String>,
    http: reqwest::Client,
}

/// A response of the endpoint.
#[derive(Debug)]
pub struct Reply {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body as received.
    pub text: String,
    /// The message: the body as JSON, or the data of the only event.
    pub json: Value,
}

impl Assistant {
    /// The assistant of a person who is signed in.
    pub fn of(app: &TestApp, person: &Actor) -> Self {
        Self { token: Some(person.token().to_owned()), ..Self::anonymous(app) }
    }

    /// An assistant without a token.
    pub fn anonymous(app: &TestApp) -> Self {
        let http = sightline::app::http_client().unwrap();
        Self { url: format!("{}/mcp", app.service.base_url), token: None, http }
    }

    /// Sends `body` and returns when the head of the response has come. `headers` replace those that a client usually sends.
    pub async fn open(&self, method: Method, body: String, headers: &[(&str, &str)]) -> reqwest::Response {
        let mut all = HeaderMap::new();
        all.insert("accept", "application/json, text/event-stream".parse().unwrap());
        all.insert("content-type", "application/json".parse().unwrap());
        if let Some(token) = &self.token {
            all.insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        for (name, value) in headers {
            let name: poem::http::HeaderName = name.parse().unwrap();
            if value.is_empty() { drop(all.remove(name)) } else { drop(all.insert(name, value.parse().unwrap())) }
        }
        self.http.request(method, &self.url).headers(all).body(body).send().await.unwrap()
    }

    /// Sends `body` and reads the response. `headers` replace those that a client usually sends.
    pub async fn send(&self, method: Method, body: String, headers: &[(&str, &str)]) -> Reply {
        let response = self.open(method, body, headers).await;
        let (status, headers) = (response.status(), response.headers().clone());
        let text = response.whole_text().await.unwrap();
        let event = text.lines().filter_map(|line| line.strip_prefix("data:")).find(|data| !data.trim().is_empty());
        let json = serde_json::from_str(event.unwrap_or(&text)).unwrap_or(Value::Null);
        Reply { status, headers, text, json }
    }

    /// Posts `body` as a client of the revisions with a handshake.
    pub async fn post(&self, body: &Value, headers: &[(&str, &str)]) -> Reply {
        let mut all = vec![("mcp-protocol-version", HANDSHAKE)];
        all.extend(headers);
        self.send(Method::POST, body.to_string(), &all).await
    }

    /// Sends a request as a client of the revisions with a handshake.
    pub async fn ask(&self, method: &str, params: Value) -> Reply {
        self.post(&json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }), &[]).await
    }

    /// Sends a request as a client of the stateless revision: metadata in the body, mirrored in headers.
    pub async fn ask_statelessly(&self, method: &str, mut params: Value) -> Reply {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS, "io.modelcontextprotocol/clientCapabilities": {},
        });
        let name = params["name"].as_str().or_else(|| params["uri"].as_str()).unwrap_or_default().to_owned();
        let headers = [("mcp-protocol-version", STATELESS), ("mcp-method", method), ("mcp-name", name.as_str())];
        let body = json!({ "jsonrpc": "2.0", "id": "a", "method": method, "params": params });
        self.send(Method::POST, body.to_string(), &headers).await
    }

    /// Calls a tool and returns its result. One of its kinds is written as `list_records/segments`.
    pub async fn call(&self, tool: &str, mut arguments: Value) -> Value {
        let (tool, kind) = tool.split_once('/').map_or((tool, None), |(tool, kind)| (tool, Some(kind)));
        if let Some(kind) = kind {
            arguments["kind"] = json!(kind);
        }
        let reply = self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await.expect(200);
        assert!(reply.json["error"].is_null(), "{tool} {}", reply.text);
        reply.json["result"].clone()
    }

    /// Calls a tool that succeeds and returns its structured content.
    pub async fn answered(&self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], false, "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// Calls a tool that refuses. Returns the code and the text of the refusal.
    pub async fn refused(&self, tool: &str, arguments: Value) -> (String, String) {
        let result = self.call(tool, arguments).await;
        assert_eq!(result["isError"], true, "{tool}: {result}");
        let code = result["_meta"]["sightline/error"]["code"].as_str().unwrap().to_owned();
        (code, text(&result))
    }
}

/// The readable text of a result.
pub fn text(result: &Value) -> String {
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

impl Reply {
    /// Returns the response if it has this status. Otherwise the test fails and prints the response.
    #[track_caller]
    pub fn expect(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{}", self.text.chars().take(2000).collect::<String>());
        self
    }

    /// The code of a JSON-RPC error.
    pub fn error(&self) -> i64 {
        self.json["error"]["code"].as_i64().unwrap_or_default()
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}
