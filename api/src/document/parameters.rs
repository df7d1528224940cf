//! Parameters: path parameters from the path, query parameters from the table, headers that operations share.
//!
//! Pages that try an operation out fill in the `example` of a parameter, and with it ask a question that nobody asked. So only
//! a required parameter has one. An optional parameter has its example in its schema's `examples`, which they only show.

use serde_json::{Map, Value, json};

use super::each_operation;
use crate::{
    VERSION,
    operation::{EtagKind, Idempotency, Operation, PathParameter},
    params::ParameterDoc,
};

/// Replaces the parameters that poem-openapi derived from signatures with the complete list.
pub fn document_all(document: &mut Value) {
    each_operation(document, |operation, object| {
        let mut parameters: Vec<Value> =
            operation.path_parameters.iter().map(|parameter| reference(parameter.words().0)).collect();
        parameters.extend(operation.parameters().iter().map(|parameter| query_parameter(operation, parameter)));
        parameters.extend(header_parameters(operation));
        object.insert("parameters".to_owned(), Value::Array(parameters));
    });
    let components = document["components"].as_object_mut();
    components.map(|c| c.insert("parameters".to_owned(), shared()));
}

/// Examples of parameters that several operations share, for an operation that does not take the shared one: the operation's id, the
/// parameter, the example. Programs fill optional parameters from their examples.
const OWN_EXAMPLES: [(&str, &str, &str); 1] =
    [("listPropertyCountries", "metricFilters", "countries.impressions>=100,countries.position<=10")];

fn query_parameter(operation: &Operation, parameter: &ParameterDoc) -> Value {
    let mut schema = (parameter.schema)();
    if let Some(default) = parameter.default {
        schema["default"] = typed(&schema, default);
    }
    let mut description = parameter.description.replace('\n', " ");
    if let Some(default) = parameter.default {
        description = format!("{description} Default: `{default}`.");
    }
    let own = OWN_EXAMPLES.iter().find(|(id, name, _)| (*id, *name) == (operation.id, parameter.name));
    let example = typed(&schema, own.map_or(parameter.example, |(_, _, example)| example));
    let place = Place { name: parameter.name, within: "query", required: parameter.required };
    place.parameter(&description, schema, example)
}

/// A parameter's name and place.
struct Place<'a> {
    name: &'a str,
    within: &'a str,
    required: bool,
}

impl Place<'_> {
    /// Returns the parameter object.
    fn parameter(&self, description: &str, mut schema: Value, example: Value) -> Value {
        if !self.required {
            schema["examples"] = json!([example]);
        }
        let mut parameter = json!({
            "name": self.name, "in": self.within, "required": self.required, "description": description, "schema": schema,
        });
        if self.required {
            parameter["example"] = example;
        }
        parameter
    }
}

/// Parses text into the JSON type of the schema.
fn typed(schema: &Value, text: &str) -> Value {
    match schema["type"].as_str() {
        Some("integer" | "number" | "boolean") => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        _ => json!(text),
    }
}

fn header_parameters(operation: &Operation) -> Vec<Value> {
    let mut names = vec!["ApiVersion"];
    if operation.idempotency == Some(Idempotency::Enforced) {
        names.push("IdempotencyKey");
    }
    if operation.etag != EtagKind::None {
        names.push("IfNoneMatch");
    }
    if operation.takes_if_match {
        names.push("IfMatch");
    }
    names.into_iter().map(reference).collect()
}

fn reference(name: &str) -> Value {
    json!({ "$ref": format!("#/components/parameters/{name}") })
}

fn in_path(name: &str, description: &str, schema: Value, example: &str) -> Value {
    Place { name, within: "path", required: true }.parameter(description, schema, json!(example))
}

fn header(name: &str, description: &str, schema: Value, example: &str) -> Value {
    Place { name, within: "header", required: false }.parameter(description, schema, json!(example))
}

fn shared() -> Value {
    let mut all = Map::new();
    for parameter in PathParameter::ALL {
        let (component, name, what) = parameter.words();
        let documented = if parameter == PathParameter::Token {
            let schema = json!({ "type": "string", "minLength": 1, "maxLength": 128 });
            let description = "The token of a share link, as in the public link.";
            in_path(name, description, schema, "q0tQf3c1hN2b6mS8vXyZ4rKjW7uLpE5aTdGiOoBnCkM")
        } else {
            let description = format!("The {what}'s id. Anything but a UUID answers 404.");
            let schema = json!({ "type": "string", "format": "uuid" });
            in_path(name, &description, schema, "01937f5e-8a7b-7c3d-9e4f-0a1b2c3d4e5f")
        };
        all.insert(component.to_owned(), documented);
    }
    all.insert(
        "ApiVersion".to_owned(),
        header(
            "X-API-Version",
            "Pins the API version; a version that is not served is refused with 400.",
            json!({ "type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$", "default": VERSION }),
            VERSION,
        ),
    );
    all.insert("IdempotencyKey".to_owned(), header(
        "Idempotency-Key",
        "1 to 255 printable ASCII characters, unique per caller and path. The first answer, 4xx included, is replayed for 24 hours to retries with the same body, unless it is longer than 256 KiB; use a new key for a corrected body.",
        json!({ "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[\\x20-\\x7E]+$" }), "7f8d0c1e-annotation-1",
    ));
    all.insert(
        "IfNoneMatch".to_owned(),
        header(
            "If-None-Match",
            "The `ETag` of the client's copy. The answer is 304 if the copy is current.",
            json!({ "type": "string", "maxLength": 1024 }),
            "W/\"5f2b9c\"",
        ),
    );
    all.insert(
        "IfMatch".to_owned(),
        header(
            "If-Match",
            "The `ETag` of the record as last read. The answer is 412 if the record has changed since.",
            json!({ "type": "string", "maxLength": 1024 }),
            "\"5f2b9c\"",
        ),
    );
    Value::Object(all)
}
