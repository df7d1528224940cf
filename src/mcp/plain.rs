//! Recognises the calls of tools that need nothing from the protocol's SDK.
//!
//! The SDK starts three tasks and several channels for each message, which cost a third of a warm REST request. Where the headers and the
//! metadata of a call are as its revision demands, only the result is left to send. The transport then asks the tool itself, and hands
//! the call over to the SDK when there is progress to report. Everything else is left to the SDK.

use api::json;
use poem::http::HeaderMap;
use rmcp::model::{JsonObject, ProtocolVersion, RequestMetaObject};
use serde::Deserialize;
use serde_json::Value;

/// The header that names the revision of the protocol.
pub const PROTOCOL_VERSION: &str = "mcp-protocol-version";
/// The field of a message's `_meta` that names its revision.
pub const MESSAGE_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The method of a call.
const CALL: &str = "tools/call";
/// The header that repeats the method in the revision without a handshake.
const METHOD: &str = "mcp-method";
/// The header that repeats the tool's name there.
const NAME: &str = "mcp-name";
/// The revisions with a handshake.
const HANDSHAKE: [ProtocolVersion; 2] = [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];
/// The revision without one.
const STATELESS: ProtocolVersion = ProtocolVersion::V_2026_07_28;

/// A call that may need only its result.
#[derive(Debug, PartialEq)]
pub struct PlainCall {
    /// The id of the request.
    pub id: Value,
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: JsonObject,
    /// True if the revision gives results a type.
    pub has_typed_result: bool,
    /// True if the client asked for reports of progress and can take them.
    pub takes_reports: bool,
}

/// The message of a call. A member that occurs twice, and one that is not known here, is an error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    jsonrpc: String,
    id: Value,
    method: String,
    params: Params,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    name: String,
    #[serde(default)]
    arguments: JsonObject,
    #[serde(default, rename = "_meta")]
    meta: JsonObject,
}

impl PlainCall {
    /// Reads the call in `body`, or returns `None` if the SDK must answer it.
    pub fn read(headers: &HeaderMap, body: &[u8], takes_events: bool) -> Option<Self> {
        let Message { jsonrpc, id, method, params } = serde_json::from_value(json::parse(body).ok()?).ok()?;
        if jsonrpc != "2.0" || method != CALL || !(id.is_string() || id.is_i64()) {
            return None;
        }
        let Params { name, arguments, meta } = params;
        let takes_reports = takes_events && meta.contains_key("progressToken");
        let has_typed_result = is_stateless(headers, meta, &name)?;
        Some(Self { id, name, arguments, has_typed_result, takes_reports })
    }
}

/// Returns whether a call of the tool `name` is one of the revision without a handshake, or `None` if its headers and metadata are not as
/// its revision demands.
fn is_stateless(headers: &HeaderMap, meta: JsonObject, name: &str) -> Option<bool> {
    let is_only = |header, value: &str| headers.get_all(header).iter().eq([value]);
    if !meta.contains_key(MESSAGE_VERSION) {
        let is_known = HANDSHAKE.iter().any(|known| is_only(PROTOCOL_VERSION, known.as_str()));
        return (is_known || !headers.contains_key(PROTOCOL_VERSION)).then_some(false);
    }
    let meta: RequestMetaObject = serde_json::from_value(Value::Object(meta)).ok()?;
    let is_complete = meta.protocol_version() == Some(STATELESS) && meta.missing_required_keys(&STATELESS).is_empty();
    let is_repeated = is_only(PROTOCOL_VERSION, STATELESS.as_str()) && is_only(METHOD, CALL) && is_only(NAME, name);
    (is_complete && is_repeated).then_some(true)
}

#[cfg(test)]
mod tests {
    use poem::http::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    fn read(headers: &[(&'static str, &'static str)], body: &str, takes_events: bool) -> Option<PlainCall> {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        PlainCall::read(&all, body.as_bytes(), takes_events)
    }

    fn call(params: &Value) -> String {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
    }

    fn plain(arguments: &Value, has_typed_result: bool) -> PlainCall {
        let arguments = arguments.as_object().unwrap().clone();
        PlainCall { id: json!(1), name: "a".to_owned(), arguments, has_typed_result, takes_reports: false }
    }

    #[test]
    fn a_call_that_needs_only_its_result_is_plain() {
        for headers in [&[][..], &[(PROTOCOL_VERSION, "2025-06-18")], &[(PROTOCOL_VERSION, "2025-11-25")]] {
            let given = call(&json!({ "name": "a", "arguments": { "b": [1] } }));
            assert_eq!(read(headers, &given, true), Some(plain(&json!({ "b": [1] }), false)), "{headers:?}");
            assert_eq!(
                read(headers, &call(&json!({ "name": "a" })), true),
                Some(plain(&json!({}), false)),
                "{headers:?}"
            );
        }
        let with_token = call(&json!({ "name": "a", "_meta": { "progressToken": 1 } }));
        assert_eq!(read(&[], &with_token, false), Some(plain(&json!({}), false)), "no event can tell of the progress");
        assert!(read(&[], &with_token, true).unwrap().takes_reports);
        let with_other = call(&json!({ "name": "a", "_meta": { "vendor/id": 1 } }));
        assert_eq!(read(&[], &with_other, true), Some(plain(&json!({}), false)));
    }

    #[test]
    fn the_sdk_answers_every_other_message() {
        for params in [
            json!([]),
            json!({ "name": 7 }),
            json!({ "arguments": {} }),
            json!({ "name": "a", "arguments": [] }),
            json!({ "name": "a", "arguments": null }),
            json!({ "name": "a", "_meta": [] }),
            json!({ "name": "a", "_meta": { MESSAGE_VERSION: "2025-11-25" } }),
            json!({ "name": "a", "task": { "ttl": 1 } }),
        ] {
            assert_eq!(read(&[], &call(&params), true), None, "{params}");
        }
        let params = json!({ "name": "a" });
        for headers in [
            &[(PROTOCOL_VERSION, "2026-07-28")][..],
            &[(PROTOCOL_VERSION, "2025-11-25"), (PROTOCOL_VERSION, "2025-11-25")],
        ] {
            assert_eq!(read(headers, &call(&params), true), None, "{headers:?}");
        }
        for body in [
            r#"{"jsonrpc":"2.0","method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call","params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b"},"params":{"name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"b","name":"a"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{},"arguments":{}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"},"error":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"$serde_json::private::RawValue":"{\"name\":\"a\"}"}}"#,
            "[]",
            "",
        ] {
            assert_eq!(read(&[], body, true), None, "{body}");
        }
    }

    #[test]
    fn a_call_without_a_handshake_agrees_with_its_headers() {
        let version = (PROTOCOL_VERSION, "2026-07-28");
        let with = |meta: Value| call(&json!({ "name": "a", "_meta": meta }));
        let whole = with(json!({
            MESSAGE_VERSION: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        }));
        assert_eq!(read(&[version, (METHOD, CALL), (NAME, "a")], &whole, true), Some(plain(&json!({}), true)));
        for headers in [
            &[][..],
            &[version],
            &[version, (METHOD, CALL)],
            &[version, (METHOD, "tools/list"), (NAME, "a")],
            &[version, (METHOD, CALL), (NAME, "b")],
            &[version, (METHOD, CALL), (NAME, "a"), (NAME, "b")],
            &[(PROTOCOL_VERSION, "2025-11-25"), (METHOD, CALL), (NAME, "a")],
        ] {
            assert_eq!(read(headers, &whole, true), None, "{headers:?}");
        }
        for meta in [
            json!({ MESSAGE_VERSION: "2026-07-28" }),
            json!({ MESSAGE_VERSION: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": 1 }),
            json!({ MESSAGE_VERSION: "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {} }),
            json!({ MESSAGE_VERSION: 7, "io.modelcontextprotocol/clientCapabilities": {} }),
        ] {
            assert_eq!(read(&[version, (METHOD, CALL), (NAME, "a")], &with(meta.clone()), true), None, "{meta}");
        }
    }
}
