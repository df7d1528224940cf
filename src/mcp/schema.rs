//! The schemas of a tool, taken from the published document, so that tools and operations cannot disagree.

use std::collections::BTreeSet;

use api::operation::Operation;
use serde_json::{Map, Value, json};

use super::{
    catalogue::{Dates, Declaration, Effect},
    period::NAMES,
};

/// A JSON object.
pub type Object = Map<String, Value>;

/// The comparison of tools that compare in any case, unless the call names another one.
pub const DEFAULT_COMPARISON: &str = "previous_period";

/// The most rows of a list that the operation does not bound.
const LONGEST_LIST: u64 = 5_000;

/// The published document, as tools read it.
pub struct Document<'a>(pub &'a Value);

impl Document<'_> {
    fn described(&self, operation: &Operation) -> &Value {
        &self.0["paths"][operation.path][operation.method.as_str().to_ascii_lowercase()]
    }

    /// Returns the schema of the operation's query parameter `name`, with its description and example.
    fn parameter(&self, operation: &Operation, name: &str) -> Option<Value> {
        let parameters = self.described(operation)["parameters"].as_array()?;
        let found = parameters.iter().find(|parameter| parameter["in"] == "query" && parameter["name"] == name)?;
        let mut schema = found["schema"].as_object()?.clone();
        schema.insert("description".to_owned(), found["description"].clone());
        schema.insert("examples".to_owned(), json!([found["example"]]));
        Some(Value::Object(schema))
    }

    /// Returns the schema of the operation's request body, if it has one.
    fn body(&self, operation: &Operation) -> Option<&Value> {
        let name =
            self.described(operation)["requestBody"]["content"]["application/json"]["schema"]["$ref"].as_str()?;
        self.component(name)
    }

    fn component(&self, reference: &str) -> Option<&Value> {
        self.0["components"]["schemas"].get(reference.rsplit('/').next()?)
    }

    /// Returns the schema of the arguments of a tool.
    #[must_use]
    pub fn input(&self, tool: &Declaration, operation: &Operation) -> Object {
        let (mut properties, mut required) = (Object::new(), Vec::new());
        if operation.is_property_scoped() {
            properties.insert("property".to_owned(), property());
            required.push(json!("property"));
        }
        for (name, schema) in self.dates(tool, operation) {
            properties.insert(name.to_owned(), schema);
        }
        for name in tool.parameters {
            let Some(mut schema) = self.parameter(operation, name) else { continue };
            if *name == "filters" {
                schema = filters(&schema);
            }
            if let Some((_, default)) = tool.defaults.iter().find(|(known, _)| known == name) {
                schema["default"] = json!(default);
            }
            properties.insert((*name).to_owned(), schema);
        }
        if !tool.rows.is_empty() {
            properties.insert("limit".to_owned(), self.limit(tool, operation));
        }
        if let Some(body) = self.body(operation) {
            let fields = body["properties"].as_object().cloned().unwrap_or_default();
            properties.extend(fields.into_iter().map(|(name, field)| (name, without_null(field))));
            required.extend(body["required"].as_array().cloned().unwrap_or_default());
        }
        if tool.effect == Effect::Add {
            properties.insert("idempotencyKey".to_owned(), idempotency_key());
        }
        let schema = json!({
            "type": "object", "properties": properties, "required": required, "additionalProperties": false,
        });
        self.self_contained(&schema, false)
    }

    /// Returns the schema of a tool's structured content: that of the operation's answer.
    #[must_use]
    pub fn output(&self, operation: &Operation) -> Object {
        let responses = &self.described(operation)["responses"];
        let answer = ["200", "201"].iter().find_map(|status| responses.get(status));
        let schema = answer.map_or(&Value::Null, |answer| &answer["content"]["application/json"]["schema"]);
        let schema = schema["$ref"].as_str().and_then(|name| self.component(name)).unwrap_or(schema);
        self.self_contained(schema, true)
    }

    fn dates(&self, tool: &Declaration, operation: &Operation) -> Vec<(&'static str, Value)> {
        if tool.dates == Dates::None {
            return Vec::new();
        }
        let mut dates = vec![("period", period(tool.dates))];
        let mut add = |name| dates.extend(self.parameter(operation, name).map(|schema| (name, schema)));
        ["startDate", "endDate"].into_iter().for_each(&mut add);
        if tool.dates.compares() {
            ["compareStart", "compareEnd"].into_iter().for_each(&mut add);
            dates.extend(
                self.parameter(operation, "compare").map(|schema| ("compareTo", compare_to(tool.dates, &schema))),
            );
        }
        dates
    }

    fn limit(&self, tool: &Declaration, operation: &Operation) -> Value {
        let bounds = tool.rows.parameters.first().and_then(|name| self.parameter(operation, name));
        let most = bounds.and_then(|schema| schema["maximum"].as_u64()).unwrap_or(LONGEST_LIST);
        json!({
            "type": "integer", "minimum": 1, "maximum": most, "default": tool.rows.default, "examples": [100],
            "description": format!("Most rows of each table, 1 to {most}. The answer says what it leaves out."),
        })
    }

    /// Returns `schema` with the components that it refers to, so that it can be read without the document.
    fn self_contained(&self, schema: &Value, is_answer: bool) -> Object {
        let mut known = BTreeSet::new();
        let mut definitions = Object::new();
        let mut open = Vec::new();
        let mut whole = local(schema, is_answer, &mut open).as_object().cloned().unwrap_or_default();
        while let Some(name) = open.pop() {
            if !known.insert(name.clone()) {
                continue;
            }
            if let Some(component) = self.component(&name) {
                let component = local(component, is_answer, &mut open);
                definitions.insert(name, component);
            }
        }
        if !definitions.is_empty() {
            whole.insert("$defs".to_owned(), Value::Object(definitions));
        }
        whole
    }
}

/// Returns a schema whose references point into itself, and adds the components that it names to `open`. Schemas of answers lose
/// their examples, and descriptions are for reading the document: both would fill a model's context.
fn local(schema: &Value, is_answer: bool, open: &mut Vec<String>) -> Value {
    match schema {
        Value::Object(fields) => {
            let mut out = Object::new();
            for (name, value) in fields {
                match (name.as_str(), value) {
                    ("examples" | "description", _) if is_answer => {}
                    ("$ref", Value::String(reference)) => {
                        let component = reference.rsplit('/').next().unwrap_or_default();
                        open.push(component.to_owned());
                        out.insert(name.clone(), json!(format!("#/$defs/{component}")));
                    }
                    ("properties", Value::Object(properties)) => {
                        let inner = properties.iter().map(|(name, schema)| match name.as_str() {
                            // The arguments again, which the schema of the input describes.
                            "question" if is_answer => (name.clone(), json!({ "type": "object" })),
                            _ => (name.clone(), local(schema, is_answer, open)),
                        });
                        out.insert(name.clone(), Value::Object(inner.collect()));
                    }
                    _ => {
                        out.insert(name.clone(), local(value, is_answer, open));
                    }
                }
            }
            Value::Object(out)
        }
        Value::Array(items) => Value::Array(items.iter().map(|item| local(item, is_answer, open)).collect()),
        other => other.clone(),
    }
}

/// Returns the schema of a field without null: arguments are left out instead, and some models take one type only.
fn without_null(mut field: Value) -> Value {
    let kind = field["type"].as_array().and_then(|kinds| kinds.iter().find(|kind| **kind != "null")).cloned();
    if let Some(kind) = kind {
        field["type"] = kind;
    }
    field
}

fn property() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 2048,
        "description": "The property: its id, its domain or its site URL, as list_properties gives them.",
        "examples": ["example.com", "https://www.example.com/"],
    })
}

fn period(dates: Dates) -> Value {
    let end = if dates == Dates::Calendar { "today" } else { "the last final day" };
    let default = if dates == Dates::Calendar { "all" } else { "last_28_days" };
    json!({
        "type": "string",
        "pattern": "^(yesterday|last_week|this_month|last_month|last_quarter|last_year|this_year|last_[1-9][0-9]*_(days?|months?))$",
        "description": format!(
            "A named window instead of startDate and endDate: {NAMES}. last_N_days ends on {end}; the others follow the calendar in \
             Pacific time. The answer says the dates. Without dates: {default}."
        ),
        "examples": ["last_28_days", "last_month"],
    })
}

/// The names of comparisons are those of the operation.
fn compare_to(dates: Dates, parameter: &Value) -> Value {
    let mut schema = json!({
        "type": "string", "enum": parameter["enum"],
        "description": "The window to compare with, instead of compareStart and compareEnd. previous_period is as many days \
                        immediately before, or as many months of last_month, last_quarter and other whole months; \
                        previous_period_same_weekdays whole weeks before; previous_year the same dates a year before; \
                        previous_year_same_weekdays 364 days before.",
        "examples": ["previous_year"],
    });
    if dates == Dates::Compared {
        schema["default"] = json!(DEFAULT_COMPARISON);
    }
    schema
}

fn filters(parameter: &Value) -> Value {
    let mut schema = parameter["contentSchema"].clone();
    schema["description"] = json!(
        "Conditions on the traffic, combined with classification by AND. logic joins a condition to the one before it, and binds \
         tighter than or. Filters that cannot be answered exactly are refused."
    );
    schema["examples"] = json!([[{ "dimension": "country", "operator": "equals", "value": "usa" }]]);
    schema
}

fn idempotency_key() -> Value {
    json!({
        "type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[\\x20-\\x7E]+$",
        "description": "A key of your choice. A repeated call with the same key and arguments adds nothing and gets the first answer.",
        "examples": ["release-note-2026-11-16"],
    })
}
