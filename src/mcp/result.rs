//! The result of a tool call on its way through the protocol's SDK.
//!
//! A result is written once, as JSON. The SDK takes results as values and writes them again, which costs more than everything else
//! that a warm call does. So the handler hands over the written result beside the SDK, which sees an empty one, and the transport puts
//! the members into place.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use poem::http::request::Parts;
use rmcp::{ErrorData, model::CallToolResult};
use serde_json::Value;

/// The member that the SDK writes for a result without content. The quotes of a text are escaped, so no text looks like it.
const EMPTY: &[u8] = br#""content":[]"#;

/// Takes a result past the SDK, as data of the request.
#[derive(Debug, Clone, Default)]
pub struct Bypass(Arc<OnceLock<Option<Bytes>>>);

impl Bypass {
    /// Makes the SDK write the result: an event is under way, so the result will be one too.
    pub fn close(&self) {
        let _ = self.0.set(None);
    }

    /// Puts the result that was handed over into `message`, which the SDK wrote.
    #[must_use]
    pub fn complete(&self, message: Bytes) -> Bytes {
        let Some(result) = self.0.get().and_then(Option::as_ref) else { return message };
        let Some(at) = message.windows(EMPTY.len()).position(|window| window == EMPTY) else { return message };
        [&message[..at], members(result), &message[at + EMPTY.len()..]].concat().into()
    }
}

/// Returns the members of `result` as JSON. The SDK adds the type of a result, which depends on the revision.
///
/// # Errors
/// An internal error if it cannot be written.
pub fn written(mut result: CallToolResult) -> Result<Bytes, ErrorData> {
    result.result_type = None;
    serde_json::to_vec(&result).map(Bytes::from).map_err(|error| failed(&error))
}

/// Returns the response to the request `id`, whose result has the written members and, if `is_typed`, the type of a final result.
#[must_use]
pub fn message(id: &Value, is_typed: bool, result: &Bytes) -> Bytes {
    let kind = if is_typed { r#""resultType":"complete","# } else { "" };
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{kind}"#);
    [head.as_bytes(), members(result), b"}}"].concat().into()
}

/// Returns the members of a written object without its braces.
fn members(object: &[u8]) -> &[u8] {
    object.strip_prefix(b"{").and_then(|rest| rest.strip_suffix(b"}")).unwrap_or_default()
}

/// Hands the written `result` over to the transport, and returns what the SDK answers.
///
/// # Errors
/// An internal error if the result is none.
pub fn hand_over(outer: &Parts, result: &Bytes) -> Result<CallToolResult, ErrorData> {
    let bypass = outer.extensions.get::<Bypass>();
    if bypass.is_some_and(|bypass| bypass.0.set(Some(result.clone())).is_ok()) {
        let mut empty = CallToolResult::success(Vec::new());
        empty.is_error = None;
        return Ok(empty);
    }
    let mut result: CallToolResult = serde_json::from_slice(result).map_err(|error| failed(&error))?;
    result.result_type = CallToolResult::success(Vec::new()).result_type;
    Ok(result)
}

fn failed(error: &serde_json::Error) -> ErrorData {
    tracing::error!(%error, "the result of a tool cannot be written");
    ErrorData::internal_error("the result cannot be written", None)
}

#[cfg(test)]
mod tests {
    use poem::http::Request;
    use rmcp::model::{
        ContentBlock, JsonRpcResponse, JsonRpcVersion2_0, RequestId, ServerJsonRpcMessage, ServerResult,
    };
    use serde_json::json;

    use super::*;

    fn outer(bypass: Option<&Bypass>) -> Parts {
        let mut parts = Request::new(()).into_parts().0;
        if let Some(bypass) = bypass {
            parts.extensions.insert(bypass.clone());
        }
        parts
    }

    /// Returns the message that the SDK writes for the result of a call.
    fn by_sdk(id: &str, result: CallToolResult) -> Bytes {
        let id = RequestId::String(id.into());
        let message = JsonRpcResponse { jsonrpc: JsonRpcVersion2_0, id, result: ServerResult::CallToolResult(result) };
        serde_json::to_vec(&ServerJsonRpcMessage::Response(message)).unwrap().into()
    }

    fn results() -> [CallToolResult; 3] {
        let text = r#"a text with "content":[] in it"#;
        let mut structured = CallToolResult::success(vec![ContentBlock::text(text)]);
        structured.structured_content = Some(json!({ "content": [], "text": text }));
        let mut meta = rmcp::model::MetaObject::new();
        meta.insert("content".to_owned(), json!([]));
        [structured.clone(), CallToolResult::error(vec![ContentBlock::text(text)]), structured.with_meta(Some(meta))]
    }

    #[test]
    fn a_result_that_is_handed_over_comes_out_as_the_sdk_would_write_it() {
        for (id, result) in ["1", r#""content":[]"#].into_iter().flat_map(|id| results().map(|result| (id, result))) {
            let expected: Value = serde_json::from_slice(&by_sdk(id, result.clone())).unwrap();
            let bypass = Bypass::default();
            let empty = hand_over(&outer(Some(&bypass)), &written(result).unwrap()).unwrap();
            assert_eq!((empty.content.len(), &empty.structured_content), (0, &None));
            let completed: Value = serde_json::from_slice(&bypass.complete(by_sdk(id, empty))).unwrap();
            assert_eq!(completed, expected);
        }
    }

    #[test]
    fn without_a_way_past_the_sdk_the_result_is_whole() {
        let closed = Bypass::default();
        closed.close();
        for outer in [outer(None), outer(Some(&closed))] {
            for result in results() {
                assert_eq!(hand_over(&outer, &written(result.clone()).unwrap()).unwrap(), result);
            }
        }
        let message = by_sdk("1", CallToolResult::success(Vec::new()));
        assert_eq!(closed.complete(message.clone()), message);
    }
}
