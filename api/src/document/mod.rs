//! The `OpenAPI` 3.1 document: poem-openapi's 3.0 output, rewritten by an array of small named passes.

mod examples;
mod parameters;
mod patterns;
mod questions;
mod responses;
mod schemas;
mod security;

use common::base_url::SESSION_COOKIE;

use std::sync::{Arc, LazyLock};

use poem_openapi::{OpenApiService, error::ParsePathError};
use serde_json::{Map, Value, json};

use crate::{
    Api, TAGS, VERSION, all_routes,
    error::{ApiError, Code},
    models::Role,
    operation::{self, Operation},
};

/// Implements every operation by one refusal, so that the document can be printed and routes can be tried without a server.
pub struct Refusing(pub ApiError);

/// Builds the router of an implementation. A path id that is not a UUID answers 404.
pub fn routes<T: Api>(api: &Arc<T>) -> impl poem::Endpoint + use<T> {
    use poem::{EndpointExt as _, IntoEndpoint as _};
    let service = OpenApiService::new(all_routes(api), "Sightline", VERSION).into_endpoint();
    let not_found = |_: ParsePathError| async { ApiError::new(Code::NotFound) };
    service.catch_error(not_found)
}

/// URLs of the server and its OAuth endpoints, as the document shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locations {
    /// Root URL of the host. `None` where whoever takes the document fills it in.
    pub server: Option<String>,
    /// The authorization endpoint.
    pub authorization_url: String,
    /// The token endpoint, also used to refresh.
    pub token_url: String,
    /// The name of the session cookie.
    pub session_cookie: String,
}

impl Locations {
    /// URLs relative to a host that is not known, as in the committed file.
    #[must_use]
    pub fn relative() -> Self {
        Self {
            server: None,
            authorization_url: "/oauth/authorize".to_owned(),
            token_url: "/oauth/token".to_owned(),
            session_cookie: SESSION_COOKIE.to_owned(),
        }
    }
}

/// The path of the page of error codes.
pub const ERRORS_PATH: &str = "/docs/errors";

type Pass = fn(&mut Value);

/// Passes that turn poem-openapi's output into the published document, in this order.
const PASSES: &[Pass] = &[
    describe,
    order_tags,
    schemas::add_shared,
    schemas::drop_noise,
    schemas::write_types_as_3_1,
    schemas::flatten_references,
    schemas::name_envelopes,
    schemas::name_ranges,
    schemas::require_nullable_properties,
    parameters::document_all,
    questions::describe,
    responses::strip_media_type_parameters,
    responses::document_headers,
    responses::document_errors,
    schemas::close_request_schemas,
    schemas::accept_null_for_optional_fields,
    schemas::list_error_codes,
    security::document_schemes,
    mark_idempotency,
    name_roles,
    examples::insert,
    patterns::make_portable,
];

/// The document without locations, which is the same wherever it is published.
static UNLOCATED: LazyLock<Value> = LazyLock::new(|| {
    let refusing = Arc::new(Refusing(ApiError::new(Code::Unavailable)));
    let text = OpenApiService::new(all_routes(&refusing), "Sightline", VERSION).spec();
    let mut document = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
    for pass in PASSES {
        pass(&mut document);
    }
    document
});

/// Returns the published document.
#[must_use]
pub fn document(locations: &Locations) -> Value {
    let mut document = UNLOCATED.clone();
    security::locate(&mut document, locations);
    // Linters require an absolute URI, so without a host there is none.
    if let Some(server) = &locations.server {
        let description = "Every error code with its status, meaning and way out";
        document["externalDocs"] = json!({ "description": description, "url": format!("{server}{ERRORS_PATH}") });
    }
    document
}

/// Text of the document, as committed in `openapi.json`.
#[must_use]
pub fn committed_text() -> String {
    let mut text = serde_json::to_string_pretty(&document(&Locations::relative())).unwrap_or_default();
    text.push('\n');
    text
}

fn describe(document: &mut Value) {
    document["openapi"] = json!("3.1.1");
    document["info"] = json!({
        "title": "Sightline",
        "summary": "Search-performance analytics",
        "description": include_str!("description.md").trim(),
        "version": VERSION.split('-').map(|part| part.trim_start_matches('0')).collect::<Vec<_>>().join("."),
        "x-api-version": VERSION,
        "license": { "name": "Apache 2.0", "identifier": "Apache-2.0" },
    });
}

/// Brings the tags into the order of their declaration; poem-openapi sorts them by name.
fn order_tags(document: &mut Value) {
    if let Some(tags) = document["tags"].as_array_mut() {
        tags.sort_by_key(|tag| TAGS.iter().position(|name| tag["name"] == **name));
    }
}

fn mark_idempotency(document: &mut Value) {
    each_operation(document, |operation, object| {
        let mark = match operation.idempotency {
            Some(operation::Idempotency::Enforced) => "enforced",
            Some(operation::Idempotency::Ignored) => "ignored",
            None => return,
        };
        object.insert("x-idempotency".to_owned(), json!(mark));
    });
}

/// Adds the role that a property-scoped operation needs to its description.
fn name_roles(document: &mut Value) {
    each_operation(document, |operation, object| {
        if !operation.is_property_scoped() || operation.role == Role::Viewer {
            return;
        }
        let role = format!("{:?}", operation.role).to_lowercase();
        let text = object.get("description").and_then(Value::as_str).unwrap_or_default();
        let text = format!("{text}\n\nNeeds the role `{role}` on the property.");
        object.insert("description".to_owned(), json!(text.trim()));
    });
}

/// Visits each operation object together with its row of the table.
fn each_operation(document: &mut Value, mut visit: impl FnMut(&Operation, &mut Map<String, Value>)) {
    for operation in operation::all() {
        let method = operation.method.as_str().to_lowercase();
        let pointer = format!("/paths/{}/{method}", operation.path.replace('~', "~0").replace('/', "~1"));
        if let Some(object) = document.pointer_mut(&pointer).and_then(Value::as_object_mut) {
            visit(operation, object);
        }
    }
}

/// Visits every object in the document, parents first.
fn each_object(value: &mut Value, visit: &mut impl FnMut(&mut Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            visit(map);
            map.values_mut().for_each(|child| each_object(child, visit));
        }
        Value::Array(items) => items.iter_mut().for_each(|child| each_object(child, visit)),
        _ => {}
    }
}
