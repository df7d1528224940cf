//! Tests of the arguments of tools and the parameters of methods: their types, and the refusals that name them.

use serde_json::{Value, json};

use crate::support::{
    app::{TestApp, shared},
    assistant::{Assistant, text},
};

/// Values of every type. Each argument of a tool refuses some of them.
fn values() -> [Value; 7] {
    [json!([]), json!({}), json!([[1]]), json!(true), json!(1.5), json!(-1), json!("no such")]
}

/// Arguments of a call that differs from one that is answered in `argument` only.
fn arguments_with(tool: &str, schema: &Value, argument: &str, value: &Value) -> Value {
    let mut arguments = json!({});
    for (name, known) in
        [("property", "northmoor.example"), ("kind", "annotations"), ("date", "2026-11-16"), ("text", "x")]
    {
        if schema["properties"].get(name).is_some() {
            arguments[name] = json!(known);
        }
    }
    if tool == "find_growth_opportunities" {
        arguments["kind"] = json!("rank");
    }
    arguments[argument] = value.clone();
    arguments
}

#[tokio::test]
async fn a_value_of_a_wrong_type_is_refused_by_the_name_of_its_argument() {
    let app = TestApp::start(|_| {}).await;
    let assistant = Assistant::of(&app, &app.actor("owner").await);
    let list = assistant.ask("tools/list", json!({})).await.expect(200).json["result"]["tools"].clone();
    let mut refused = 0;
    for tool in list.as_array().unwrap() {
        let (name, schema) = (tool["name"].as_str().unwrap(), &tool["inputSchema"]);
        if tool["annotations"]["openWorldHint"] == true {
            continue;
        }
        for argument in schema["properties"].as_object().unwrap().keys() {
            for value in values() {
                let result = assistant.call(name, arguments_with(name, schema, argument, &value)).await;
                // No property has this name, and every text is one of an annotation.
                if result["isError"] == false || (argument == "property" && value.is_string()) {
                    continue;
                }
                let said = text(&result);
                let names = ["", "[0]"].map(|element| format!("\n{argument}{element}: "));
                assert!(names.iter().any(|named| said.contains(named)), "{name} {argument}={value}: {said}");
                refused += 1;
            }
        }
    }
    assert!(refused > 300, "{refused}");
}

#[tokio::test]
async fn a_parameter_of_a_wrong_type_is_refused_by_its_name() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let prompt = json!({ "type": "ref/prompt", "name": "monthly_report" });
    let hello =
        |version: Value, client: Value| json!({ "protocolVersion": version, "capabilities": {}, "clientInfo": client });
    for (method, params, said) in [
        ("tools/call", json!({ "name": 7 }), "name: must be a string"),
        ("tools/call", json!({}), "name: is required and must be a string"),
        ("tools/call", json!({ "name": "get_countries", "arguments": [] }), "arguments: must be an object"),
        ("tools/call", json!({ "name": "get_countries", "arguments": "{}" }), "arguments: must be an object"),
        ("tools/call", json!({ "name": "get_countries", "inputResponses": 7 }), "params: do not fit tools/call"),
        ("resources/read", json!({ "uri": 7 }), "uri: must be a string"),
        ("prompts/get", json!({ "name": 7 }), "name: must be a string"),
        ("prompts/get", json!({ "name": "monthly_report", "arguments": 7 }), "arguments: must be an object"),
        ("completion/complete", json!({}), "ref: is required and must be {\"type\": \"ref/prompt\", \"name\": …} or "),
        ("completion/complete", json!({ "ref": { "type": "ref/none", "name": "x" } }), "ref: must be {"),
        ("completion/complete", json!({ "ref": prompt, "argument": [] }), "argument: must be an object"),
        (
            "completion/complete",
            json!({ "ref": prompt, "argument": { "name": "property" } }),
            "argument.value: is required and must be a string",
        ),
        ("initialize", hello(json!(7), json!({ "name": "t", "version": "1" })), "protocolVersion: must be a string"),
        ("initialize", hello(json!("2025-11-25"), json!({})), "clientInfo.name: is required and must be a string"),
    ] {
        for reply in
            [assistant.ask(method, params.clone()).await, assistant.ask_statelessly(method, params.clone()).await]
        {
            let reply = reply.expect(200);
            let message = reply.json["error"]["message"].as_str().unwrap();
            assert!(reply.error() == -32602 && message.starts_with(said), "{method} {params}: {message}");
        }
    }
    let reply = assistant.ask("ping", json!({ "_meta": 7 })).await.expect(400);
    assert_eq!((reply.error(), &reply.json["error"]["message"]), (-32602, &json!("_meta: must be an object")));
}

/// JSON Schema holds 1.0 for an integer.
#[tokio::test]
async fn a_whole_number_may_have_a_fraction_of_zero() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    for (tool, with, without) in [
        ("get_countries", json!({ "limit": 2.0, "offset": 1.0 }), json!({ "limit": 2, "offset": 1 })),
        ("list_properties", json!({ "days": 7.0, "limit": 1e0 }), json!({ "days": 7, "limit": 1 })),
    ] {
        let [with, without] = [with, without].map(|mut arguments| {
            if tool == "get_countries" {
                arguments["property"] = json!("northmoor.example");
            }
            arguments
        });
        assert!(with.to_string().contains(".0"), "{with}");
        assert_eq!(assistant.answered(tool, with).await, assistant.answered(tool, without).await, "{tool}");
    }
}

#[tokio::test]
async fn a_list_that_is_cut_has_more() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let before = owner.listed("/api/tags").await.len();
    for number in before..30 {
        owner.post("/api/tags", &json!({ "name": format!("tag {number}") })).await.expect(201);
    }
    let assistant = Assistant::of(&app, &owner);
    for (arguments, rows, has_more) in
        [(json!({}), 25, true), (json!({ "limit": 29 }), 29, true), (json!({ "limit": 30 }), 30, false)]
    {
        let result = assistant.call("list_records/tags", arguments).await;
        let shown = &result["structuredContent"];
        assert_eq!(shown["data"].as_array().unwrap().len(), rows);
        assert_eq!(shown["meta"], json!({ "total": 30, "hasMore": has_more }));
        let told = text(&result).contains(&format!("Shown in part: rows {rows} of 30; a larger limit shows more"));
        assert_eq!(told, has_more, "{}", text(&result));
    }
}
