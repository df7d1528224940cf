//! Schemas of `meta.question`: the parameters of an operation as fields.

use serde_json::{Map, Value, json};

use crate::{
    analytics::PerformanceQuery,
    operation,
    params::{InQuestion, ParameterDoc, QueryParams},
};

/// Writes the schema of each question, whose place `Echo` keeps.
pub fn describe(document: &mut Value) {
    let enums = named_enums(document);
    for operation in operation::all() {
        if let Some(name) = operation.question {
            document["components"]["schemas"][name] = schema("parameters", &operation.parameters(), &enums);
        }
    }
    if let Some(name) = PerformanceQuery::QUESTION {
        let mut fields = Vec::new();
        PerformanceQuery::document(&mut fields);
        document["components"]["schemas"][name] = schema("the body", &fields, &enums);
    }
}

/// The values of every named enumeration, with a reference to it.
fn named_enums(document: &Value) -> Vec<(Value, Value)> {
    let schemas = document["components"]["schemas"].as_object().into_iter().flatten();
    schemas
        .filter_map(|(name, schema)| {
            Some((schema.get("enum")?.clone(), json!({ "$ref": format!("#/components/schemas/{name}") })))
        })
        .collect()
}

fn schema(sent: &str, parameters: &[ParameterDoc], enums: &[(Value, Value)]) -> Value {
    let shown = || parameters.iter().filter(|parameter| parameter.in_question != InQuestion::Never);
    let properties: Map<String, Value> =
        shown().map(|parameter| (parameter.name.to_owned(), property(parameter, enums))).collect();
    let required = shown().filter(|parameter| parameter.in_question == InQuestion::Always);
    json!({
        "type": "object",
        "description": format!("The question as it was understood, defaults included. Sent again as {sent}, it asks the same."),
        "properties": properties,
        "required": required.map(|parameter| parameter.name).collect::<Vec<_>>(),
    })
}

/// The schema of a parameter's value. What a parameter encodes as JSON is JSON here.
fn property(parameter: &ParameterDoc, enums: &[(Value, Value)]) -> Value {
    let mut schema = (parameter.schema)();
    if let Some(content) = schema.get_mut("contentSchema") {
        schema = content.take();
    }
    let named = enums.iter().find(|(values, _)| schema.get("enum") == Some(values));
    let mut schema = named.map_or(schema, |(_, reference)| reference.clone());
    let description = parameter.description.replace('\n', " ").replace("A JSON-encoded array", "An array");
    let first = description.split_once(". ").map_or(&*description, |(first, _)| first);
    schema["description"] = json!(format!("{}.", first.trim_end_matches('.')));
    schema
}
