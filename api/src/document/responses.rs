//! Responses: media types, headers and the errors of each operation.

use std::collections::BTreeMap;

use poem::http::Method;
use serde_json::{Map, Value, json};

use super::each_operation;
use crate::{
    VERSION,
    error::Code,
    models::Role,
    operation::{Access, EtagKind, Idempotency, Operation},
};

/// `application/json; charset=utf-8` becomes `application/json`.
pub fn strip_media_type_parameters(document: &mut Value) {
    super::each_object(document, &mut |object| {
        let Some(Value::Object(content)) = object.get_mut("content") else { return };
        *content = std::mem::take(content)
            .into_iter()
            .map(|(name, media)| (name.split(';').next().unwrap_or_default().trim().to_owned(), media))
            .collect();
    });
}

/// Names the headers of every success, and adds `304`.
pub fn document_headers(document: &mut Value) {
    document["components"]["headers"] = shared_headers();
    let schemas = document["components"]["schemas"].clone();
    each_operation(document, |operation, object| {
        let Some(Value::Object(responses)) = object.get_mut("responses") else { return };
        if operation.etag != EtagKind::None {
            responses.insert("304".to_owned(), json!({ "description": "The client's copy is current." }));
        }
        for response in responses.values_mut() {
            let mut names = success_headers(operation);
            if operation.etag != EtagKind::None || holds_tag(&schemas, response) {
                names.push("ETag");
            }
            merge_headers(response, &names);
        }
    });
}

/// Returns whether the response is a record with a tag, which its `ETag` repeats.
fn holds_tag(schemas: &Value, response: &Value) -> bool {
    let resolved = |schema: &Value| {
        let name = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next());
        name.map_or_else(|| schema.clone(), |name| schemas[name].clone())
    };
    let envelope = resolved(&response["content"]["application/json"]["schema"]);
    !resolved(&envelope["properties"]["data"])["properties"]["etag"].is_null()
}

fn success_headers(operation: &Operation) -> Vec<&'static str> {
    let mut names = common_headers(operation);
    if operation.method == Method::GET {
        names.push("Cache-Control");
    }
    if operation.names_ignored() {
        names.push("X-Ignored");
    }
    if operation.idempotency == Some(Idempotency::Enforced) {
        names.extend(["Idempotency-Replayed", "Idempotency-Storage"]);
    }
    names
}

/// The headers that no answer lacks.
const ON_EVERY_ANSWER: [&str; 2] = ["X-API-Version", "X-Correlation-Id"];

/// The headers of every answer of `operation`, refusals included.
fn common_headers(operation: &Operation) -> Vec<&'static str> {
    let mut names = ON_EVERY_ANSWER.to_vec();
    names.extend(["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Vary"]);
    if operation.deprecated.is_some() {
        names.extend(["Deprecation", "Link"]);
    }
    names
}

fn merge_headers(response: &mut Value, names: &[&str]) {
    let mut headers = Map::new();
    for name in names {
        headers.insert((*name).to_owned(), json!({ "$ref": format!("#/components/headers/{name}") }));
    }
    if let Some(Value::Object(own)) = response.get("headers") {
        let own = own.iter().map(|(name, header)| (canonical(name), header.clone()));
        headers.extend(own.collect::<Vec<_>>());
    }
    response["headers"] = Value::Object(headers);
}

/// Restores the usual case of a header name; poem-openapi writes it in capitals.
fn canonical(name: &str) -> String {
    let word = |w: &str| {
        w.chars()
            .enumerate()
            .map(|(i, c)| if i == 0 { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() })
            .collect::<String>()
    };
    name.split('-').map(word).collect::<Vec<_>>().join("-")
}

/// Documents the errors of each operation: those that follow from its access, path and idempotency, and its own.
///
/// Operations with the same codes for a status share one response object.
pub fn document_errors(document: &mut Value) {
    let mut shared = Map::new();
    each_operation(document, |operation, object| {
        let has_body = object.contains_key("requestBody");
        let Some(Value::Object(responses)) = object.get_mut("responses") else { return };
        let mut by_status = BTreeMap::<u16, Vec<Code>>::new();
        let mut all = codes(operation, has_body);
        all.sort_unstable();
        for code in all {
            let list = by_status.entry(code.status().as_u16()).or_default();
            if !list.contains(&code) {
                list.push(code);
            }
        }
        for (status, codes) in by_status {
            // Health answers 503 with its ordinary body.
            if !responses.contains_key(&status.to_string()) {
                let name = shared_name(operation, &codes);
                let reference = json!({ "$ref": format!("#/components/responses/{name}") });
                let response = error_response(operation, status, &codes);
                let named = shared.entry(name).or_insert_with(|| response.clone());
                debug_assert_eq!(*named, response, "two responses have one name");
                responses.insert(status.to_string(), reference);
            }
        }
        sort(responses);
    });
    sort(&mut shared);
    document["components"]["responses"] = Value::Object(shared);
}

/// The name of the response: its status, the codes that not every operation has for it, and in front the headers that not every
/// operation sends.
fn shared_name(operation: &Operation, codes: &[Code]) -> String {
    let kind = if operation.deprecated.is_some() {
        "Deprecated"
    } else if operation.idempotency == Some(Idempotency::Enforced) {
        "Keyed"
    } else {
        ""
    };
    let reason = codes.first().and_then(|code| code.status().canonical_reason()).unwrap_or_default();
    let words: Vec<String> = codes.iter().map(|code| word(*code)).collect();
    format!("{kind}{}{}", reason.replace(' ', ""), words.concat())
}

/// The part of a code in the name of a response. It is empty for codes that every operation has for their status, and for those that
/// are alone with it.
fn word(code: Code) -> String {
    let word = match code {
        Code::InvalidRequest | Code::UnsupportedApiVersion => "",
        Code::FilterTooComplex => "Filters",
        Code::NotAvailableForSearchType => "SearchType",
        Code::Forbidden => "Role",
        Code::InsufficientScope => "Scope",
        Code::SubscriptionRequired => "Plan",
        Code::PropertyQuotaExceeded => "Quota",
        Code::SearchAccountDisconnected => "Account",
        Code::SearchSiteRefused => "Site",
        Code::NotFinalYet => "NotFinal",
        Code::ProviderNotConnected | Code::ProviderUnavailable => "Provider",
        Code::ProviderRejectedCredentials => "Login",
        Code::ProviderOutOfCredit => "Credit",
        Code::InvalidIdempotencyKey | Code::IdempotencyInProgress => "Key",
        Code::SearchEngineUnavailable => "Engine",
        Code::Unavailable => "Issuer",
        other => {
            let is_alone = Code::ALL.iter().filter(|code| code.status() == other.status()).count() == 1;
            return if is_alone { String::new() } else { format!("{other:?}") };
        }
    };
    word.to_owned()
}

/// Every code that `operation` may return.
pub fn codes(operation: &Operation, has_body: bool) -> Vec<Code> {
    // Every operation refuses query parameters that it does not take.
    // Every path refuses other methods. No document has a place for them, so each operation tells of them.
    let mut codes = vec![
        Code::UnsupportedApiVersion,
        Code::InvalidRequest,
        Code::MethodNotAllowed,
        Code::RateLimited,
        Code::Internal,
    ];
    if operation.access == Access::SessionOrOauth {
        codes.extend([Code::Unauthorized, Code::Unavailable]);
    }
    if operation.scope.is_some() {
        codes.push(Code::InsufficientScope);
    }
    if operation.is_property_scoped() {
        codes.push(Code::SubscriptionRequired);
    }
    if operation.path.contains('{') {
        codes.push(Code::NotFound);
    }
    // A write that a foreign page sends with the session cookie is forbidden, too, and so is a read that is paid for.
    let needs_role = operation.is_property_scoped() && operation.role > Role::Viewer;
    let from_own_pages = operation.idempotency.is_some() || operation.is_paid;
    if needs_role || (operation.access == Access::SessionOrOauth && from_own_pages) {
        codes.push(Code::Forbidden);
    }
    if operation.idempotency == Some(Idempotency::Enforced) {
        codes.extend([Code::InvalidIdempotencyKey, Code::IdempotencyInProgress, Code::IdempotencyKeyReused]);
    }
    if has_body {
        codes.extend([Code::PayloadTooLarge, Code::UnsupportedMediaType]);
    }
    codes.extend(operation.errors);
    codes
}

fn error_response(operation: &Operation, status: u16, codes: &[Code]) -> Value {
    let list =
        codes.iter().map(|code| format!("`{}`: {}", code.as_str(), code.meaning())).collect::<Vec<_>>().join(" ");
    let text = codes.first().map_or("", |code| code.status().canonical_reason().unwrap_or_default());
    let examples: Map<String, Value> = codes
        .iter()
        .map(|code| {
            let mut body = json!({ "error": code.text(), "code": code.as_str() });
            if let Some(hint) = code.usual_hint() {
                body["hint"] = json!(hint);
            }
            if code.status().is_server_error() {
                body["correlationId"] = json!("01937f5e8a7b7c3d9e4f0a1b2c3d4e5f");
            }
            (code.as_str().to_owned(), json!({ "value": body }))
        })
        .collect();
    let mut response = json!({
        "description": format!("{text}. {list}"),
        "content": { "application/json": { "schema": { "$ref": "#/components/schemas/ErrorBody" }, "examples": examples } },
    });
    let mut headers = common_headers(operation);
    headers.push("Cache-Control");
    if operation.idempotency == Some(Idempotency::Enforced) {
        headers.extend(["Idempotency-Replayed", "Idempotency-Storage"]);
    }
    match status {
        401 => headers.push("WWW-Authenticate"),
        403 if codes.contains(&Code::InsufficientScope) => headers.push("WWW-Authenticate"),
        402 => headers.push("Link"),
        405 => headers.push("Allow"),
        _ => {}
    }
    let says_when = [Code::IdempotencyInProgress, Code::SearchSiteRefused].iter().any(|code| codes.contains(code));
    if status == 429 || status == 503 || says_when {
        headers.push("Retry-After");
    }
    merge_headers(&mut response, &headers);
    response
}

fn sort(responses: &mut Map<String, Value>) {
    let mut entries: Vec<_> = std::mem::take(responses).into_iter().collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    responses.extend(entries);
}

fn shared_headers() -> Value {
    let header = |description: &str, schema: Value, example: Value| json!({ "description": description, "schema": schema, "example": example });
    let whole = || json!({ "type": "integer", "format": "int64", "minimum": 0 });
    let text = || json!({ "type": "string", "maxLength": 1024 });
    let mut headers = json!({
        "X-API-Version": header("The API version of this answer.", json!({ "type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$" }), json!(VERSION)),
        "X-Correlation-Id": header("Identifier of the request in the server's logs: the one that the request sent in this header, or a new one.", json!({ "type": "string", "maxLength": 128 }), json!("01937f5e-8a7b-7c3d-9e4f-0a1b2c3d4e5f")),
        "X-RateLimit-Limit": header("Requests that are allowed at once. `getHealth` is not counted, and has no such header.", whole(), json!(60)),
        "X-RateLimit-Remaining": header("Requests left right now.", whole(), json!(59)),
        "X-RateLimit-Reset": header("Time when the limit is full again, in Unix seconds.", whole(), json!(1_790_000_000)),
        "Retry-After": header("Seconds to wait before trying again.", json!({ "type": "integer", "format": "int64", "minimum": 1 }), json!(1)),
        "WWW-Authenticate": header("Names the protected-resource metadata (RFC 9728), and with `insufficient_scope` the scopes to ask for (RFC 6750).", text(), json!("Bearer resource_metadata=\"https://sightline.example/.well-known/oauth-protected-resource\"")),
        "Link": header("On 402 the page of plans (`rel=payment`); on a deprecated operation the changelog (`rel=deprecation`) and the operation to use instead (`rel=successor-version`).", text(), json!("<https://sightline.example/subscribe>; rel=\"payment\"")),
        "Deprecation": header("Time since which the operation is deprecated (RFC 9745).", text(), json!("@1789344000")),
        "Vary": header("Headers of the request that select the answer.", text(), json!("Accept-Encoding, Authorization, Cookie, X-API-Version")),
        "Allow": header("Methods of the path.", text(), json!("GET, HEAD, OPTIONS, POST")),
        "ETag": header("Identifies this state of the answer. On the answer to a write it is the record's `etag`.", text(), json!("W/\"5f2b9c\"")),
        "Cache-Control": header("`private`: only the caller's own cache may store the answer. `no-store`, for no cache, on refusals, on answers to a session cookie and on the export of personal data.", text(), json!("private")),
        "X-Ignored": header("Parameters of the request that had no effect, as in `meta.ignored`; absent without any.", text(), json!("scope, pageLimit")),
        "Idempotency-Replayed": header("On requests with a key: true if this is a stored answer.", json!({ "type": "boolean" }), json!(false)),
        "Idempotency-Storage": header("`unavailable` when the answer is not stored for replay.", json!({ "type": "string", "enum": ["unavailable"] }), json!("unavailable")),
    });
    for name in ON_EVERY_ANSWER {
        headers[name]["required"] = json!(true);
    }
    headers
}
