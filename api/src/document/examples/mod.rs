//! Examples of bodies, read from `examples/*.json` beside this file: `{ "<operationId>": { "request"?: …, "response"?:
//! …, "question"?: … } }`.
//!
//! Responses of built operations are real answers over the simulated search engine; long lists are shortened.
//! `question` holds the parameters of a request, if they differ from the defaults. Operations that are not built have
//! invented responses with consistent sums. Requests can be sent unchanged. The first example of each schema
//! becomes the schema's own example, if it is small.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::each_operation;

/// Maximum size of a schema's own example, in bytes. A larger one is only at its operation, to keep the document small.
const MOST_BYTES: usize = 1000;

const FILES: &[&str] = &[
    include_str!("discovery.json"),
    include_str!("system.json"),
    include_str!("billing.json"),
    include_str!("properties.json"),
    include_str!("analytics.json"),
    include_str!("classifications.json"),
    include_str!("annotations.json"),
    include_str!("tags.json"),
    include_str!("sharing.json"),
    include_str!("team.json"),
    include_str!("filters.json"),
    include_str!("integrations.json"),
    include_str!("privacy.json"),
];

static EXAMPLES: LazyLock<Map<String, Value>> = LazyLock::new(|| {
    let files = FILES.iter().map(|text| serde_json::from_str::<Map<String, Value>>(text).unwrap_or_default());
    files.flatten().collect()
});

/// Inserts the examples into the document.
pub fn insert(document: &mut Value) {
    let mut samples = Vec::new();
    each_operation(document, |operation, object| {
        let Some(example) = EXAMPLES.get(operation.id) else { return };
        if let (Some(value), Some(body)) = (example.get("request"), object.get_mut("requestBody")) {
            put(&mut body["content"], value, &mut samples);
        }
        let responses = object.get_mut("responses").and_then(Value::as_object_mut).into_iter().flatten();
        let mut successes = responses.filter(|(status, _)| status.starts_with('2')).map(|(_, response)| response);
        if let (Some(value), Some(response)) = (example.get("response"), successes.next()) {
            put(&mut response["content"], value, &mut samples);
        }
    });
    for (schema, value) in samples {
        spread(document, &schema, &value);
    }
}

fn put(content: &mut Value, example: &Value, samples: &mut Vec<(Value, Value)>) {
    let Some(media) = content.as_object_mut().and_then(|media| media.values_mut().next()) else { return };
    media["example"] = example.clone();
    samples.push((media["schema"].clone(), example.clone()));
}

/// Walks an example along its schema and adds it as `examples` to every named schema that has none yet.
fn spread(document: &mut Value, schema: &Value, value: &Value) {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let Some(target) = document.pointer_mut(reference.trim_start_matches('#')) else { return };
        if target.get("examples").is_none() && value.to_string().len() <= MOST_BYTES {
            target["examples"] = json!([value]);
        }
        let target = target.clone();
        return spread(document, &target, value);
    }
    if let (Some(properties), Some(fields)) = (schema.get("properties").and_then(Value::as_object), value.as_object()) {
        for (name, field) in fields {
            if let Some(property) = properties.get(name) {
                spread(document, property, field);
            }
        }
    }
    if let (Some(items), Some(first)) = (schema.get("items"), value.as_array()) {
        for item in first {
            spread(document, items, item);
        }
    }
}
