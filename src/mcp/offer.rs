//! The tools as they are offered to clients, made once at start.

use std::{borrow::Cow, sync::Arc};

use api::operation::Operation;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;

use super::{
    catalogue::{self, Declaration, Effect},
    schema::{Document, Object},
};

/// A tool, its operation and its definition.
#[derive(Debug)]
pub struct Offer {
    /// The declaration.
    pub declaration: &'static Declaration,
    /// The operation that it calls.
    pub operation: &'static Operation,
    /// The definition that clients get.
    pub tool: Tool,
}

/// Every tool.
#[derive(Debug)]
pub struct Offers(Vec<Offer>);

impl Offers {
    /// Makes the tools from the published `document`.
    #[must_use]
    pub fn of(document: &Value) -> Self {
        let document = Document(document);
        Self(catalogue::all().into_iter().filter_map(|declaration| Offer::of(declaration, &document)).collect())
    }

    /// Returns the tool called `name`.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Offer> {
        self.0.iter().find(|offer| offer.declaration.name == name)
    }

    /// The definitions, always in the same order.
    #[must_use]
    pub fn tools(&self) -> Vec<Tool> {
        self.0.iter().map(|offer| offer.tool.clone()).collect()
    }
}

impl Offer {
    /// Returns `None` if the API has no such operation, which the tests exclude.
    fn of(declaration: &'static Declaration, document: &Document<'_>) -> Option<Self> {
        let operation = declaration.operation()?;
        let input = Arc::new(document.input(declaration, operation));
        let output = Arc::new(document.output(operation));
        let tool = Tool::new(declaration.name, Cow::Borrowed(declaration.description), input)
            .with_title(declaration.title)
            .with_raw_output_schema(output)
            .with_annotations(hints(declaration));
        Some(Self { declaration, operation, tool })
    }

    /// The schemas of the arguments.
    #[must_use]
    pub fn arguments(&self) -> Option<&Object> {
        self.tool.input_schema.get("properties")?.as_object()
    }

    /// The most rows that a call may ask for.
    #[must_use]
    pub fn most_rows(&self) -> Option<u64> {
        self.arguments()?.get("limit")?["maximum"].as_u64()
    }
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
    use serde_json::json;

    use super::*;

    fn offers() -> Offers {
        Offers::of(&document(&Locations::relative()))
    }

    #[test]
    fn every_declared_tool_is_offered_under_a_name_of_its_own() {
        let offers = offers();
        let names: BTreeSet<&str> = offers.0.iter().map(|offer| offer.declaration.name).collect();
        assert_eq!(names.len(), catalogue::all().len());
        assert_eq!(offers.0.len(), names.len());
    }

    #[test]
    fn each_argument_is_typed_and_described() {
        for offer in &offers().0 {
            let (name, declared) = (offer.declaration.name, offer.declaration);
            let arguments = offer.arguments().unwrap();
            for parameter in declared.parameters {
                assert!(arguments.contains_key(*parameter), "{name} has no {parameter}");
            }
            for (argument, schema) in arguments {
                assert!(schema["type"].is_string() || schema["$ref"].is_string(), "{name}.{argument}: {schema}");
                assert!(schema["description"].as_str().is_some_and(|text| text.len() > 5), "{name}.{argument}");
            }
            assert_eq!(offer.tool.input_schema["additionalProperties"], json!(false), "{name}");
        }
    }

    #[test]
    fn schemas_are_whole_and_small() {
        for offer in &offers().0 {
            let name = offer.declaration.name;
            let output = offer.tool.output_schema.as_ref().unwrap();
            assert_eq!(output["type"], "object", "{name}");
            for schema in [&offer.tool.input_schema, output] {
                let text = Value::Object((**schema).clone()).to_string();
                assert!(!text.contains("#/components"), "{name} points into the document");
                for reference in text.split("#/$defs/").skip(1) {
                    let component = reference.split('"').next().unwrap();
                    assert!(schema["$defs"].get(component).is_some(), "{name} lacks {component}");
                }
                assert!(text.len() < 16_000, "{name}: {} bytes", text.len());
            }
        }
    }

    #[test]
    fn hints_are_true() {
        let offers = offers();
        let hints = |name: &str| offers.find(name).unwrap().tool.annotations.clone().unwrap();
        assert_eq!(hints("get_performance").read_only_hint, Some(true));
        assert_eq!(hints("add_annotation").read_only_hint, Some(false));
        assert_eq!(hints("add_annotation").destructive_hint, Some(false));
        assert_eq!(hints("get_backlinks").read_only_hint, Some(false), "it spends credit");
    }
}
