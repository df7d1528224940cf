//! Tests that a declared default of an argument changes no answer when it is sent.

use serde_json::{Map, Value, json};

use super::size::calls;
use crate::support::{app::shared, assistant::Assistant};

#[tokio::test]
async fn a_declared_default_changes_no_answer_of_a_tool() {
    let assistant = Assistant::of(shared(), &shared().actor("owner").await);
    let tools = assistant.ask("tools/list", json!({})).await.expect(200).json["result"]["tools"].clone();
    let mut sent = 0;
    for (name, required) in calls(&assistant).await {
        let tool = name.split('/').next().unwrap();
        let tool = tools.as_array().unwrap().iter().find(|one| one["name"] == tool).unwrap();
        let declared = tool["inputSchema"]["properties"].as_object().unwrap().iter();
        let declared: Map<String, Value> =
            declared.filter_map(|(name, schema)| Some((name.clone(), schema.get("default")?.clone()))).collect();
        if declared.is_empty() {
            continue;
        }
        assistant.call(&name, required.clone()).await;
        let without = assistant.call(&name, required.clone()).await;
        let each = declared.iter().map(|(name, value)| Map::from_iter([(name.clone(), value.clone())]));
        for defaults in each.chain([declared.clone()]) {
            let mut arguments = required.clone();
            arguments.as_object_mut().unwrap().extend(defaults.clone());
            assert_eq!(assistant.call(&name, arguments).await, without, "{name} with {defaults:?}");
            sent += 1;
        }
    }
    assert!(sent > 40, "{sent}");
}
