//! Validates every response of the suite against the published document.

use std::{
    collections::HashMap,
    sync::{LazyLock, Mutex},
};

use chrono::DateTime;
use jsonschema::Validator;
use poem::http::{HeaderName, Method};
use serde_json::{Value, json};

use super::actor::Answer;

/// `openapi.json` as committed.
pub static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
});

/// The headers that every script may read, and the headers for browsers and caches only.
const NOT_EXPOSED: [&str; 12] = [
    "cache-control",
    "content-length",
    "content-type",
    "content-encoding",
    "transfer-encoding",
    "connection",
    "date",
    "vary",
    "x-content-type-options",
    "strict-transport-security",
    "access-control-allow-origin",
    "access-control-expose-headers",
];

/// Fails the test if pages of other origins could not read a header of `answer`.
#[track_caller]
fn check_exposed(answer: &Answer) {
    let exposed = answer.header("access-control-expose-headers").to_ascii_lowercase();
    let exposed: Vec<&str> = exposed.split(", ").collect();
    if exposed != [""] {
        let sent = answer.headers.keys().map(HeaderName::as_str);
        let hidden: Vec<&str> = sent.filter(|name| ![&exposed[..], &NOT_EXPOSED].concat().contains(name)).collect();
        assert!(hidden.is_empty(), "pages of other origins cannot read {hidden:?}");
    }
}

/// The headers of HTTP itself, which no `OpenAPI` document describes.
const OF_HTTP: [&str; 6] =
    ["connection", "content-encoding", "content-length", "content-type", "date", "transfer-encoding"];

/// Fails the test if the document describes a header of `answer` neither at `response` nor for all answers together.
#[track_caller]
fn check_headers(id: &str, response: &Value, answer: &Answer) {
    let described: Vec<String> =
        response["headers"].as_object().unwrap().keys().map(|name| name.to_ascii_lowercase()).collect();
    let of_all = DOCUMENT["info"]["description"].as_str().unwrap().to_ascii_lowercase();
    let is_described = |name: &str| {
        OF_HTTP.contains(&name) || described.iter().any(|known| known == name) || of_all.contains(&format!("`{name}`"))
    };
    let unknown: Vec<&HeaderName> = answer.headers.keys().filter(|name| !is_described(name.as_str())).collect();
    assert!(unknown.is_empty(), "{id} answers {} with headers that the document lacks: {unknown:?}", answer.status);
}

/// Fails the test if an answer spells a point in time otherwise than with `Z` and milliseconds.
#[track_caller]
fn check_spelled(value: &Value) {
    match value {
        // An hour of a series keeps the offset of its day.
        Value::Object(fields) => {
            fields.iter().filter(|(name, _)| *name != "hour").for_each(|(_, value)| check_spelled(value));
        }
        Value::Array(items) => items.iter().for_each(check_spelled),
        Value::String(text) if DateTime::parse_from_rfc3339(text).is_ok() => {
            assert!(text.len() == 24 && text.ends_with('Z'), "{text}");
        }
        _ => {}
    }
}

/// Fails the test if `answer` is not a documented response to `method` on `path`. A method that the path does not have gets a response
/// that its operations document.
#[track_caller]
pub fn check(method: &Method, path: &str, answer: &Answer) {
    let operation = api::operation::find(method, path);
    let is_preflight = *method == Method::OPTIONS;
    let Some(operation) = operation.or_else(|| api::operation::at(path).next()).filter(|_| !is_preflight) else {
        return;
    };
    let key = operation.method.as_str().to_lowercase();
    let responses = &DOCUMENT["paths"][operation.path][key.as_str()]["responses"];
    let status = answer.status.as_u16().to_string();
    let said = String::from_utf8_lossy(&answer.bytes[..answer.bytes.len().min(500)]);
    let mut response = &responses[status.as_str()];
    assert!(!response.is_null(), "{} does not document {status}: {said}", operation.id);
    if let Some(reference) = response["$ref"].as_str() {
        response = DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap();
    }
    check_exposed(answer);
    assert!(answer.headers.contains_key("x-api-version"), "{} answers {status} without X-API-Version", operation.id);
    check_spelled(&answer.json);
    // The document describes the newest version only.
    if answer.headers.contains_key("sunset") {
        return;
    }
    check_headers(operation.id, response, answer);
    let schema = &response["content"]["application/json"]["schema"];
    if schema.is_null() || *method == Method::HEAD {
        return;
    }
    let problems = problems(schema, &answer.json);
    assert!(problems.is_empty(), "{} answers {status} against its schema: {problems:#?}\n{said}", operation.id);
}

fn problems(schema: &Value, instance: &Value) -> Vec<String> {
    static VALIDATORS: LazyLock<Mutex<HashMap<String, &'static Validator>>> = LazyLock::new(Mutex::default);
    let key = schema.to_string();
    let mut validators = VALIDATORS.lock().unwrap();
    let validator = validators.entry(key).or_insert_with(|| {
        let mut whole = schema.clone();
        whole["components"] = json!({ "schemas": DOCUMENT["components"]["schemas"] });
        Box::leak(Box::new(jsonschema::options().should_validate_formats(true).build(&whole).unwrap()))
    });
    let validator = *validator;
    drop(validators);
    validator.iter_errors(instance).map(|error| format!("{}: {error}", error.instance_path())).take(5).collect()
}
