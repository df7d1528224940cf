//! Validates a JSON value against the schema of a request body. The error names the field and the allowed values. An optional field that
//! is null is absent.

use std::{
    any::TypeId,
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError, RwLock},
};

use common::{plain_text::shortened, strict_json::Fault};
use poem_openapi::{
    registry::{MetaSchema, MetaSchemaRef, Registry},
    types::Type,
};
use regex::Regex;
use serde_json::Value;
use uuid::Uuid;

use crate::{
    error::ApiError,
    models::{
        COLOR_PATTERN, Classification, EMAIL_PATTERN, KEYWORD_PATTERN, NAME_IN_WORDS, NAME_PATTERN, TEXT_PATTERN,
        VALUE_PATTERN, fits, parse_day, parse_time,
    },
    params::{MetricFilters, ParamValue as _, Sort, Written as _},
};

/// The way out where the value of a condition is too long, as only lists of values are.
const LONG_LIST: &str = "; divide a longer or_list between conditions: give each further one logic or, and repeat beside it what \
                         else must hold";

/// Fails with 400 on the first fault of `value` as a `T`. The hint names the field by its path, such as `filters[2].operator`.
pub fn check<T: Type + 'static>(value: &Value) -> Result<(), ApiError> {
    fault::<T>(value).map_or(Ok(()), |fault| Err(refusal(fault)))
}

/// The refusal of a body with this fault.
pub fn refusal((path, allowed): Fault) -> ApiError {
    ApiError::invalid(if path.is_empty() { "body" } else { &path }, &allowed)
}

/// Returns the first fault: the field's path within `value`, and the allowed values.
pub fn fault<T: Type + 'static>(value: &Value) -> Option<Fault> {
    Checker { registry: &schemas::<T>() }.first_fault(&T::schema_ref(), value, String::new())
}

/// The schemas that `T` consists of, collected once per process.
fn schemas<T: Type + 'static>() -> Arc<Registry> {
    static KNOWN: LazyLock<Mutex<HashMap<TypeId, Arc<Registry>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let of_type = known.entry(TypeId::of::<T>()).or_insert_with(|| {
        let mut registry = Registry::new();
        T::register(&mut registry);
        Arc::new(registry)
    });
    of_type.clone()
}

struct Checker<'r> {
    registry: &'r Registry,
}

impl Checker<'_> {
    fn first_fault(&self, schema: &MetaSchemaRef, value: &Value, path: String) -> Option<Fault> {
        let schema = match schema {
            MetaSchemaRef::Inline(schema) => schema,
            MetaSchemaRef::Reference(name) => self.registry.schemas.get(name)?,
        };
        // A described reference is `allOf: [reference, description]`.
        if !schema.all_of.is_empty() {
            return schema.all_of.iter().find_map(|part| self.first_fault(part, value, path.clone()));
        }
        if let Some(allowed) = beyond_integers(schema, value).or_else(|| type_fault(schema, value)) {
            return Some((path, allowed));
        }
        let own = match value {
            Value::String(text) => text_fault(schema, text),
            Value::Number(number) => number_fault(schema, number.as_f64().unwrap_or(f64::NAN)),
            Value::Array(items) => list_fault(schema, items),
            _ => None,
        };
        if let Some(allowed) = own {
            return Some((path, allowed));
        }
        match value {
            // The description of a reference has no type, and no fields.
            Value::Object(fields) if schema.ty == "object" => self.object_fault(schema, fields, &path),
            Value::Array(items) => schema.items.as_deref().and_then(|item| {
                items.iter().enumerate().find_map(|(i, value)| self.first_fault(item, value, format!("{path}[{i}]")))
            }),
            _ => None,
        }
    }

    fn object_fault(&self, schema: &MetaSchema, fields: &serde_json::Map<String, Value>, path: &str) -> Option<Fault> {
        let child = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        let property =
            |name: &str| schema.properties.iter().find(|(known, _)| *known == name).map(|(_, schema)| schema);
        // Unknown fields come first: a misspelt name explains more than the missing one.
        if let Some(stray) = fields.keys().find(|name| property(name).is_none()) {
            let known: Vec<_> = schema.properties.iter().map(|(name, _)| *name).collect();
            return Some((child(&shortened(stray)), format!("is not a field here; allowed are {}", known.join(", "))));
        }
        if let Some(missing) = schema.required.iter().find(|name| !fields.contains_key(**name)) {
            return Some((child(missing), "is required".to_owned()));
        }
        let is_absent = |name: &str, value: &Value| value.is_null() && !schema.required.contains(&name);
        let given = fields.iter().filter(|(name, value)| !is_absent(name, value));
        given.into_iter().find_map(|(name, value)| self.first_fault(property(name)?, value, child(name)))
    }
}

fn type_fault(schema: &MetaSchema, value: &Value) -> Option<String> {
    let right = match schema.ty {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        _ => true,
    };
    let article = if matches!(schema.ty, "object" | "array" | "integer") { "an" } else { "a" };
    (!right).then(|| format!("must be {article} {}", if schema.ty == "integer" { "integer" } else { schema.ty }))
}

/// Returns the allowed range for a whole number that is too large to be read as an integer.
fn beyond_integers(schema: &MetaSchema, value: &Value) -> Option<String> {
    let number = value.as_f64().filter(|number| schema.ty == "integer" && number.fract() == 0.0)?;
    number_fault(schema, number)
}

fn text_fault(schema: &MetaSchema, text: &str) -> Option<String> {
    if !schema.enum_items.is_empty() {
        let values: Vec<&str> = schema.enum_items.iter().filter_map(Value::as_str).collect();
        return (!values.contains(&text)).then(|| format!("must be one of {}", values.join(", ")));
    }
    if text.contains('\0') {
        return Some("must not contain the NUL character".to_owned());
    }
    let length = text.chars().count();
    let (least, most) = (schema.min_length.unwrap_or(0), schema.max_length.unwrap_or(usize::MAX));
    if !(least..=most).contains(&length) {
        // The values of conditions are the only texts with this pattern.
        let is_value = schema.pattern.as_deref() == Some(VALUE_PATTERN) && length > most;
        return Some(match schema.max_length {
            Some(most) => {
                let way_out = if is_value { LONG_LIST } else { "" };
                format!("must be {least} to {most} characters long, and is {length}{way_out}")
            }
            None => format!("must be at least {least} characters long, and is {length}"),
        });
    }
    if let Some(allowed) = format_fault(schema.format.unwrap_or_default(), text) {
        return Some(allowed);
    }
    let pattern = schema.pattern.as_deref()?;
    (!fits(pattern, text)).then(|| pattern_in_words(pattern))
}

/// Returns true if `text` matches `pattern`. Patterns are compiled once per process; an invalid one matches nothing.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    static COMPILED: LazyLock<RwLock<HashMap<String, Regex>>> = LazyLock::new(RwLock::default);
    if let Some(compiled) = COMPILED.read().unwrap_or_else(PoisonError::into_inner).get(pattern) {
        return compiled.is_match(text);
    }
    let Ok(compiled) = Regex::new(pattern) else { return false };
    let found = compiled.is_match(text);
    COMPILED.write().unwrap_or_else(PoisonError::into_inner).insert(pattern.to_owned(), compiled);
    found
}

fn pattern_in_words(pattern: &str) -> String {
    match pattern {
        NAME_PATTERN => NAME_IN_WORDS.to_owned(),
        COLOR_PATTERN => "must be a colour, # and six hexadecimal digits".to_owned(),
        EMAIL_PATTERN => "must be one e-mail address, such as ann@example.org, without characters that cannot be seen".to_owned(),
        TEXT_PATTERN => "must hold a visible character, no control characters other than tabs and line breaks, and none that turn the \
                         direction of text"
            .to_owned(),
        KEYWORD_PATTERN => "must hold a letter or a digit, no control characters and none that turn the direction of text".to_owned(),
        other => format!("must match {other}"),
    }
}

fn format_fault(format: &str, text: &str) -> Option<String> {
    match format {
        "uuid" if text.len() != 36 => Some("must be a UUID".to_owned()),
        "uuid" => Uuid::parse(text).err(),
        "naive-date" => parse_day(text).err(),
        Sort::FORMAT => Sort::parse(text).err(),
        MetricFilters::FORMAT => MetricFilters::parse(text).err(),
        Classification::FORMAT => Classification::parse(text).err(),
        "date-time" => parse_time(text).err(),
        _ => None,
    }
}

fn number_fault(schema: &MetaSchema, number: f64) -> Option<String> {
    let (least, most) = (schema.minimum.unwrap_or(f64::MIN), schema.maximum.unwrap_or(f64::MAX));
    if (least..=most).contains(&number) {
        return None;
    }
    Some(match (schema.minimum, schema.maximum) {
        (Some(least), Some(most)) => format!("must be from {least} to {most}"),
        (Some(least), None) => format!("must be at least {least}"),
        (_, most) => format!("must be at most {}", most.unwrap_or_default()),
    })
}

fn list_fault(schema: &MetaSchema, items: &[Value]) -> Option<String> {
    let (least, most) = (schema.min_items.unwrap_or(0), schema.max_items.unwrap_or(usize::MAX));
    if !(least..=most).contains(&items.len()) {
        return Some(format!("must have {least} to {most} items, and has {}", items.len()));
    }
    let mut seen = std::collections::HashSet::new();
    // Ids are equal regardless of case.
    let ids = matches!(schema.items.as_deref(), Some(MetaSchemaRef::Inline(item)) if item.format == Some("uuid"));
    let key = |item: &Value| if ids { item.to_string().to_lowercase() } else { item.to_string() };
    let repeated = items.iter().find(|item| !seen.insert(key(item)));
    repeated.filter(|_| schema.unique_items == Some(true)).map(|item| format!("must not hold {item} twice"))
}
