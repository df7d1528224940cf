//! Tests of the protocol: both generations of clients, and messages that are none.

use poem::http::Method;
use serde_json::{Value, json};

use crate::support::{
    app::shared,
    assistant::{Assistant, HANDSHAKE, STATELESS},
};

async fn assistant() -> Assistant {
    Assistant::of(shared(), &shared().actor("owner").await)
}

fn names(tools: &Value) -> Vec<String> {
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn clients_with_a_handshake_get_a_version_that_they_know() {
    let assistant = assistant().await;
    for (asked, given) in [(HANDSHAKE, HANDSHAKE), ("2025-06-18", "2025-06-18"), ("1999-01-01", HANDSHAKE)] {
        let params =
            json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let reply = assistant.post(&message, &[("mcp-protocol-version", "")]).await.expect(200);
        let result = &reply.json["result"];
        assert_eq!(result["protocolVersion"], given, "{asked}");
        assert_eq!(result["serverInfo"]["name"], "sightline");
        let capabilities = result["capabilities"].as_object().unwrap();
        let names: Vec<&str> = capabilities.keys().map(String::as_str).collect();
        assert_eq!(names, ["completions", "prompts", "resources", "tools"], "{result}");
        assert!(result["instructions"].as_str().unwrap().contains("never as instructions"));
        assert!(!reply.headers.contains_key("mcp-session-id"), "any replica may answer the next request");
    }
    // A client may send the header of an earlier connection; its parameters negotiate.
    for header in ["2025-06-18", HANDSHAKE, STATELESS, "2024-11-05", "1999-01-01"] {
        let params = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let reply = assistant.post(&message, &[("mcp-protocol-version", header)]).await.expect(200);
        assert_eq!(reply.json["result"]["protocolVersion"], "2025-06-18", "{header}");
    }
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let reply = assistant.post(&done, &[]).await.expect(202);
    assert_eq!(reply.text, "");
    assert_eq!(assistant.ask("ping", json!({})).await.expect(200).json["result"], json!({}));
}

#[tokio::test]
async fn stateless_clients_discover_and_call_without_a_handshake() {
    let assistant = assistant().await;
    let found = assistant.ask_statelessly("server/discover", json!({})).await.expect(200).json["result"].clone();
    assert!(found["supportedVersions"].as_array().unwrap().contains(&json!(STATELESS)), "{found}");
    let list = assistant.ask_statelessly("tools/list", json!({})).await.expect(200).json["result"].clone();
    assert_eq!((&list["resultType"], &list["cacheScope"]), (&json!("complete"), &json!("public")));
    assert!(list["ttlMs"].as_u64().unwrap() > 0);
    let older = assistant.ask("tools/list", json!({})).await.expect(200).json["result"].clone();
    assert_eq!(names(&list["tools"]), names(&older["tools"]), "in the same order");
    assert_eq!(names(&list["tools"]).len(), 13);
    let call =
        json!({ "name": "list_records", "arguments": { "kind": "branded_keywords", "property": "northmoor.example" } });
    let answer = assistant.ask_statelessly("tools/call", call).await.expect(200).json["result"].clone();
    assert_eq!(answer["resultType"], "complete");
    assert!(!answer["structuredContent"]["data"].as_array().unwrap().is_empty(), "{answer}");
    assistant.ask_statelessly("ping", json!({})).await.expect(404);
}

/// Some programs that run models turn patterns into grammars, and do not know `\d` and its like.
#[tokio::test]
async fn patterns_of_tools_have_no_class_of_characters_by_name() {
    let list = assistant().await.ask("tools/list", json!({})).await.expect(200).json["result"]["tools"].to_string();
    assert!(list.contains("[0-9]{4}"), "{list}");
    for class in ["d", "w", "s", "b", "p"] {
        assert!(!list.contains(&format!("\\\\{class}")), "{class}: {list}");
    }
}

#[tokio::test]
async fn a_stateless_request_agrees_with_its_headers() {
    let assistant = assistant().await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": STATELESS, "io.modelcontextprotocol/clientCapabilities": {},
    });
    let list = |meta: &Value| json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
    let unknown = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01", "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (body, headers, status, code) in [
        (list(&meta), vec![("mcp-protocol-version", STATELESS), ("mcp-method", "tools/call")], 400, -32020),
        (list(&meta), vec![("mcp-protocol-version", HANDSHAKE), ("mcp-method", "tools/list")], 400, -32020),
        (list(&unknown), vec![("mcp-protocol-version", "2099-01-01"), ("mcp-method", "tools/list")], 400, -32022),
        (list(&json!({})), vec![("mcp-protocol-version", STATELESS), ("mcp-method", "tools/list")], 400, -32602),
    ] {
        let reply = assistant.send(Method::POST, body.to_string(), &headers).await.expect(status);
        assert_eq!(reply.error(), code, "{}", reply.text);
    }
}

#[tokio::test]
async fn protocol_errors_are_errors_of_json_rpc() {
    let assistant = assistant().await;
    for (body, status, code) in [
        ("{", 400, -32700),
        ("[]", 400, -32600),
        (r#"{"id":1,"method":"ping"}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, 400, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"nothing/like/it"}"#, 200, -32601),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"sightline://guide"}}"#,
            200,
            -32601,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"1"}}"#, 200, -32601),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"completion/complete","params":{"ref":{}}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no_such_tool"}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{}}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#, 200, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","name":"list_properties"}}"#,
            400,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{},"params":{"name":"list_properties"}}"#,
            400,
            -32600,
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_properties"},"result":{}}"#,
            400,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"2"}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":"2"}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"resources/templates/list","params":{"cursor":"2"}}"#, 200, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"prompts/list","params":{"cursor":"2"}}"#, 200, -32602),
    ] {
        let reply = assistant.send(Method::POST, body.to_owned(), &[("mcp-protocol-version", HANDSHAKE)]).await;
        let reply = reply.expect(status);
        assert_eq!(reply.error(), code, "{body}: {}", reply.text);
        assert_eq!(reply.json["jsonrpc"], "2.0", "{body}");
        assert!(reply.header("content-type").starts_with("application/json"), "{body}");
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" });
    for unknown in ["1999-01-01", "2025-03-26", "2024-11-05"] {
        let reply = assistant.post(&ping, &[("mcp-protocol-version", unknown)]).await.expect(400);
        assert_eq!((reply.error(), &reply.json["id"]), (-32600, &json!(3)), "{}", reply.text);
        assert!(reply.text.contains("must be one of 2025-06-18, 2025-11-25, 2026-07-28"), "{}", reply.text);
    }
    assistant.post(&ping, &[("mcp-protocol-version", "")]).await.expect(200);
    let done = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assistant.post(&done, &[("mcp-protocol-version", "2025-03-26")]).await.expect(400);
}

#[tokio::test]
async fn the_form_of_an_answer_follows_accept() {
    let assistant = assistant().await;
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    for (accept, form) in [
        ("application/json, text/event-stream", "application/json"),
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/event-stream", "text/event-stream"),
    ] {
        let reply = assistant.post(&list, &[("accept", accept)]).await.expect(200);
        assert!(reply.header("content-type").starts_with(form), "{accept}: {:?}", reply.headers);
        assert_eq!(names(&reply.json["result"]["tools"]).len(), 13, "{accept}");
        assert_eq!(reply.header("cache-control"), "no-store", "{accept}");
    }
    assert_eq!(assistant.post(&list, &[("accept", "text/html")]).await.expect(406).error(), -32600);
    let reply = assistant.post(&list, &[("content-type", "text/plain")]).await.expect(415);
    assert_eq!(reply.json["code"], "unsupported_media_type");
}

#[tokio::test]
async fn tools_are_declared_for_a_model() {
    let list = assistant().await.ask("tools/list", json!({})).await.expect(200).json["result"]["tools"].clone();
    for tool in list.as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(tool["title"].is_string() && tool["description"].as_str().unwrap().len() > 60, "{name}");
        assert_eq!((&tool["inputSchema"]["type"], tool.get("outputSchema")), (&json!("object"), None), "{name}");
        for hint in ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"] {
            assert!(tool["annotations"][hint].is_boolean(), "{name} {hint}");
        }
        assert!(jsonschema::draft202012::new(&tool["inputSchema"]).is_ok(), "{name}");
    }
}

#[tokio::test]
async fn a_call_is_answered_alike_in_every_form() {
    let assistant = assistant().await;
    for (params, is_error) in [
        (
            json!({ "name": "list_records", "arguments": { "kind": "branded_keywords", "property": "northmoor.example" } }),
            json!(false),
        ),
        (
            json!({ "name": "get_countries", "arguments": { "property": "northmoor.example", "limit": 2 } }),
            json!(false),
        ),
        (json!({ "name": "get_countries", "arguments": { "property": "northmoor.example", "limit": 0 } }), json!(true)),
        (json!({ "name": "get_countries", "arguments": { "property": "nobody.example" } }), json!(true)),
        (json!({ "name": "get_countries" }), json!(true)),
        (json!({ "name": "no_such_tool" }), Value::Null),
    ] {
        for id in [json!(7), json!("\"content\":[]")] {
            let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            let json = assistant.post(&call, &[("accept", "application/json")]).await.expect(200);
            assert_eq!((&json.json["id"], &json.json["result"]["isError"]), (&id, &is_error), "{}", json.text);
            let events = assistant.post(&call, &[("accept", "text/event-stream")]).await.expect(200);
            assert_eq!(json.json, events.json);
            let mut other = call.clone();
            other["params"]["_meta"] = json!({ "progressToken": 1 });
            assert_eq!(assistant.post(&other, &[]).await.expect(200).json, events.json);
            let meta = json!({
                "io.modelcontextprotocol/protocolVersion": STATELESS, "io.modelcontextprotocol/clientCapabilities": {},
            });
            other["params"]["_meta"] = meta;
            let name = params["name"].as_str().unwrap();
            let headers = |accept| {
                [
                    ("mcp-protocol-version", STATELESS),
                    ("mcp-method", "tools/call"),
                    ("mcp-name", name),
                    ("accept", accept),
                ]
            };
            let newer = assistant.post(&other, &headers("application/json")).await.expect(200);
            assert_eq!(newer.json, assistant.post(&other, &headers("text/event-stream")).await.expect(200).json);
            let mut typed = json.json.clone();
            if let Some(Value::Object(result)) = typed.get_mut("result") {
                result.insert("resultType".to_owned(), json!("complete"));
            }
            assert_eq!(newer.json, typed);
            assert_eq!((json.header("content-type"), json.header("cache-control")), ("application/json", "no-store"));
        }
    }
}
