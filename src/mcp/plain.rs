//! Recognises the calls of tools that need nothing from the protocol's SDK.
//!
//! The SDK starts three tasks and several channels for each message, which cost as much as a warm answer. Where the headers and the
//! metadata of a call are as its revision demands, only the result is left to send. The transport then asks the tool itself, and hands
//! the call over to the SDK when there is progress to report. Whatever looks otherwise is the SDK's to answer or to refuse.

use poem::http::HeaderMap;
use rmcp::model::{JsonObject, ProtocolVersion, RequestMetaObject};
use serde_json::Value;

use super::transport::{MESSAGE_VERSION, PROTOCOL_VERSION};

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
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: JsonObject,
    /// True if the revision gives results a type.
    pub has_typed_result: bool,
    /// True if the client asked for reports of progress and can take them.
    pub takes_reports: bool,
}

impl PlainCall {
    /// Takes the call out of `message`, or returns `None` if the SDK must answer it.
    pub fn take(headers: &HeaderMap, message: &mut Value, takes_events: bool) -> Option<Self> {
        if message["method"] != CALL || message.get("id").is_none() {
            return None;
        }
        let params = message.get_mut("params")?.as_object_mut()?;
        let known = |(name, value): (&String, &Value)| match name.as_str() {
            "name" => value.is_string(),
            "arguments" | "_meta" => value.is_object(),
            _ => false,
        };
        let name = params.get("name")?.as_str()?.to_owned();
        let meta = params.get("_meta").and_then(Value::as_object);
        let takes_reports = takes_events && meta.is_some_and(|meta| meta.contains_key("progressToken"));
        if !params.iter().all(known) {
            return None;
        }
        let has_typed_result = is_stateless(headers, meta, &name)?;
        let arguments = match params.get_mut("arguments").map(Value::take) {
            Some(Value::Object(arguments)) => arguments,
            _ => JsonObject::new(),
        };
        Some(Self { name, arguments, has_typed_result, takes_reports })
    }
}

/// Returns whether a call of the tool `name` is one of the revision without a handshake, or `None` if its headers and metadata are not as
/// its revision demands.
fn is_stateless(headers: &HeaderMap, meta: Option<&JsonObject>, name: &str) -> Option<bool> {
    let is_only = |header, value: &str| headers.get_all(header).iter().eq([value]);
    let Some(version) = meta.and_then(|meta| meta.get(MESSAGE_VERSION)) else {
        let is_known = HANDSHAKE.iter().any(|known| is_only(PROTOCOL_VERSION, known.as_str()));
        return (is_known || !headers.contains_key(PROTOCOL_VERSION)).then_some(false);
    };
    let meta: RequestMetaObject = serde_json::from_value(Value::Object(meta?.clone())).ok()?;
    let is_complete = version == STATELESS.as_str() && meta.missing_required_keys(&STATELESS).is_empty();
    let is_repeated = is_only(PROTOCOL_VERSION, STATELESS.as_str()) && is_only(METHOD, CALL) && is_only(NAME, name);
    (is_complete && is_repeated).then_some(true)
}

#[cfg(test)]
mod tests {
    use poem::http::{HeaderName, HeaderValue};
    use serde_json::json;

    use super::*;

    fn take(headers: &[(&'static str, &'static str)], message: &Value, takes_events: bool) -> Option<PlainCall> {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.append(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        PlainCall::take(&all, &mut message.clone(), takes_events)
    }

    fn call(params: &Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
    }

    fn plain(arguments: &Value, has_typed_result: bool) -> PlainCall {
        let arguments = arguments.as_object().unwrap().clone();
        PlainCall { name: "a".to_owned(), arguments, has_typed_result, takes_reports: false }
    }

    #[test]
    fn a_call_that_needs_only_its_result_is_plain() {
        for headers in [&[][..], &[(PROTOCOL_VERSION, "2025-06-18")], &[(PROTOCOL_VERSION, "2025-11-25")]] {
            let given = call(&json!({ "name": "a", "arguments": { "b": [1] } }));
            assert_eq!(take(headers, &given, true), Some(plain(&json!({ "b": [1] }), false)), "{headers:?}");
            assert_eq!(
                take(headers, &call(&json!({ "name": "a" })), true),
                Some(plain(&json!({}), false)),
                "{headers:?}"
            );
        }
        let with_token = call(&json!({ "name": "a", "_meta": { "progressToken": 1 } }));
        assert_eq!(take(&[], &with_token, false), Some(plain(&json!({}), false)), "no event can tell of the progress");
        assert!(take(&[], &with_token, true).unwrap().takes_reports);
        let with_other = call(&json!({ "name": "a", "_meta": { "vendor/id": 1 } }));
        assert_eq!(take(&[], &with_other, true), Some(plain(&json!({}), false)));
    }

    #[test]
    fn the_sdk_answers_every_other_message() {
        for params in [
            json!({ "name": 7 }),
            json!({ "arguments": {} }),
            json!({ "name": "a", "arguments": [] }),
            json!({ "name": "a", "arguments": null }),
            json!({ "name": "a", "_meta": [] }),
            json!({ "name": "a", "_meta": { MESSAGE_VERSION: "2025-11-25" } }),
            json!({ "name": "a", "task": { "ttl": 1 } }),
        ] {
            assert_eq!(take(&[], &call(&params), true), None, "{params}");
        }
        let params = json!({ "name": "a" });
        for headers in [
            &[(PROTOCOL_VERSION, "2026-07-28")][..],
            &[(PROTOCOL_VERSION, "2025-11-25"), (PROTOCOL_VERSION, "2025-11-25")],
        ] {
            assert_eq!(take(headers, &call(&params), true), None, "{headers:?}");
        }
        let notification = json!({ "jsonrpc": "2.0", "method": "tools/call", "params": params });
        assert_eq!(take(&[], &notification, true), None);
        let other = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
        assert_eq!(take(&[], &other, true), None);
        assert_eq!(take(&[], &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call" }), true), None);
    }

    #[test]
    fn a_call_without_a_handshake_agrees_with_its_headers() {
        let version = (PROTOCOL_VERSION, "2026-07-28");
        let with = |meta: Value| call(&json!({ "name": "a", "_meta": meta }));
        let whole = with(json!({
            MESSAGE_VERSION: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
        }));
        assert_eq!(take(&[version, (METHOD, CALL), (NAME, "a")], &whole, true), Some(plain(&json!({}), true)));
        for headers in [
            &[][..],
            &[version],
            &[version, (METHOD, CALL)],
            &[version, (METHOD, "tools/list"), (NAME, "a")],
            &[version, (METHOD, CALL), (NAME, "b")],
            &[version, (METHOD, CALL), (NAME, "a"), (NAME, "b")],
            &[(PROTOCOL_VERSION, "2025-11-25"), (METHOD, CALL), (NAME, "a")],
        ] {
            assert_eq!(take(headers, &whole, true), None, "{headers:?}");
        }
        for meta in [
            json!({ MESSAGE_VERSION: "2026-07-28" }),
            json!({ MESSAGE_VERSION: "2026-07-28", "io.modelcontextprotocol/clientCapabilities": 1 }),
            json!({ MESSAGE_VERSION: "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {} }),
            json!({ MESSAGE_VERSION: 7, "io.modelcontextprotocol/clientCapabilities": {} }),
        ] {
            assert_eq!(take(&[version, (METHOD, CALL), (NAME, "a")], &with(meta.clone()), true), None, "{meta}");
        }
    }
}
