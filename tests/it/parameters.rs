//! Tests of the names of query parameters, on every operation.

use std::collections::BTreeSet;

use poem::http::Method;
use serde_json::{Value, json};

use crate::{
    coverage::{Documented, documented},
    support::{actor::Actor, app::shared, contract::DOCUMENT},
};

/// The parameters that the conventions of property-scoped routes name.
const CONVENTIONS: [&str; 10] = [
    "startDate",
    "endDate",
    "compareStart",
    "compareEnd",
    "classification",
    "searchType",
    "filters",
    "scope",
    "queryLimit",
    "pageLimit",
];

/// The names of an operation's query parameters.
fn names(operation: &Documented) -> Vec<String> {
    let parameters = operation.says["parameters"].as_array().into_iter().flatten();
    let query = parameters.filter(|parameter| parameter["in"] == "query");
    query.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
}

/// Misspellings of a name: letters left out, doubled or exchanged, other cases, separators.
fn misspelt(name: &str) -> BTreeSet<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut found = BTreeSet::from([name.to_uppercase(), format!("{name}s"), format!(" {name}"), format!("{name}[]")]);
    for place in 0..letters.len() {
        let (mut less, mut more) = (letters.clone(), letters.clone());
        less.remove(place);
        more.insert(place, letters[place]);
        found.extend([String::from_iter(less), String::from_iter(more)]);
        if place > 0 {
            let mut exchanged = letters.clone();
            exchanged.swap(place - 1, place);
            found.insert(String::from_iter(exchanged));
        }
        if letters[place].is_uppercase() {
            let (before, after) = name.split_at(place);
            found.extend([format!("{before}_{}", after.to_lowercase()), format!("{before}{}", after.to_lowercase())]);
        }
    }
    found.remove(name);
    found
}

/// The path of an operation, with the id of a real property or the token of a real link.
pub async fn real_path(owner: &Actor, operation: &Documented, property: &str) -> String {
    if !operation.path.contains("{token}") {
        return operation.at(property);
    }
    let links = owner.listed(&format!("/api/properties/{property}/share-links")).await;
    operation.path.replace("{token}", links[0]["token"].as_str().unwrap())
}

/// Sends a request with one query parameter.
async fn refused(owner: &Actor, operation: &Documented, path: &str, name: &str) -> String {
    let query = url::form_urlencoded::Serializer::new(String::new()).append_pair(name, "1").finish();
    let json = [("content-type", "application/json")];
    let answer = owner.send(operation.method.clone(), &format!("{path}?{query}"), operation.body(), &json).await;
    let said = format!("{} with {name}: {}", operation.id(), String::from_utf8_lossy(&answer.bytes));
    assert_eq!((answer.status.as_u16(), answer.code()), (400, "invalid_request"), "{said}");
    answer.hint().to_owned()
}

#[tokio::test]
async fn no_operation_answers_a_question_with_a_misspelt_parameter() {
    let owner = shared().actor("owner").await;
    let property = owner.property("northmoor").await;
    owner.made(&format!("/api/properties/{property}/share-links"), &json!({ "name": "Misspelt" })).await;
    let mut tried = 0;
    for operation in documented() {
        let (path, known) = (real_path(&owner, &operation, &property).await, names(&operation));
        for name in &known {
            let wrong = misspelt(name).into_iter();
            for wrong in wrong.filter(|wrong| !known.contains(wrong) && !CONVENTIONS.contains(&wrong.as_str())) {
                let hint = refused(&owner, &operation, &path, &wrong).await;
                assert_eq!(hint, format!("{wrong}: not a parameter here; did you mean {name}?"), "{}", operation.id());
                tried += 1;
            }
        }
        let hint = refused(&owner, &operation, &path, "zzz").await;
        let Some(said) = hint.strip_prefix("zzz: not a parameter here; this operation takes ") else {
            panic!("{}: {hint}", operation.id());
        };
        let listed: BTreeSet<&str> = said.split(", ").collect();
        let taken: BTreeSet<&str> = known.iter().map(String::as_str).collect();
        let nothing = BTreeSet::from(["no query parameters"]);
        assert_eq!(listed, if known.is_empty() { nothing } else { taken }, "{}", operation.id());
    }
    assert!(tried > 1000, "{tried}");
}

/// Returns whether the answer of an operation echoes its parameters.
fn echoes(operation: &Documented) -> bool {
    if operation.method != Method::GET {
        return false;
    }
    let mut schema = &operation.says["responses"]["200"]["content"]["application/json"]["schema"];
    for part in ["", "meta", "question"] {
        if !part.is_empty() {
            schema = &schema["properties"][part];
        }
        if let Some(reference) = schema["$ref"].as_str() {
            schema = DOCUMENT.pointer(reference.trim_start_matches('#')).unwrap();
        }
    }
    schema["properties"]["startDate"].is_object()
}

#[tokio::test]
async fn conventional_parameters_without_effect_are_listed_or_refused() {
    let owner = shared().actor("owner").await;
    let property = owner.property("tinyfern").await;
    owner.made(&format!("/api/properties/{property}/share-links"), &json!({ "name": "Conventions" })).await;
    let (mut listed, mut refused_by) = (0, BTreeSet::new());
    for operation in documented() {
        let (path, known) = (real_path(&owner, &operation, &property).await, names(&operation));
        let foreign: Vec<&str> =
            CONVENTIONS.into_iter().filter(|name| !known.iter().any(|known| known == name)).collect();
        if !echoes(&operation) {
            for name in foreign {
                let hint = refused(&owner, &operation, &path, name).await;
                assert_eq!(
                    hint,
                    format!("{name}: has no effect on this operation; leave it out"),
                    "{}",
                    operation.id()
                );
                refused_by.insert(operation.id().to_owned());
            }
            continue;
        }
        let mut query = vec![("startDate", "2026-11-02"), ("endDate", "2026-11-08")];
        let plain = owner.ask(&path, &query).await.expect(200).json;
        assert!(plain["meta"].get("ignored").is_none(), "{}", operation.id());
        query.extend(foreign.iter().map(|name| (*name, "nonsense")));
        let mut answer = owner.ask(&path, &query).await.expect(200).json;
        let meta = answer["meta"].as_object_mut().unwrap();
        let mut ignored: Vec<String> =
            serde_json::from_value(meta.remove("ignored").unwrap_or_else(|| json!([]))).unwrap();
        ignored.sort();
        let mut expected = foreign.clone();
        expected.sort_unstable();
        assert_eq!(ignored, expected, "{}", operation.id());
        assert_eq!(answer, plain, "{}", operation.id());
        listed += ignored.len();
    }
    assert!(listed > 10, "{listed}");
    for export in ["exportPropertyPerformanceCsv", "exportPropertyQueryCountRaw"] {
        assert!(refused_by.contains(export), "{refused_by:?}");
    }
}

#[tokio::test]
async fn rights_come_before_the_names_of_parameters() {
    let (owner, viewer) = (shared().actor("owner").await, shared().actor("viewer").await);
    let foreign = shared().actor("stranger").await.property("quietmeadow").await;
    owner.get(&format!("/api/properties/{foreign}/countries?filter=1")).await.expect(404);
    shared().anonymous().get("/api/tags?filter=1").await.expect(401);
    let locked = shared().actor("lapsed").await;
    let own = locked.property("oakandanvil").await;
    locked.get(&format!("/api/properties/{own}/countries?filter=1")).await.expect(402);
    let northmoor = owner.property("northmoor").await;
    let path = format!("/api/properties/{northmoor}/share-links?filter=1");
    viewer.post(&path, &json!({})).await.expect(403);
    owner.send(Method::GET, "/api/tags?filter=1", None, &[("x-api-version", "2020-01-01")]).await.expect(400);
    assert_eq!(owner.get("/api/tags?filter=1").await.expect(400).json["error"], Value::from("Invalid request"));
}
