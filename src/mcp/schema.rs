//! The schemas of a tool's arguments, taken from the published document, so that tools and operations cannot disagree.
//!
//! Every assistant holds all of them in its context, so a schema says what a value may be and one short sentence. What sorts of tools
//! share is explained at length once, in `instructions.md`. The operation judges the values, and its hints name the way out.

use api::operation::Operation;
use serde_json::{Map, Value, json};

use super::{
    catalogue::{Dates, Declaration, Effect},
    fit::BUDGET,
};

/// A JSON object.
pub type Object = Map<String, Value>;

/// The comparison of tools that compare in any case, unless the call names another one.
pub const DEFAULT_COMPARISON: &str = "previous_period";

/// The most rows of a list that the operation does not bound.
const LONGEST_LIST: u64 = 5_000;

/// The arguments that several tools take, each in a sentence.
const SHARED: [(&str, &str); 16] = [
    ("property", "Its id, domain or site URL, as list_properties gives them."),
    (
        "period",
        "Instead of startDate and endDate: last_N_days, last_N_months, yesterday, last_week, this_month, last_month, last_quarter, \
         last_year or this_year.",
    ),
    ("startDate", "First day, YYYY-MM-DD."),
    ("endDate", "Last day, inclusive."),
    ("compareStart", "First day to compare with."),
    ("compareEnd", "Last day to compare with."),
    ("compareTo", "The window to compare with, by name."),
    ("classification", "Part of the traffic: branded, nonBranded, segment:<id> or topicCluster:<id>."),
    ("searchType", "Kind of search."),
    ("filters", "Conditions on the traffic; logic joins a condition to the one before it."),
    ("dataState", "all also counts the days that are not final yet."),
    ("granularity", "Length of the periods of a series."),
    ("sort", "Order of the rows, such as -impressions, position or change.clicks."),
    ("metricFilters", "Conditions on the rows, such as impressions>=100,position<=10."),
    ("offset", "Rows to skip."),
    ("idempotencyKey", "A key of your choice. A repeated call with it adds nothing and gets the first answer."),
];

/// The form of a day. Some models' APIs refuse a whole list of tools for one `format` that they do not have.
const DAY: &str = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$";
/// The form of a day in words.
const DAY_IN_WORDS: &str = "YYYY-MM-DD";

/// The keywords of a schema that an argument keeps. Every model's API takes them.
const KEPT: [&str; 10] = [
    "type",
    "enum",
    "minimum",
    "maximum",
    "default",
    "items",
    "maxItems",
    "properties",
    "required",
    "additionalProperties",
];

/// The arguments of a tool.
#[derive(Debug, Default)]
pub struct Arguments {
    /// The schema of each.
    pub schemas: Object,
    /// The names of required arguments.
    pub required: Vec<String>,
}

/// The published document, as tools read it.
pub struct Document<'a>(pub &'a Value);

impl Document<'_> {
    fn described(&self, operation: &Operation) -> &Value {
        &self.0["paths"][operation.path][operation.method.as_str().to_ascii_lowercase()]
    }

    /// Returns the schema and the description of the operation's parameter `name`: a query parameter, or a field of the body.
    fn parameter(&self, operation: &Operation, name: &str) -> Option<(&Value, &Value)> {
        let mut parameters = self.described(operation)["parameters"].as_array()?.iter();
        if let Some(found) = parameters.find(|parameter| parameter["in"] == "query" && parameter["name"] == name) {
            return Some((&found["schema"], &found["description"]));
        }
        let field = self.body(operation)?["properties"].get(name)?;
        Some((field, &field["description"]))
    }

    /// Returns the schema of the operation's request body, if it has one.
    fn body(&self, operation: &Operation) -> Option<&Value> {
        let schema = &self.described(operation)["requestBody"]["content"]["application/json"]["schema"];
        self.component(schema["$ref"].as_str()?)
    }

    fn component(&self, reference: &str) -> Option<&Value> {
        self.0["components"]["schemas"].get(reference.rsplit('/').next()?)
    }

    /// Returns the arguments of a tool.
    #[must_use]
    pub fn arguments(&self, tool: &Declaration, operation: &Operation) -> Arguments {
        let mut found = Arguments::default();
        if operation.is_property_scoped() {
            found.add("property", json!({ "type": "string" }), "");
            found.required.push("property".to_owned());
        }
        if tool.dates.has_window() {
            found.add("period", json!({ "type": "string" }), "");
        }
        for (parameter, name) in tool.dates.parameters() {
            self.add_parameter(operation, parameter, name, &mut found);
        }
        for name in tool.parameters {
            self.add_parameter(operation, name, name, &mut found);
            if let Some((_, default)) = tool.defaults.iter().find(|(known, _)| known == name) {
                found.schemas[*name]["default"] = json!(default);
            }
        }
        if tool.dates == Dates::Compared {
            found.schemas["compareTo"]["default"] = json!(DEFAULT_COMPARISON);
        }
        if !tool.rows.is_empty() {
            let (limit, said) = self.limit(tool, operation);
            found.add("limit", limit, &said);
        }
        if let Some(body) = self.body(operation).filter(|_| !tool.asks_by_body()) {
            for (name, field) in body["properties"].as_object().into_iter().flatten() {
                found.add(name, self.plain(field), field["description"].as_str().unwrap_or_default());
            }
            let required = body["required"].as_array().into_iter().flatten();
            found.required.extend(required.filter_map(|name| name.as_str().map(str::to_owned)));
        }
        if tool.effect == Effect::Add {
            found.add("idempotencyKey", json!({ "type": "string" }), "");
        }
        found
    }

    /// Adds the operation's parameter as the argument `name`. A parameter that holds JSON is an argument of that form.
    fn add_parameter(&self, operation: &Operation, parameter: &str, name: &str, found: &mut Arguments) {
        let Some((schema, description)) = self.parameter(operation, parameter) else { return };
        let schema = schema.get("contentSchema").unwrap_or(schema);
        found.add(name, self.plain(schema), description.as_str().unwrap_or_default());
    }

    fn limit(&self, tool: &Declaration, operation: &Operation) -> (Value, String) {
        let bounded = tool.rows.parameters.first().and_then(|name| self.parameter(operation, name));
        let most = bounded.and_then(|(schema, _)| schema["maximum"].as_u64()).unwrap_or(LONGEST_LIST);
        let said = format!(
            "Most rows of each list. Without it: {}, fewer where they take over {BUDGET} bytes.",
            tool.rows.default
        );
        (json!({ "type": "integer", "minimum": 1, "maximum": most }), said)
    }

    /// Returns a schema without words and references. A value that may be null is never null here: arguments are left out instead.
    fn plain(&self, schema: &Value) -> Value {
        let target =
            schema["$ref"].as_str().or_else(|| schema["oneOf"].as_array()?.iter().find_map(|one| one["$ref"].as_str()));
        if let Some(component) = target.and_then(|reference| self.component(reference)) {
            return self.plain(component);
        }
        let fields = schema.as_object().into_iter().flatten().filter(|(name, _)| KEPT.contains(&name.as_str()));
        let fields = fields.filter_map(|(name, value)| {
            let value = match (name.as_str(), value) {
                ("type", Value::Array(types)) => types.iter().find(|kind| **kind != "null")?.clone(),
                ("items", items) => self.plain(items),
                ("properties", Value::Object(fields)) => {
                    fields.iter().map(|(name, field)| (name.clone(), self.plain(field))).collect()
                }
                _ => value.clone(),
            };
            Some((name.clone(), value))
        });
        let mut kept: Object = fields.collect();
        if schema["format"] == "date" {
            kept.insert("pattern".to_owned(), json!(DAY));
        }
        Value::Object(kept)
    }
}

impl Arguments {
    /// Adds an argument. Its sentence is the shared one, or the first of `description`.
    fn add(&mut self, name: &str, mut schema: Value, description: &str) {
        let shared = SHARED.iter().find(|(known, _)| *known == name).map(|(_, said)| (*said).to_owned());
        let mut said = shared.unwrap_or_else(|| first_sentence(description));
        if schema["pattern"] == DAY && !said.contains(DAY_IN_WORDS) {
            said = format!("{}, {DAY_IN_WORDS}.", said.trim_end_matches('.'));
        }
        schema["description"] = json!(said);
        self.schemas.insert(name.to_owned(), schema);
    }
}

/// Returns the first sentence of a description.
fn first_sentence(description: &str) -> String {
    let paragraph = description.split("\n\n").next().unwrap_or_default().replace('`', "");
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let text = words.join(" ");
    let end = text.find(". ").map_or(text.len(), |end| end + 1);
    text[..end].to_owned()
}
