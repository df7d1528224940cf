//! The tools as they are offered to clients, made once at start.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use api::{error::ApiError, operation::Operation};
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::{
    catalogue::{self, Declaration, Effect},
    schema::{Arguments, Document, Object},
    values::typed,
};

/// The beginning of the description of a tool with kinds.
const KINDS: &str = "Lists the records of one kind:";

/// The effect and the arguments of a tool, or of one of its kinds.
#[derive(Debug)]
pub struct Offer {
    /// The declaration.
    pub declaration: &'static Declaration,
    /// The operation that it calls.
    pub operation: &'static Operation,
    /// The arguments beside `kind`.
    pub arguments: Arguments,
    /// The arguments of the tool's other use, if an argument chooses it. Each has the name of that argument.
    pub elsewhere: BTreeMap<String, &'static str>,
}

/// Every tool.
#[derive(Debug)]
pub struct Offers {
    offers: Vec<Offer>,
    tools: Vec<Tool>,
}

impl Offers {
    /// Makes the tools from the published `document`.
    #[must_use]
    pub fn of(document: &Value) -> Self {
        let document = Document(document);
        let mut offers: Vec<Offer> =
            catalogue::all().into_iter().filter_map(|declaration| Offer::of(declaration, &document)).collect();
        name_other_uses(&mut offers);
        let tools = offers.chunk_by(|a, b| a.declaration.name == b.declaration.name).filter_map(tool).collect();
        Self { offers, tools }
    }

    /// Returns the arguments that a call of the tool `name` means, each in the type of its schema. Forms and the strict modes of models send
    /// every argument, so one that is optional and empty, or equal to its declared default, is as if it had not been sent.
    #[must_use]
    pub fn meant(&self, name: &str, arguments: Object) -> Object {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else { return arguments };
        let schema = &tool.input_schema;
        let required = schema.get("required").and_then(Value::as_array);
        let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|required| required == name));
        let properties = schema.get("properties").unwrap_or(&Value::Null);
        let of = |name: &str| &properties[name];
        let is_default = |name: &str, value: &Value| of(name).get("default") == Some(value);
        let mut meant: Object =
            arguments.into_iter().map(|(name, value)| (name.clone(), typed(of(&name), value))).collect();
        meant.retain(|name, value| is_required(name) || !(is_empty(value) || is_default(name, value)));
        meant
    }

    /// Returns what a call of the tool `name` with `arguments` does. `None` if there is no such tool.
    ///
    /// # Errors
    /// `invalid_request` if the tool has kinds and the call names none of them.
    pub fn find(&self, name: &str, arguments: &Object) -> Option<Result<&Offer, ApiError>> {
        let mut kinds = self.offers.iter().filter(|offer| offer.declaration.name == name);
        let first = kinds.clone().next()?;
        if first.declaration.kind.is_empty() {
            let is_given = |name: &str| arguments.contains_key(name);
            let chosen = kinds.find(|offer| offer.declaration.chosen_by.is_some_and(is_given));
            return Some(Ok(chosen.unwrap_or(first)));
        }
        let known: Vec<&str> = kinds.clone().map(|offer| offer.declaration.kind).collect();
        let found = kinds.find(|offer| arguments.get("kind").is_some_and(|kind| kind == offer.declaration.kind));
        Some(found.ok_or_else(|| ApiError::invalid("kind", &format!("must be one of {}", known.join(", ")))))
    }

    /// The definitions, always in the same order.
    #[must_use]
    pub fn tools(&self) -> &[Tool] {
        &self.tools
    }
}

impl Offer {
    /// Returns `None` if the API has no such operation, which the tests exclude.
    fn of(declaration: &'static Declaration, document: &Document<'_>) -> Option<Self> {
        let operation = declaration.operation()?;
        let mut arguments = document.arguments(declaration, operation);
        // Sending one of these means something by itself, so no form may fill it in.
        for name in [declaration.chosen_by, declaration.series_by].into_iter().flatten() {
            if let Some(schema) = arguments.schemas.get_mut(name).and_then(Value::as_object_mut) {
                schema.remove("default");
            }
        }
        Some(Self { declaration, operation, arguments, elsewhere: BTreeMap::new() })
    }

    /// Returns whether the argument `name` is a list.
    #[must_use]
    pub fn is_list(&self, name: &str) -> bool {
        self.is_of(name, "array")
    }

    /// Returns whether the argument `name` is of this type.
    #[must_use]
    pub fn is_of(&self, name: &str, kind: &str) -> bool {
        self.arguments.schemas.get(name).is_some_and(|schema| schema["type"] == kind)
    }

    /// The most rows that a call may ask for.
    #[must_use]
    pub fn most_rows(&self) -> Option<u64> {
        self.arguments.schemas.get("limit")?["maximum"].as_u64()
    }
}

/// Returns whether a form sends this for an argument that nobody filled in.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Tells each tool's first use what its other use takes.
fn name_other_uses(offers: &mut [Offer]) {
    for uses in offers.chunk_by_mut(|a, b| a.declaration.name == b.declaration.name) {
        let Some((first, others)) = uses.split_first_mut() else { continue };
        for other in others {
            let Some(chooser) = other.declaration.chosen_by else { continue };
            let of_other = other.arguments.schemas.keys().filter(|name| !first.arguments.schemas.contains_key(*name));
            first.elsewhere.extend(of_other.map(|name| (name.clone(), chooser)));
        }
    }
}

/// Makes the definition that clients get. The `kinds` of a tool are all offers of its name. Where two have an argument, the first says what
/// it is.
fn tool(kinds: &[Offer]) -> Option<Tool> {
    let first = kinds.first()?;
    let (mut properties, mut required) = (Object::new(), first.arguments.required.clone());
    let mut description = Cow::Borrowed(first.declaration.description);
    if !first.declaration.kind.is_empty() {
        let lines = kinds.iter().map(|kind| format!("\n- {}: {}", kind.declaration.kind, kind.declaration.description));
        description = Cow::Owned(format!("{KINDS}{}", lines.collect::<String>()));
        let names: Vec<&str> = kinds.iter().map(|kind| kind.declaration.kind).collect();
        properties.insert(
            "kind".to_owned(),
            json!({ "type": "string", "enum": names, "description": "Kind of the records." }),
        );
        required.retain(|name| kinds.iter().all(|kind| kind.arguments.required.contains(name)));
        required.push("kind".to_owned());
    }
    for (name, schema) in kinds.iter().flat_map(|kind| &kind.arguments.schemas) {
        properties.entry(name.clone()).or_insert_with(|| schema.clone());
    }
    let schema = json!({
        "type": "object", "properties": properties, "required": required, "additionalProperties": false,
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    let tool = Tool::new(first.declaration.name, description, Arc::new(schema)).with_title(first.declaration.title);
    Some(tool.with_annotations(hints(first.declaration)))
}

/// A tool that spends a person's credit is not said to read only, so that clients ask before they call it.
fn hints(declaration: &Declaration) -> ToolAnnotations {
    let reads = declaration.effect == Effect::Read;
    ToolAnnotations::with_title(declaration.title)
        .read_only(reads)
        .destructive(false)
        .idempotent(reads)
        .open_world(declaration.effect == Effect::Pay)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use api::document::{Locations, document};

    use super::*;

    fn offers() -> Offers {
        Offers::of(&document(&Locations::relative()))
    }

    fn schema_of(tool: &Tool) -> Value {
        Value::Object((*tool.input_schema).clone())
    }

    #[test]
    fn what_is_empty_or_a_declared_default_is_as_if_it_had_not_been_sent() {
        let offers = offers();
        let meant =
            |name: &str, arguments: Value| Value::Object(offers.meant(name, arguments.as_object().unwrap().clone()));
        for tool in offers.tools() {
            let mut arguments = Object::new();
            for (name, schema) in schema_of(tool)["properties"].as_object().unwrap() {
                arguments.extend(schema.get("default").map(|default| (name.clone(), default.clone())));
            }
            assert_eq!(meant(&tool.name, Value::Object(arguments)), json!({}), "{}", tool.name);
        }
        for (tool, arguments, expected) in [
            ("list_properties", json!({ "search": "", "days": 28, "sort": "-clicks" }), json!({})),
            ("list_properties", json!({ "days": 28.0, "search": "shop" }), json!({ "search": "shop" })),
            ("list_properties", json!({ "days": 7, "favorite": null }), json!({ "days": 7 })),
            ("list_properties", json!({ "days": "28.0", "favorite": "null", "tag": "null" }), json!({ "tag": "null" })),
            (
                "list_properties",
                json!({ "days": 28, "sort": "-clicks", "compareTo": "previous_period" }),
                json!({ "compareTo": "previous_period" }),
            ),
            ("get_performance", json!({ "property": "", "dimensions": [], "offset": 0 }), json!({ "property": "" })),
            ("get_performance", json!({ "dimensions": ["query"], "filters": [] }), json!({ "dimensions": ["query"] })),
            ("list_records", json!({ "kind": "segments", "suggest": false }), json!({ "kind": "segments" })),
            ("no_such_tool", json!({ "a": "" }), json!({ "a": "" })),
        ] {
            assert_eq!(meant(tool, arguments.clone()), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn every_declared_tool_is_offered_under_a_name_of_its_own() {
        let offers = offers();
        assert_eq!(offers.offers.len(), catalogue::all().len());
        let names: BTreeSet<&str> = offers.tools().iter().map(|tool| tool.name.as_ref()).collect();
        assert_eq!(names.len(), offers.tools().len());
        assert!(names.len() <= 16, "an assistant is lost among more than 16 tools");
    }

    #[test]
    fn each_argument_is_typed_and_said_in_a_sentence() {
        for offer in &offers().offers {
            let (name, declared) = (offer.declaration.name, offer.declaration);
            for parameter in declared.parameters {
                assert!(offer.arguments.schemas.contains_key(*parameter), "{name} has no {parameter}");
            }
            for (argument, schema) in &offer.arguments.schemas {
                assert!(schema["type"].is_string(), "{name}.{argument}: {schema}");
                let said = schema["description"].as_str().unwrap();
                assert!((8..=200).contains(&said.len()) && said.ends_with('.'), "{name}.{argument}: {said}");
            }
        }
    }

    #[test]
    fn schemas_are_whole() {
        for tool in offers().tools() {
            let text = schema_of(tool).to_string();
            assert!(!text.contains("$ref") && !text.contains("null"), "{}: {text}", tool.name);
            assert_eq!(tool.input_schema["additionalProperties"], json!(false), "{}", tool.name);
        }
        let offers = offers();
        let performance = offers.tools().iter().find(|tool| tool.name == "get_performance").unwrap();
        let condition = &performance.input_schema["properties"]["filters"]["items"];
        assert_eq!(condition["required"], json!(["dimension", "operator", "value"]));
        assert_eq!(condition["properties"]["logic"], json!({ "type": "string", "enum": ["and", "or"] }));
    }

    /// Fails on a keyword that some models' APIs refuse, with the whole list of tools. Counts the days.
    fn check_keywords(schema: &Value, place: &str) -> u32 {
        const TAKEN: [&str; 12] = [
            "type",
            "description",
            "enum",
            "pattern",
            "minimum",
            "maximum",
            "default",
            "items",
            "maxItems",
            "properties",
            "required",
            "additionalProperties",
        ];
        let keywords = schema.as_object().unwrap();
        let other: Vec<&String> = keywords.keys().filter(|name| !TAKEN.contains(&name.as_str())).collect();
        assert!(other.is_empty(), "{place}: {other:?}");
        let fields = schema["properties"].as_object().into_iter().flatten();
        let mut days = u32::from(keywords.contains_key("pattern"));
        for (name, field) in fields.chain(keywords.get_key_value("items")) {
            days += check_keywords(field, &format!("{place}.{name}"));
        }
        days
    }

    #[test]
    fn schemas_have_the_keywords_that_every_model_takes_and_say_the_form_of_days() {
        let mut days = 0;
        for tool in offers().tools() {
            assert!(tool.output_schema.is_none(), "{}", tool.name);
            days += check_keywords(&schema_of(tool), &tool.name);
            for (name, schema) in schema_of(tool)["properties"].as_object().unwrap() {
                let is_day = name.ends_with("Date") || ["date", "compareStart", "compareEnd"].contains(&name.as_str());
                assert_eq!(schema.get("pattern").is_some(), is_day, "{}.{name}", tool.name);
                let said = schema["description"].as_str().unwrap();
                assert!(!is_day || said.contains("YYYY-MM-DD"), "{}.{name}: {said}", tool.name);
            }
        }
        assert!(days > 20, "{days}");
    }

    #[test]
    fn kinds_are_one_tool() {
        let offers = offers();
        let tool = offers.tools().iter().find(|tool| tool.name == "list_records").unwrap();
        let schema = schema_of(tool);
        assert_eq!(schema["required"], json!(["kind"]));
        let kinds = schema["properties"]["kind"]["enum"].as_array().unwrap();
        for kind in kinds {
            let offer = offers.find("list_records", json!({ "kind": kind }).as_object().unwrap()).unwrap().unwrap();
            assert_eq!(kind, offer.declaration.kind);
            assert!(tool.description.as_ref().unwrap().contains(&format!("\n- {}: ", offer.declaration.kind)));
        }
        for arguments in [json!({}), json!({ "kind": "people" }), json!({ "kind": 7 })] {
            let refusal = offers.find("list_records", arguments.as_object().unwrap()).unwrap().unwrap_err();
            assert!(refusal.hint.unwrap().starts_with("kind: must be one of annotations, segments, "), "{arguments}");
        }
        assert!(offers.find("no_such_tool", &Object::new()).is_none());
    }

    #[test]
    fn hints_are_true() {
        let offers = offers();
        let hints =
            |name: &str| offers.tools().iter().find(|tool| tool.name == name).unwrap().annotations.clone().unwrap();
        assert_eq!(hints("get_performance").read_only_hint, Some(true));
        assert_eq!(hints("add_annotation").read_only_hint, Some(false));
        assert_eq!(hints("add_annotation").destructive_hint, Some(false));
        assert_eq!(hints("get_backlinks").read_only_hint, Some(false), "it spends credit");
    }
}
