//! Recognises the calls of tools that need nothing from the protocol's SDK.
//!
//! The SDK starts three tasks and four channels for each message, which cost as much as a warm answer. A call in the revisions with a
//! handshake has no headers to compare with its body. If its client asked for no progress either, its result is the only message, so
//! the transport asks the tool itself.

use poem::http::HeaderMap;
use rmcp::model::{JsonObject, ProtocolVersion};
use serde_json::Value;

use super::transport::{MESSAGE_VERSION, PROTOCOL_VERSION};

/// The revisions with a handshake.
const HANDSHAKE: [ProtocolVersion; 2] = [ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_11_25];

/// A call that needs only its result.
#[derive(Debug, PartialEq)]
pub struct PlainCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments.
    pub arguments: JsonObject,
}

impl PlainCall {
    /// Takes the call out of `message`, or returns `None` if the SDK must answer it. A message with parameters of another shape is
    /// the SDK's to refuse.
    pub fn take(headers: &HeaderMap, message: &mut Value, takes_events: bool) -> Option<Self> {
        let version = headers.get(PROTOCOL_VERSION);
        let has_handshake = version.is_none_or(|version| HANDSHAKE.iter().any(|known| version == known.as_str()));
        if !has_handshake || message["method"] != "tools/call" || message.get("id").is_none() {
            return None;
        }
        let params = message.get_mut("params")?.as_object_mut()?;
        let is_plain = params.iter().all(|(name, value)| match name.as_str() {
            "name" => value.is_string(),
            "arguments" => value.is_object(),
            "_meta" => is_plain(value, takes_events),
            _ => false,
        });
        if !is_plain {
            return None;
        }
        let name = params.get("name")?.as_str()?.to_owned();
        let arguments = params.get_mut("arguments").map(Value::take);
        let arguments = arguments.map_or_else(JsonObject::new, |arguments| match arguments {
            Value::Object(arguments) => arguments,
            _ => JsonObject::new(),
        });
        Some(Self { name, arguments })
    }
}

/// Returns whether metadata asks for nothing: neither for a revision of its own nor for progress that the client can take.
fn is_plain(meta: &Value, takes_events: bool) -> bool {
    let Some(meta) = meta.as_object() else { return false };
    !meta.contains_key(MESSAGE_VERSION) && !(takes_events && meta.contains_key("progressToken"))
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;
    use serde_json::json;

    use super::*;

    fn take(version: Option<&'static str>, message: &Value, takes_events: bool) -> Option<PlainCall> {
        let version = version.map(|version| (PROTOCOL_VERSION.parse().unwrap(), HeaderValue::from_static(version)));
        PlainCall::take(&version.into_iter().collect(), &mut message.clone(), takes_events)
    }

    fn call(params: &Value) -> Value {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
    }

    #[test]
    fn a_call_that_needs_only_its_result_is_plain() {
        let expected = |arguments: Value| {
            Some(PlainCall { name: "a".to_owned(), arguments: arguments.as_object().unwrap().clone() })
        };
        for version in [None, Some("2025-06-18"), Some("2025-11-25")] {
            let given = call(&json!({ "name": "a", "arguments": { "b": [1] } }));
            assert_eq!(take(version, &given, true), expected(json!({ "b": [1] })), "{version:?}");
            assert_eq!(take(version, &call(&json!({ "name": "a" })), true), expected(json!({})), "{version:?}");
        }
        let with_token = call(&json!({ "name": "a", "_meta": { "progressToken": 1 } }));
        assert_eq!(take(None, &with_token, false), expected(json!({})), "no event can tell of the progress");
        let with_other = call(&json!({ "name": "a", "_meta": { "vendor/id": 1 } }));
        assert_eq!(take(None, &with_other, true), expected(json!({})));
    }

    #[test]
    fn the_sdk_answers_every_other_message() {
        for params in [
            json!({ "name": 7 }),
            json!({ "arguments": {} }),
            json!({ "name": "a", "arguments": [] }),
            json!({ "name": "a", "arguments": null }),
            json!({ "name": "a", "_meta": [] }),
            json!({ "name": "a", "_meta": { "progressToken": 1 } }),
            json!({ "name": "a", "_meta": { MESSAGE_VERSION: "2025-11-25" } }),
            json!({ "name": "a", "task": { "ttl": 1 } }),
        ] {
            assert_eq!(take(None, &call(&params), true), None, "{params}");
        }
        let plain = json!({ "name": "a" });
        assert_eq!(take(Some("2026-07-28"), &call(&plain), true), None);
        let notification = json!({ "jsonrpc": "2.0", "method": "tools/call", "params": plain });
        assert_eq!(take(None, &notification, true), None);
        let other = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": plain });
        assert_eq!(take(None, &other, true), None);
        assert_eq!(take(None, &json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call" }), true), None);
    }
}
