//! Passes over schemas: from poem-openapi's 3.0 dialect to JSON Schema 2020-12.

use std::collections::BTreeSet;

use poem_openapi::{registry::Registry, types::Type as _};
use serde_json::{Map, Value, json};

use super::each_object;
use crate::{
    error::{Code, ErrorBody},
    models::FilterCondition,
};

/// Adds the schemas that only later passes reference.
pub fn add_shared(document: &mut Value) {
    let mut registry = Registry::new();
    ErrorBody::register(&mut registry);
    FilterCondition::register(&mut registry);
    for (name, schema) in registry.schemas {
        document["components"]["schemas"][name] = json!(schema);
    }
}

/// Lists the error codes beside the type of `code`, and not as its `enum`: generated clients would refuse a code that is added later.
pub fn list_error_codes(document: &mut Value) {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    let field = &mut document["components"]["schemas"]["ErrorBody"]["properties"]["code"];
    field["examples"] = json!(codes);
    field["x-extensible-enum"] = json!(codes);
}

/// Removes keys without meaning.
pub fn drop_noise(document: &mut Value) {
    each_object(document, &mut |object| {
        if object.get("deprecated") == Some(&json!(false)) {
            object.remove("deprecated");
        }
        if object.get("description") == Some(&json!("")) {
            object.remove("description");
        }
        object.remove("explode");
        if object.contains_key("properties") || object.contains_key("enum") {
            object.remove("title");
        }
    });
}

/// `nullable` becomes a type array, `example` becomes `examples`, private formats become standard ones.
pub fn write_types_as_3_1(document: &mut Value) {
    each_object(document, &mut |object| {
        standard_format(object);
        if object.get("writeOnly") == Some(&json!(true)) {
            object.insert("format".to_owned(), json!("password"));
        }
        if object.get("nullable") == Some(&json!(true))
            && let Some(Value::String(kind)) = object.get("type").cloned()
        {
            object.insert("type".to_owned(), json!([kind, "null"]));
            object.remove("nullable");
        }
        for bound in ["Minimum", "Maximum"] {
            let (exclusive, plain) = (format!("exclusive{bound}"), bound.to_lowercase());
            match object.remove(&exclusive) {
                Some(Value::Bool(true)) => {
                    let value = object.remove(&plain).unwrap_or_default();
                    object.insert(exclusive, value);
                }
                Some(Value::Bool(false)) | None => {}
                Some(other) => drop(object.insert(exclusive, other)),
            }
        }
    });
}

fn standard_format(object: &mut Map<String, Value>) {
    let Some(format) = object.get("format").and_then(Value::as_str).map(str::to_owned) else { return };
    match format.as_str() {
        "naive-date" => drop(object.insert("format".to_owned(), json!("date"))),
        "uint64" | "uint32" => {
            object.insert("format".to_owned(), json!(if format == "uint64" { "int64" } else { "int32" }));
            object.entry("minimum").or_insert(json!(0));
        }
        _ => {}
    }
}

/// `allOf: [{$ref}, {description}]` becomes `$ref` with a description beside it, as 3.1 allows, or a choice of it and null.
pub fn flatten_references(document: &mut Value) {
    each_object(document, &mut |object| {
        let Some(Value::Array(parts)) = object.get("allOf") else { return };
        let Some(reference) = parts.iter().find_map(|part| part.get("$ref").cloned()) else { return };
        let is_nullable = parts.iter().any(|part| part["nullable"] == true);
        let mut merged =
            Map::from_iter([if is_nullable { or_null(&reference) } else { ("$ref".to_owned(), reference) }]);
        let described = parts.iter().filter_map(Value::as_object).flatten().chain(object.iter());
        merged.extend(described.filter(|(key, _)| *key == "description").map(|(k, v)| (k.clone(), v.clone())));
        *object = merged;
    });
}

/// A choice of a referenced schema and null.
fn or_null(reference: &Value) -> (String, Value) {
    ("oneOf".to_owned(), json!([{ "$ref": reference }, { "type": "null" }]))
}

/// `Data_Tag` becomes `TagData`, `Data_list_Tag` becomes `TagListData` and `List_Tag` becomes `TagList`: names that suit classes.
pub fn name_envelopes(document: &mut Value) {
    let rename = |name: &str| -> Option<String> {
        if let Some(item) = name.strip_prefix("List_") {
            return Some(format!("{item}List"));
        }
        let inner = name.strip_prefix("Data_")?;
        let list = inner.strip_prefix("list_");
        Some(list.map_or_else(|| format!("{inner}Data"), |item| format!("{item}ListData")))
    };
    let Some(schemas) = document.pointer_mut("/components/schemas").and_then(Value::as_object_mut) else { return };
    *schemas =
        std::mem::take(schemas).into_iter().map(|(name, schema)| (rename(&name).unwrap_or(name), schema)).collect();
    each_object(document, &mut |object| {
        let Some(Value::String(reference)) = object.get_mut("$ref") else { return };
        if let Some(name) = reference.strip_prefix("#/components/schemas/").and_then(rename) {
            *reference = format!("#/components/schemas/{name}");
        }
    });
}

/// Names the words of ranges for code generators, because they are not identifiers: `4-10` is `From4To10`, `21+` is `From21`.
pub fn name_ranges(document: &mut Value) {
    each_object(document, &mut |object| {
        let Some(values) = object.get("enum").and_then(Value::as_array) else { return };
        let names: Option<Vec<String>> = values.iter().map(|value| value.as_str().and_then(range_name)).collect();
        if let Some(names) = names {
            object.insert("x-enum-varnames".to_owned(), json!(names));
        }
    });
}

fn range_name(range: &str) -> Option<String> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(first) = range.strip_suffix('+') {
        return is_number(first).then(|| format!("From{first}"));
    }
    let (first, last) = range.split_once('-')?;
    (is_number(first) && is_number(last)).then(|| format!("From{first}To{last}"))
}

/// Marks nullable properties as required; a property that may be absent is never null.
pub fn require_nullable_properties(document: &mut Value) {
    each_object(document, &mut |object| {
        let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
        let null = |choices: &Value, null: &Value| choices.as_array().is_some_and(|choices| choices.contains(null));
        let nullable = |p: &Value| null(&p["type"], &json!("null")) || null(&p["oneOf"], &json!({ "type": "null" }));
        let mut required: Vec<Value> = object.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        let missing = properties.iter().filter(|(_, p)| nullable(p)).map(|(name, _)| json!(name));
        for name in missing.collect::<Vec<_>>() {
            if !required.contains(&name) {
                required.push(name);
            }
        }
        if !required.is_empty() {
            object.insert("required".to_owned(), Value::Array(required));
        }
    });
}

/// Makes schemas of request bodies refuse unknown fields.
pub fn close_request_schemas(document: &mut Value) {
    each_request_schema(document, |schema| {
        if schema.get("properties").is_some() {
            schema["additionalProperties"] = json!(false);
        }
    });
}

/// Lets optional fields of request bodies be null, which means absent.
pub fn accept_null_for_optional_fields(document: &mut Value) {
    each_request_schema(document, |schema| {
        let required = schema.get("required").cloned().unwrap_or_default();
        let is_required = |name: &String| required.as_array().is_some_and(|names| names.contains(&json!(name)));
        let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) else { return };
        fields.iter_mut().filter(|(name, _)| !is_required(name)).for_each(|(_, field)| accept_null(field));
    });
}

fn accept_null(field: &mut Value) {
    let Some(field) = field.as_object_mut() else { return };
    if let Some(Value::String(kind)) = field.get("type").cloned() {
        field.insert("type".to_owned(), json!([kind, "null"]));
    } else if let Some(reference) = field.remove("$ref") {
        field.extend([or_null(&reference)]);
    }
}

/// Visits the schemas that request bodies consist of, each once.
fn each_request_schema(document: &mut Value, mut visit: impl FnMut(&mut Value)) {
    let mut pending = Vec::new();
    if let Some(paths) = document.get_mut("paths") {
        each_object(paths, &mut |object| {
            if let Some(body) = object.get_mut("requestBody") {
                pending.extend(references(body));
            }
        });
    }
    let mut seen = BTreeSet::new();
    while let Some(name) = pending.pop() {
        if !seen.insert(name.clone()) {
            continue;
        }
        let Some(schema) = document.pointer_mut(&format!("/components/schemas/{name}")) else { continue };
        pending.extend(references(schema));
        visit(schema);
    }
}

fn references(value: &mut Value) -> Vec<String> {
    let mut found = Vec::new();
    each_object(value, &mut |object| {
        let name = object.get("$ref").and_then(Value::as_str).and_then(|r| r.strip_prefix("#/components/schemas/"));
        found.extend(name.map(str::to_owned));
    });
    found
}
