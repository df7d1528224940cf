//! Tests that a declared default changes no answer when it is sent: programs and forms fill in what the document declares.

use poem::http::Method;
use serde_json::{Map, Value};

use crate::{
    coverage::{Documented, documented},
    parameters::real_path,
    support::{
        actor::{Actor, Answer},
        app::shared,
        contract::DOCUMENT,
    },
};

/// Headers that differ between equal requests.
const OF_A_REQUEST: [&str; 2] = ["x-correlation-id", "date"];

/// The target of a reference, or the value itself.
fn resolved(value: &Value) -> &Value {
    match value["$ref"].as_str() {
        Some(reference) => resolved(DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap()),
        None => value,
    }
}

/// The query parameters of an operation that have a default, each with it as a query writes it.
fn of_query(operation: &Documented) -> Vec<(String, String)> {
    let parameters = operation.says["parameters"].as_array().into_iter().flatten().map(resolved);
    let query = parameters.filter(|parameter| parameter["in"] == "query");
    let declared = query.filter_map(|parameter| {
        let default = resolved(&parameter["schema"]).get("default")?;
        Some((
            parameter["name"].as_str()?.to_owned(),
            default.as_str().map_or_else(|| default.to_string(), str::to_owned),
        ))
    });
    declared.collect()
}

/// The fields of an operation's body that have a default.
fn of_body(operation: &Documented) -> Map<String, Value> {
    let body = resolved(&operation.says["requestBody"]["content"]["application/json"]["schema"]);
    let fields = body["properties"].as_object().into_iter().flatten();
    fields.filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone()))).collect()
}

/// The whole answer, without what differs between equal requests.
fn seen(answer: &Answer) -> (u16, Vec<(String, String)>, String) {
    let headers = answer.headers.iter().filter(|(name, _)| !OF_A_REQUEST.contains(&name.as_str()));
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()));
    (answer.status.as_u16(), headers.collect(), String::from_utf8_lossy(&answer.bytes).into_owned())
}

/// Asks an operation that reads, with these parameters and a body without the fields that have a default, besides `fields`.
async fn ask(
    owner: &Actor,
    operation: &Documented,
    path: &str,
    query: &[(String, String)],
    fields: &Map<String, Value>,
) -> Answer {
    let body = operation.body().map(|body| {
        let mut body: Map<String, Value> = serde_json::from_str(&body).unwrap();
        body.retain(|name, _| !of_body(operation).contains_key(name));
        body.extend(fields.clone());
        Value::Object(body).to_string()
    });
    let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish();
    let json = [("content-type", "application/json")];
    owner.send(operation.method.clone(), &format!("{path}?{query}"), body, &json).await
}

#[tokio::test]
async fn a_declared_default_changes_no_answer_of_an_operation() {
    let owner = shared().actor("owner").await;
    let property = owner.property("northmoor").await;
    owner.made(&format!("/api/properties/{property}/share-links"), &serde_json::json!({ "name": "Defaults" })).await;
    let (mut sent, mut answered) = (0, 0);
    for operation in documented() {
        let (query, fields) = (of_query(&operation), of_body(&operation));
        if query.is_empty() && fields.is_empty() {
            continue;
        }
        assert!(operation.method == Method::GET || !fields.is_empty(), "{}", operation.id());
        let path = real_path(&owner, &operation, &property).await;
        let id = operation.id().to_owned();
        // The first answer may be the one that reads the search engine.
        ask(&owner, &operation, &path, &[], &Map::new()).await;
        let without = seen(&ask(&owner, &operation, &path, &[], &Map::new()).await);
        answered += u32::from(without.0 == 200);
        let each = query.iter().map(|one| (vec![one.clone()], Map::new()));
        let each = each
            .chain(fields.iter().map(|(name, value)| (Vec::new(), Map::from_iter([(name.clone(), value.clone())]))));
        for (query, fields) in each.chain([(query.clone(), fields.clone())]) {
            let with = seen(&ask(&owner, &operation, &path, &query, &fields).await);
            assert_eq!(with, without, "{id} with {query:?} {fields:?}");
            sent += 1;
        }
    }
    assert!(sent > 120 && answered > 20, "{sent} {answered}");
}
