//! Tests that a declared default of an argument changes no answer when it is sent, and that text means the value that it writes.

use serde_json::{Map, Value, json};

use super::size::calls;
use crate::support::{app::shared, assistant::Assistant};

/// A value as the clients and models send it that write every value as text.
fn written(value: &Value) -> Value {
    if value.is_string() { value.clone() } else { json!(value.to_string()) }
}

/// A value of an argument that asks for nothing: the declared default, or an empty list.
fn nothing(schema: &Value) -> Option<Value> {
    let empty = (schema["type"] == "array").then(|| json!([]));
    schema.get("default").cloned().or(empty)
}

/// Calls a tool with each of `defaults`, and with all of them, as values and as text. Each answer is that without them. Returns the calls.
async fn check(assistant: &Assistant, tool: &str, asked: &Value, defaults: &Map<String, Value>) -> usize {
    assistant.call(tool, asked.clone()).await;
    let without = assistant.call(tool, asked.clone()).await;
    let each = defaults.iter().map(|(name, value)| Map::from_iter([(name.clone(), value.clone())]));
    let mut sent = 0;
    for values in each.chain([defaults.clone()]) {
        let texts: Map<_, _> = values.iter().map(|(name, value)| (name.clone(), written(value))).collect();
        for more in [Some(&values), Some(&texts).filter(|texts| **texts != values)].into_iter().flatten() {
            let mut arguments = asked.clone();
            arguments.as_object_mut().unwrap().extend(more.clone());
            assert_eq!(assistant.call(tool, arguments).await, without, "{tool} {asked} with {more:?}");
            sent += 1;
        }
    }
    sent
}

#[tokio::test]
async fn a_declared_default_changes_no_answer_of_a_tool() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let tools = assistant.ask("tools/list", json!({})).await.expect(200).json["result"]["tools"].clone();
    let mut sent = 0;
    for (name, mut asked) in calls(&assistant).await {
        let tool = name.split('/').next().unwrap();
        let tool = tools.as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap();
        let schemas = tool["inputSchema"]["properties"].as_object().unwrap();
        let mut defaults: Map<String, Value> =
            schemas.iter().filter_map(|(name, schema)| Some((name.clone(), nothing(schema)?))).collect();
        if defaults.is_empty() {
            continue;
        }
        sent += check(&assistant, &name, &asked, &defaults).await;
        // The tool's other use, if an argument chooses one.
        for (chooser, value) in [("dimensions", json!(["query"])), ("compareTo", json!("previous_period"))] {
            if schemas.get(chooser).is_some_and(|schema| schema.get("default").is_none()) {
                defaults.remove(chooser);
                asked[chooser] = value;
                sent += check(&assistant, &name, &asked, &defaults).await;
            }
        }
    }
    assert!(sent > 150, "{sent}");
}

/// A model may write every value as text, and its client a boolean as its language does.
#[tokio::test]
async fn text_means_the_value_that_it_writes() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let filter = json!({ "dimension": "query", "operator": "contains", "value": "1" });
    for (tool, meant, texts) in [
        ("get_countries", json!({ "limit": 5, "offset": 1 }), json!({ "limit": "5", "offset": "1" })),
        ("get_countries", json!({ "limit": 5, "offset": 1 }), json!({ "limit": "5.0", "offset": " 1 " })),
        ("get_countries", json!({ "limit": 5 }), json!({ "limit": "5", "offset": "null", "filters": "null" })),
        ("get_countries", json!({ "filters": [filter] }), json!({ "filters": json!([filter]).to_string() })),
        ("get_countries", json!({ "filters": [filter] }), json!({ "filters": [filter.to_string()] })),
        (
            "get_performance",
            json!({ "dimensions": ["query"], "filters": [filter], "limit": 3, "offset": 2 }),
            json!({ "dimensions": "[\"query\"]", "filters": [filter.to_string()], "limit": "3", "offset": "2" }),
        ),
        (
            "get_performance",
            json!({ "dimensions": ["query"], "limit": 3 }),
            json!({ "dimensions": "query", "limit": 3 }),
        ),
        ("get_countries", json!({ "filters": [filter] }), json!({ "filters": filter })),
        ("list_records/annotations", json!({ "includeSystem": true }), json!({ "includeSystem": "True" })),
        ("list_records/annotations", json!({ "includeSystem": true }), json!({ "includeSystem": 1 })),
        ("list_records/annotations", json!({}), json!({ "includeSystem": "0" })),
        ("list_records/annotations", json!({}), json!({ "includeSystem": "FALSE", "suggest": 0 })),
    ] {
        let [meant, texts] = [meant, texts].map(|mut arguments| {
            arguments["property"] = json!("northmoor.example");
            arguments
        });
        let expected = assistant.answered(tool, meant).await;
        assert_eq!(assistant.answered(tool, texts.clone()).await, expected, "{tool} {texts}");
    }
    let twice = r#"[{"dimension":"query","dimension":"page","operator":"equals","value":"x"}]"#;
    for more in [json!({}), json!({ "dimensions": ["query"] })] {
        let mut arguments = json!({ "property": "northmoor.example", "filters": twice });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let (_, said) = assistant.refused("get_performance", arguments).await;
        assert!(said.contains("filters"), "{said}");
    }
}
