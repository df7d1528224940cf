//! The result of a tool call as JSON. It is written once, and kept beside the answer that it was made of.

use bytes::Bytes;
use rmcp::{ErrorData, model::CallToolResult};
use serde_json::{Value, json};

use super::waiting::Written;

/// Returns the members of `result`, without its type, which depends on the revision.
///
/// # Errors
/// An internal error if it cannot be written.
pub fn written(mut result: CallToolResult) -> Written {
    result.result_type = None;
    serde_json::to_vec(&result).map(Bytes::from).map_err(|error| failed(&error))
}

/// Returns the response to the request `id`. A result gets the type of a final one if `is_typed`.
#[must_use]
pub fn message(id: &Value, is_typed: bool, result: &Written) -> Bytes {
    let result = match result {
        Ok(result) => result.strip_prefix(b"{").unwrap_or_default(),
        Err(error) => return json!({ "jsonrpc": "2.0", "id": id, "error": error }).to_string().into(),
    };
    let kind = if is_typed { r#""resultType":"complete","# } else { "" };
    let head = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{kind}"#);
    [head.as_bytes(), result, b"}"].concat().into()
}

/// Reads a written result for the SDK, which removes the type where the revision has none.
///
/// # Errors
/// An internal error if the result is none.
pub fn read(result: &Bytes) -> Result<CallToolResult, ErrorData> {
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
    use rmcp::model::{
        ContentBlock, JsonRpcError, JsonRpcResponse, JsonRpcVersion2_0, MetaObject, RequestId, ServerJsonRpcMessage,
        ServerResult,
    };

    use super::*;

    fn results() -> [CallToolResult; 3] {
        let text = r#"a text with "content":[] in it"#;
        let mut structured = CallToolResult::success(vec![ContentBlock::text(text)]);
        structured.structured_content = Some(json!({ "content": [], "text": text }));
        let mut meta = MetaObject::new();
        meta.insert("content".to_owned(), json!([]));
        [structured.clone(), CallToolResult::error(vec![ContentBlock::text(text)]), structured.with_meta(Some(meta))]
    }

    fn json(message: &Bytes) -> Value {
        serde_json::from_slice(message).unwrap()
    }

    #[test]
    fn a_message_is_what_the_sdk_would_write() {
        for (id, result) in ["1", "\"\\"].into_iter().flat_map(|id| results().map(|result| (id, result))) {
            let response = JsonRpcResponse {
                jsonrpc: JsonRpcVersion2_0,
                id: RequestId::String(id.into()),
                result: ServerResult::CallToolResult(result.clone()),
            };
            let typed = serde_json::to_value(ServerJsonRpcMessage::Response(response)).unwrap();
            assert_eq!(json(&message(&json!(id), true, &written(result.clone()))), typed);
            let mut untyped = typed;
            untyped["result"].as_object_mut().unwrap().remove("resultType").unwrap();
            assert_eq!(json(&message(&json!(id), false, &written(result.clone()))), untyped);
            assert_eq!(read(&written(result.clone()).unwrap()).unwrap(), result);
        }
        let error = ErrorData::internal_error("no", None);
        let refusal = JsonRpcError { jsonrpc: JsonRpcVersion2_0, id: Some(RequestId::Number(1)), error: error.clone() };
        let refusal = serde_json::to_value(ServerJsonRpcMessage::Error(refusal)).unwrap();
        assert_eq!(json(&message(&json!(1), true, &Err(error))), refusal);
    }
}
