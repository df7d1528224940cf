//! Tests of the context that tools take: their list, their answers without optional arguments, and a model's view of the largest one.

use std::{fs, path::PathBuf};

use serde_json::{Value, json};

use crate::support::{
    app::{TestApp, shared},
    assistant::{Assistant, text},
};

/// The most bytes of the list of tools.
const LIST: usize = 45_000;
/// The most tools.
const TOOLS: usize = 16;
/// The most bytes of an answer to a call without optional arguments: 4,000 tokens of three bytes.
const ANSWER: usize = 12_000;
/// The demo's largest property.
const LARGEST: &str = "northmoor.example";

/// A call of each tool, and of each kind, with the arguments that it requires and no other.
pub async fn calls(assistant: &Assistant) -> Vec<(String, Value)> {
    let list = assistant.ask("tools/list", json!({})).await.expect(200).json["result"]["tools"].clone();
    let mut calls = Vec::new();
    for tool in list.as_array().unwrap() {
        let (name, schema) = (tool["name"].as_str().unwrap(), &tool["inputSchema"]);
        let mut arguments = json!({});
        for required in schema["required"].as_array().unwrap() {
            let required = required.as_str().unwrap();
            arguments[required] = match required {
                "property" => json!(LARGEST),
                "date" => json!("2026-11-16"),
                "text" => json!("Launch"),
                "kind" => Value::Null,
                other => panic!("{name} requires {other}, of which no value is known here"),
            };
        }
        if arguments.get("kind").is_none() {
            calls.push((name.to_owned(), arguments));
            continue;
        }
        for kind in schema["properties"]["kind"]["enum"].as_array().unwrap() {
            let kind = kind.as_str().unwrap();
            let arguments =
                if ["tags", "filter_presets"].contains(&kind) { json!({}) } else { json!({ "property": LARGEST }) };
            calls.push((format!("{name}/{kind}"), arguments));
        }
    }
    calls
}

/// The parts of a result that a model may see: its text and its structured content.
fn view(result: &Value) -> (String, String) {
    (text(result), result["structuredContent"].to_string())
}

#[tokio::test]
async fn the_list_of_tools_is_short() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let reply = assistant.ask("tools/list", json!({})).await.expect(200);
    assert!(reply.text.len() <= LIST, "the list takes {} bytes of every assistant's context", reply.text.len());
    let tools = reply.json["result"]["tools"].as_array().unwrap().len();
    assert!(tools <= TOOLS, "{tools} tools");
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
    let instructions = assistant.ask("initialize", hello).await.expect(200).json["result"]["instructions"].clone();
    let bytes = instructions.as_str().unwrap().len();
    assert!((500..=4_000).contains(&bytes), "the instructions take {bytes} bytes");
}

#[tokio::test]
async fn no_answer_is_large_unless_asked() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let credential = json!({ "login": "good@demo.test", "password": "demo" });
    owner.put("/api/integrations/provider-a", &credential).await.expect(200);
    let assistant = Assistant::of(&app, &owner);
    let mut views = Vec::new();
    for (tool, arguments) in calls(&assistant).await {
        let result = assistant.call(&tool, arguments.clone()).await;
        assert_eq!(result["isError"], false, "{tool} {arguments}: {result}");
        let (text, structured) = view(&result);
        let bytes = text.len() + structured.len();
        assert!(bytes <= ANSWER, "{tool} {arguments} answers {bytes} bytes: {text}\n{structured}");
        views.push((bytes, tool, text, structured));
    }
    let (_, tool, text, structured) = views.into_iter().max().unwrap();
    let found = format!("{tool}\n\n{text}\n{structured}\n");
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/mcp/largest-answer.txt"));
    if crate::examples::writes() {
        fs::write(file, found).unwrap();
    } else {
        let kept = fs::read_to_string(file).unwrap();
        assert!(
            found == kept,
            "a model's view of the largest answer has changed; run `make examples` and review it:\n{found}"
        );
    }
}

#[tokio::test]
async fn coverage_tells_of_the_rows_that_are_left() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    for tool in ["get_performance", "compare_periods"] {
        let said = assistant.answered(tool, json!({ "property": LARGEST })).await;
        let all = assistant.answered(tool, json!({ "property": LARGEST, "limit": 10 })).await;
        let tables = said["data"]["tables"].as_object().unwrap();
        assert!(tables.values().any(|rows| rows.as_array().unwrap().len() < 10), "{tool}: nothing was cut");
        for (name, rows) in tables {
            let (rows, coverage) = (rows.as_array().unwrap(), &said["meta"]["coverage"][name]);
            assert!(all["data"]["tables"][name].as_array().unwrap().starts_with(rows), "{tool} {name}");
            let clicks: Vec<i64> = rows.iter().filter_map(|row| row["clicks"].as_i64()).collect();
            assert!(!clicks.is_empty(), "{tool} {name}");
            assert_eq!(coverage["rowsShown"], rows.len(), "{tool} {name}");
            assert_eq!(
                coverage["hasMore"],
                coverage["rowsMatched"].as_u64().unwrap() > rows.len() as u64,
                "{tool} {name}"
            );
            if let Some(share) = coverage["clicksShare"].as_f64() {
                assert_eq!(coverage["clicks"], clicks.iter().sum::<i64>(), "{tool} {name}");
                let whole = &all["meta"]["coverage"][name];
                let part = coverage["clicks"].as_f64().unwrap() / whole["clicks"].as_f64().unwrap();
                assert!((share - whole["clicksShare"].as_f64().unwrap() * part).abs() < 0.0002, "{tool} {name}");
            }
        }
    }
}

#[tokio::test]
async fn daily_rows_are_sent_on_request_only() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let insights = async |more: Value| {
        let mut arguments = json!({ "property": LARGEST });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        assistant.call("get_query_insights", arguments).await
    };
    let short = insights(json!({})).await;
    assert_eq!(short["structuredContent"]["data"]["visibility"].get("series"), None);
    assert!(text(&short).contains("Not shown: series; granularity shows them"), "{}", text(&short));
    let long = insights(json!({ "granularity": "week" })).await;
    let weeks = long["structuredContent"]["data"]["visibility"]["series"].as_array().unwrap().len();
    assert!((4..=6).contains(&weeks), "{weeks}");
    assert!(!text(&long).contains("Not shown"), "{}", text(&long));
}

#[tokio::test]
async fn the_sites_that_lost_most_are_told_in_few_words() {
    let app = TestApp::start(|config| config.simulator.sites = 60).await;
    let network = app.actor("network").await;
    let assistant = Assistant::of(&app, &network);
    let result = assistant.call("list_properties", json!({ "compareTo": "previous_period" })).await;
    let (said, structured) = view(&result);
    assert!(said.len() + structured.len() <= ANSWER, "{} and {} bytes", said.len(), structured.len());
    let portfolio = network.get("/api/portfolio?movers=5").await.expect(200).json;
    let lost = portfolio["data"]["movers"]["down"].as_array().unwrap();
    assert!(lost.len() == 5, "{lost:?}");
    for site in lost {
        let name = site["name"].as_str().unwrap();
        assert!(said.contains(name), "{name} is missing: {said}");
    }
    for words in ["Window: 2026-", "Compared with: 2026-", "coverage: "] {
        assert!(said.contains(words), "{words} is missing: {said}");
    }
}
