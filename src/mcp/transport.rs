//! The HTTP side of the protocol: one message in each `POST`, answered as JSON or as a stream of events.
//!
//! The SDK knows both generations of the protocol. It answers some errors in plain text, so they are refused here first: bodies that
//! are not a message, media types, methods. Requests are stateless, so any replica can answer any of them.

use std::sync::Arc;

use api::{
    body::check_content_type,
    error::{ApiError, Code},
    scope::Granted,
};
use bytes::Bytes;
use common::strict_json;
use http_body_util::{BodyExt as _, Full};
use poem::{
    Endpoint, Request, Response, Result,
    error::MethodNotAllowedError,
    http::{self, HeaderMap, HeaderValue, Method, StatusCode, header},
};
use rmcp::{
    model::ProtocolVersion,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::never::NeverSessionManager,
    },
};
use serde_json::{Value, json};
use telemetry::traces::Current;
use tracing::Span;

use super::{
    clean::{clean, clean_text, echo},
    parameters,
    server::{Server, VERSIONS},
    waiting::TakesEvents,
};

/// The header that names the revision of the protocol.
const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The field of a message's `_meta` that names its revision.
const MESSAGE_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const BOTH: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// JSON-RPC: the body is no JSON.
const PARSE_ERROR: i32 = -32700;
/// JSON-RPC: the parameters of a known method have another shape.
const INVALID_PARAMS: i32 = -32602;
/// JSON-RPC: the JSON is not a message, or not one that is taken here.
const INVALID_REQUEST: i32 = -32600;

type Service = StreamableHttpService<Server, NeverSessionManager>;

/// The endpoint.
pub struct Transport {
    server: Server,
    json: Service,
    events: Service,
}

/// The form of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Events,
}

impl Transport {
    /// Creates the endpoint of `server`. Host and Origin are checked by the layers in front.
    #[must_use]
    pub fn new(server: Server) -> Self {
        let service = |form| {
            let config = StreamableHttpServerConfig::default()
                .with_legacy_session_mode(false)
                .with_json_response(form == Form::Json)
                .disable_allowed_hosts();
            let server = server.clone();
            StreamableHttpService::new(move || Ok(server.clone()), Arc::new(NeverSessionManager::default()), config)
        };
        Self { json: service(Form::Json), events: service(Form::Events), server }
    }
}

impl Endpoint for Transport {
    type Output = Response;

    async fn call(&self, mut request: Request) -> Result<Response> {
        if *request.method() != Method::POST {
            return Err(MethodNotAllowedError.into());
        }
        let Some((form, takes_events)) = accepted(request.headers()) else {
            let advice = "Accept: must allow application/json, text/event-stream or both";
            return Ok(refusal(StatusCode::NOT_ACCEPTABLE, INVALID_REQUEST, &Value::Null, advice));
        };
        check_content_type(request.headers())?;
        let bytes = request.take_body().into_bytes().await?;
        let message = match judged(request.headers(), &bytes) {
            Ok(message) => message,
            Err((code, id, advice)) => return Ok(refusal(StatusCode::BAD_REQUEST, code, &id, &advice)),
        };
        // Asked here and not only in front of the operation, because clients step up on a 403 of the endpoint itself.
        request.data().copied().unwrap_or(Granted::NOTHING).require(self.server.needed(&message))?;
        let mut outer = http::Request::from(request).into_parts().0;
        // The SDK demands both types of every client, also of one that takes only the type it will get.
        outer.headers.insert(header::ACCEPT, BOTH);
        // The SDK compares the header with the parameters, which alone negotiate. Clients send the header of their last connection.
        if negotiates(&message) {
            outer.headers.remove(PROTOCOL_VERSION);
        }
        outer.extensions.insert(Span::current());
        outer.extensions.insert(Current::get());
        if takes_events {
            outer.extensions.insert(TakesEvents);
        }
        let service = if form == Form::Json { &self.json } else { &self.events };
        let request = http::Request::from_parts(outer, Full::new(Bytes::from(message.to_string())));
        answer(Box::pin(service.handle(request)).await, &message).await
    }
}

/// Returns the message in `bytes`, or the code, the id and the text of the refusal of what the SDK would answer in plain text.
fn judged(headers: &HeaderMap, bytes: &[u8]) -> Result<Value, (i32, Value, String)> {
    let mut message = message(bytes)?;
    match unknown_version(headers, &message) {
        Some(advice) => Err((INVALID_REQUEST, message["id"].take(), advice)),
        None => Ok(message),
    }
}

/// Returns the message in `bytes`, or the refusal of a body that is none. Its parameters are the SDK's to read.
fn message(bytes: &[u8]) -> Result<Value, (i32, Value, String)> {
    let refused = |advice: &str| (INVALID_REQUEST, Value::Null, advice.to_owned());
    let mut message = strict_json::parse(bytes).map_err(|(path, fault)| match path.as_str() {
        "" => (PARSE_ERROR, Value::Null, format!("body: {fault}")),
        path => refused(&format!("{}: {fault}", echo(path))),
    })?;
    if message.is_array() {
        return Err(refused("Send one message in each request; the protocol has no batches."));
    }
    let id = &message["id"];
    if id.is_number() && !id.is_i64() {
        return Err(refused("id: must be a string or a whole number of 64 bits."));
    }
    let is_message = message.get("jsonrpc") == Some(&json!("2.0"))
        && message.get("method").is_some_and(Value::is_string)
        && (message.get("id").is_none() || id.is_string() || id.is_number());
    if !is_message {
        return Err(refused("The body must be a request or a notification of JSON-RPC 2.0."));
    }
    drop_empty(&mut message);
    match message.get("params") {
        None | Some(Value::Object(_)) => Ok(message),
        Some(_) => Err((INVALID_REQUEST, message["id"].take(), "params: must be an object".to_owned())),
    }
}

/// Removes parameters that say nothing, as some clients write those that they do not have: `null`, the list that PHP makes of an empty
/// object, an empty cursor.
fn drop_empty(message: &mut Value) {
    let Some(fields) = message.as_object_mut() else { return };
    if fields.get("params").is_some_and(|params| params.is_null() || *params == json!([])) {
        fields.remove("params");
    }
    if let Some(Value::Object(params)) = fields.get_mut("params") {
        params.retain(|name, value| name != "cursor" || (!value.is_null() && value != ""));
    }
}

/// Returns why the version in the headers of `message` is refused, if it is. Without a header the protocol assumes 2025-03-26, and
/// the message is answered, because nothing in it depends on the revision. A client that names a revision is held to it. `initialize`
/// negotiates the version in its parameters, and a message with a version of its own is judged by the SDK.
fn unknown_version(headers: &HeaderMap, message: &Value) -> Option<String> {
    let version = headers.get(PROTOCOL_VERSION)?;
    let is_known = VERSIONS.iter().any(|known| version == known.as_str());
    let names = VERSIONS.each_ref().map(ProtocolVersion::as_str).join(", ");
    let is_judged = negotiates(message) || names_version(message);
    (!is_judged && !is_known).then(|| format!("MCP-Protocol-Version: must be one of {names}"))
}

/// Returns whether `message` negotiates the version by its parameters.
fn negotiates(message: &Value) -> bool {
    message["method"] == "initialize" && !names_version(message)
}

/// Returns whether `message` names its version itself.
fn names_version(message: &Value) -> bool {
    message["params"]["_meta"][MESSAGE_VERSION].is_string()
}

/// Returns the form of the answer, which is JSON where the client accepts both, and whether the client takes events. The SDK sends
/// events to such a client, too, if there is progress to report. A client without `Accept` gets JSON.
fn accepted(headers: &HeaderMap) -> Option<(Form, bool)> {
    let mut lines = headers.get_all(header::ACCEPT).iter().peekable();
    if lines.peek().is_none() {
        return Some((Form::Json, false));
    }
    let types: Vec<String> = lines
        .filter_map(|line| line.to_str().ok())
        .flat_map(|line| line.split(','))
        .filter_map(|range| {
            let mut parts = range.split(';').map(|part| part.trim().to_ascii_lowercase());
            let media_type = parts.next()?;
            let weight = parts.find_map(|part| part.strip_prefix("q=")?.parse::<f32>().ok());
            weight.is_none_or(|weight| weight > 0.0).then_some(media_type)
        })
        .collect();
    let accepts = |names: &[&str]| types.iter().any(|media_type| names.contains(&media_type.as_str()));
    // Clients without events send `*/*`.
    let (takes_json, takes_events) = (accepts(&[JSON, "application/*", "*/*"]), accepts(&[EVENTS, "text/*"]));
    match (takes_json, takes_events) {
        (true, _) => Some((Form::Json, takes_events)),
        (false, true) => Some((Form::Events, true)),
        (false, false) => None,
    }
}

/// Converts the SDK's response to `message`. Its plain-text errors get the form of the protocol. What it refuses may quote headers and
/// parameters.
async fn answer(
    response: http::Response<http_body_util::combinators::BoxBody<Bytes, std::convert::Infallible>>,
    message: &Value,
) -> Result<Response> {
    let (parts, body) = response.into_parts();
    let media_type = parts.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let failed = parts.status.is_client_error() || parts.status.is_server_error();
    if failed {
        let is_json = media_type.starts_with(JSON);
        let text = body.collect().await.map(http_body_util::Collected::to_bytes).unwrap_or_default();
        if is_json && let Ok(mut error) = serde_json::from_slice::<Value>(&text) {
            clean(&mut error["error"]);
            let response = Response::builder().status(parts.status).content_type(JSON);
            return Ok(response.header(header::CACHE_CONTROL, NO_STORE).body(error.to_string()));
        }
        let text = String::from_utf8_lossy(&text);
        let id = &message["id"];
        if parts.status.is_server_error() {
            tracing::error!(%text, "the protocol's SDK failed");
            return Err(ApiError::new(Code::Internal).into());
        }
        // The SDK says so of a message whose parameters it cannot read.
        if parts.status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            let fault = parameters::fault(message["method"].as_str().unwrap_or_default(), &message["params"]);
            return Ok(refusal(StatusCode::BAD_REQUEST, INVALID_PARAMS, id, &fault));
        }
        return Ok(refusal(parts.status, INVALID_REQUEST, id, &clean_text(&text)));
    }
    let body = body.map_err(|never| -> std::io::Error { match never {} });
    let mut response = Response::from(http::Response::from_parts(parts, body));
    response.headers_mut().insert(header::CACHE_CONTROL, NO_STORE);
    Ok(response)
}

fn refusal(status: StatusCode, code: i32, id: &Value, message: &str) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } });
    Response::builder().status(status).content_type(JSON).body(body.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_follows_accept() {
        for (lines, form) in [
            (&[][..], Some((Form::Json, false))),
            (&["application/json, text/event-stream"], Some((Form::Json, true))),
            (&["text/event-stream", "application/json"], Some((Form::Json, true))),
            (&["application/json"], Some((Form::Json, false))),
            (&["*/*"], Some((Form::Json, false))),
            (&["Application/*;q=0.1"], Some((Form::Json, false))),
            (&["text/event-stream"], Some((Form::Events, true))),
            (&["application/json;q=0, text/event-stream"], Some((Form::Events, true))),
            (&["text/html"], None),
            (&[""], None),
        ] {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(header::ACCEPT, HeaderValue::from_static(line));
            }
            assert_eq!(accepted(&headers), form, "{lines:?}");
        }
    }

    #[test]
    fn only_messages_pass() {
        for (body, id) in [
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, json!(1)),
            (r#"{"jsonrpc":"2.0","id":"a","method":"ping","params":{}}"#, json!("a")),
            (r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, Value::Null),
            ("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}", json!(2)),
        ] {
            assert_eq!(message(body.as_bytes()).map(|message| message["id"].clone()), Ok(id), "{body}");
        }
        for (body, code) in [
            ("", PARSE_ERROR),
            ("{", PARSE_ERROR),
            ("\u{feff}{", PARSE_ERROR),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, INVALID_REQUEST),
            ("[]", INVALID_REQUEST),
            ("1", INVALID_REQUEST),
            (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{"a":1,"a":2}}}"#, INVALID_REQUEST),
            (r#"{"id":1,"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[1]}"#, INVALID_REQUEST),
            (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, INVALID_REQUEST),
        ] {
            assert_eq!(message(body.as_bytes()).unwrap_err().0, code, "{body}");
        }
    }

    #[test]
    fn parameters_that_say_nothing_are_as_if_they_had_not_been_sent() {
        let read =
            |params: &str| message(format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/list"{params}}}"#).as_bytes());
        let plain = read("").unwrap();
        for params in [r#","params":null"#, r#","params":[]"#] {
            assert_eq!(read(params).unwrap(), plain, "{params}");
        }
        for params in [r#","params":{"cursor":""}"#, r#","params":{"cursor":null}"#] {
            assert_eq!(read(params).unwrap()["params"], json!({}), "{params}");
        }
        assert_eq!(read(r#","params":{"cursor":"x"}"#).unwrap()["params"], json!({ "cursor": "x" }));
        for params in [r#","params":[1]"#, r#","params":"""#, r#","params":0"#] {
            let (_, id, advice) = read(params).unwrap_err();
            assert_eq!((id, advice.as_str()), (json!(7), "params: must be an object"), "{params}");
        }
    }
}
