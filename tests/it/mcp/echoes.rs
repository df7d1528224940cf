//! Tests that errors repeat what a client has sent clean and short.

use common::plain_text::is_unseen;
use poem::http::Method;
use serde_json::{Value, json};

use crate::support::{
    app::shared,
    assistant::{Assistant, HANDSHAKE, STATELESS},
};

/// The most bytes of an error that names 100 characters of the client's.
const MOST: usize = 1_000;

/// A name that hides and is very long.
fn hostile() -> String {
    format!("a\u{202e}\u{1b}[31m\u{200b}\u{e0041}{}", "A".repeat(100_000))
}

fn request(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

/// Every text in a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(fields) => {
            fields.iter().flat_map(|(name, value)| [vec![name.as_str()], texts(value)].concat()).collect()
        }
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn errors_repeat_names_clean_and_short() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let name = hostile();
    let called = |mut arguments: Value| {
        arguments["property"] = json!("northmoor.example");
        ("tools/call", json!({ "name": "get_countries", "arguments": arguments }))
    };
    let completed =
        json!({ "ref": { "type": "ref/prompt", "name": "monthly_report" }, "argument": { "name": name, "value": "" } });
    let hello = json!({ "protocolVersion": name, "capabilities": {}, "clientInfo": { "name": name, "version": name } });
    for (method, params) in [
        (name.as_str(), json!({})),
        ("tools/call", json!({ "name": name })),
        called(json!({ &name: 1 })),
        called(json!({ "filters": [{ &name: 1 }] })),
        called(json!({ "searchType": name[..1_000] })),
        ("prompts/get", json!({ "name": name })),
        ("prompts/get", json!({ "name": "monthly_report", "arguments": { &name: "x" } })),
        ("completion/complete", completed),
        ("resources/read", json!({ "uri": name })),
        ("tools/list", json!({ "cursor": name })),
    ] {
        let body = request(method, &params);
        check(&body, &assistant.send(Method::POST, body.clone(), &[("mcp-protocol-version", HANDSHAKE)]).await.json);
    }
    let hello = assistant.send(Method::POST, request("initialize", &hello), &[]).await.expect(200);
    assert!(!hello.text.contains("AAA"), "{}", hello.text);
    let twice = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{{0}:1,{0}:2}}}}"#, json!(name));
    check("twice", &assistant.send(Method::POST, twice, &[("mcp-protocol-version", HANDSHAKE)]).await.json);
}

#[tokio::test]
async fn errors_repeat_headers_clean_and_short() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let (name, long) = (hostile(), "x".repeat(3_000));
    for (method, params, version, headers) in [
        (
            "tools/call",
            json!({ "name": name }),
            STATELESS,
            [("mcp-method", "tools/call"), ("mcp-name", "get_countries")],
        ),
        (&name, json!({}), STATELESS, [("mcp-method", "tools/call"), ("mcp-name", "get_countries")]),
        ("tools/call", json!({ "name": "x" }), STATELESS, [("mcp-method", "tools/call"), ("mcp-name", &long)]),
        ("tools/call", json!({ "name": "x" }), STATELESS, [("mcp-method", &long), ("mcp-name", "x")]),
        ("tools/list", json!({}), &name, [("mcp-method", "tools/list"), ("mcp-name", "x")]),
    ] {
        let mut params = params;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": {},
        });
        let headers = [headers.as_slice(), &[("mcp-protocol-version", STATELESS)]].concat();
        let reply = assistant.send(Method::POST, request(method, &params), &headers).await.expect(400);
        check(method, &reply.json);
    }
}

/// Fails the test if an answer says what nobody sees, or much.
fn check(what: &str, answer: &Value) {
    let said = answer.to_string();
    let what: String = what.chars().take(200).collect();
    assert!(answer.is_object() && said.len() <= MOST, "{what}: {} bytes", said.len());
    for text in texts(answer) {
        assert!(!text.chars().any(|letter| letter != '\n' && is_unseen(letter)), "{what}: {text:?}");
    }
}
