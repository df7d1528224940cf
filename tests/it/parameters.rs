//! Tests of the names of query parameters, on every operation.

use std::collections::BTreeSet;

use poem::http::Method;
use serde_json::{Value, json};

use crate::{
    coverage::{Documented, documented},
    support::{
        actor::{Actor, Answer},
        app::{TestApp, shared},
    },
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
        // Health leaves out what monitors add.
        if operation.id() == "getHealth" {
            continue;
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

/// The names that an answer lists as without effect: in a header, and in `meta.ignored` of JSON.
#[track_caller]
fn ignored(answer: &Answer) -> BTreeSet<String> {
    let header = answer.header("x-ignored").split(", ").filter(|name| !name.is_empty()).map(str::to_owned).collect();
    let listed = answer.json["meta"]["ignored"].as_array().into_iter().flatten();
    let listed: BTreeSet<String> = listed.map(|name| name.as_str().unwrap().to_owned()).collect();
    // Without a headline, the answer of a property has no metadata.
    let has_place =
        !answer.json.is_null() && answer.json["data"].get("access").is_none_or(|_| !answer.json["meta"].is_null());
    assert!(!has_place || header == listed, "{header:?} {listed:?}");
    header
}

/// The parts of an answer that are the same whatever has no effect.
fn without_ignored(answer: &Answer) -> (Value, Vec<u8>) {
    let mut json = answer.json.clone();
    if let Some(meta) = json.get_mut("meta").and_then(Value::as_object_mut) {
        meta.remove("ignored");
        if meta.is_empty() {
            json.as_object_mut().unwrap().remove("meta");
        }
    }
    (json, if answer.json.is_null() { answer.bytes.clone() } else { Vec::new() })
}

/// The paths of every read below a property, with the ids of real records.
async fn reads_of_property(owner: &Actor, property: &str) -> Vec<(Documented, String)> {
    let base = format!("/api/properties/{property}");
    let condition = |value: &str| json!({ "name": value, "conditions": [{ "operator": "contains", "value": value }] });
    let annotation = json!({ "date": "2026-11-02", "text": "Conventions" });
    let records = [
        ("{segmentId}", owner.made(&format!("{base}/segments"), &condition("conventions")).await),
        ("{clusterId}", owner.made(&format!("{base}/topic-clusters"), &condition("conventions")).await),
        ("{annotationId}", owner.made(&format!("{base}/annotations"), &annotation).await),
        ("{linkId}", owner.made(&format!("{base}/share-links"), &json!({ "name": "Conventions" })).await),
    ];
    let reads = documented().into_iter();
    let reads = reads.filter(|read| read.method == Method::GET && read.path.starts_with("/api/properties/{id}"));
    let at = |read: Documented| {
        let path = records.iter().fold(read.path.clone(), |path, (name, id)| path.replace(name, id));
        (read, path.replace("{id}", property))
    };
    reads.map(at).collect()
}

#[tokio::test]
async fn every_read_of_a_property_takes_the_conventions_and_lists_what_means_nothing_to_it() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("tinyfern").await;
    let credentials = json!({ "login": "good@demo.test", "password": "demo" });
    owner.put("/api/integrations/provider-a", &credentials).await.expect(200);
    let reads = reads_of_property(&owner, &property).await;
    let mut listed = 0;
    for (read, path) in &reads {
        let known = names(read);
        let window = [("startDate", "2026-11-02"), ("endDate", "2026-11-08")];
        let query: Vec<_> = window.into_iter().filter(|(name, _)| known.iter().any(|known| known == name)).collect();
        let plain = owner.ask(path, &query).await.expect(200);
        assert_eq!(ignored(&plain), BTreeSet::new(), "{}", read.id());
        let foreign: BTreeSet<String> = CONVENTIONS.map(str::to_owned).into_iter().collect();
        let foreign: BTreeSet<String> = foreign.into_iter().filter(|name| !known.contains(name)).collect();
        for name in &foreign {
            let one: Vec<_> = query.iter().copied().chain([(name.as_str(), "nonsense")]).collect();
            let answer = owner.ask(path, &one).await.expect(200);
            assert_eq!(ignored(&answer), BTreeSet::from([name.clone()]), "{}", read.id());
            listed += 1;
        }
        let all: Vec<_> = query.iter().copied().chain(foreign.iter().map(|name| (name.as_str(), "nonsense"))).collect();
        let answer = owner.ask(path, &all).await.expect(200);
        assert_eq!(ignored(&answer), foreign, "{}", read.id());
        // Answers from the cache of providers cost nothing.
        if !read.path.ends_with("/keyword-research") && !read.path.ends_with("/backlinks") {
            assert_eq!(without_ignored(&answer), without_ignored(&plain), "{}", read.id());
        }
    }
    assert!(reads.len() >= 20 && listed > 100, "{} reads, {listed} parameters", reads.len());
}

#[tokio::test]
async fn other_operations_refuse_the_conventions_that_mean_nothing_to_them() {
    let owner = shared().actor("owner").await;
    let property = owner.property("tinyfern").await;
    owner.made(&format!("/api/properties/{property}/share-links"), &json!({ "name": "Conventions" })).await;
    let mut tried = 0;
    for operation in documented() {
        let reads = operation.method == Method::GET;
        let (path, known) = (real_path(&owner, &operation, &property).await, names(&operation));
        let foreign = CONVENTIONS.into_iter().filter(|name| !known.iter().any(|known| known == name));
        if reads && (operation.path.starts_with("/api/properties/{id}") || operation.path.contains("{token}")) {
            continue;
        }
        for name in foreign {
            let hint = refused(&owner, &operation, &path, name).await;
            assert_eq!(hint, format!("{name}: has no effect on this operation; leave it out"), "{}", operation.id());
            tried += 1;
        }
    }
    assert!(tried > 300, "{tried}");
}

/// Questions, and the parameters among them that have no effect beside the others.
const IDLE: &[(&str, &str, &str)] = &[
    ("performance", "scope=totals&queryLimit=5", "queryLimit"),
    (
        "performance",
        "queryLimit=5&pageLimit=5&queryOffset=5&pageOffset=5",
        "queryLimit pageLimit queryOffset pageOffset",
    ),
    ("performance", "scope=series&sort=clicks&metricFilters=clicks>1", "sort metricFilters"),
    (
        "performance",
        "scope=tables&queryLimit=5&pageLimit=5&queryOffset=5&pageOffset=5&sort=clicks&metricFilters=clicks>1",
        "",
    ),
    ("performance", "scope=all&queryLimit=5&granularity=week", ""),
    ("performance", "scope=all&searchType=discover&queryLimit=5&queryOffset=5&pageLimit=5", "queryLimit queryOffset"),
    ("performance", "scope=totals&granularity=week", "granularity"),
    ("performance", "scope=tables&granularity=month", "granularity"),
    ("performance", "scope=totals&granularity=hour", ""),
    ("performance", "explainLimit=5", "explainLimit"),
    ("performance", "explain=1&compare=previous_period&explainLimit=5", ""),
    ("performance", "explain=True&compare=previous_period&explainLimit=5", ""),
    ("performance", "explain=0&compare=previous_period&explainLimit=5", "explainLimit"),
    ("performance", "explain=FALSE&compare=previous_period&explainLimit=5", "explainLimit"),
    ("performance", "compare=previous_year&compareStart=2026-10-05&compareEnd=2026-10-11&scope=totals", "compare"),
    (
        "performance",
        "scope=totals&startDate=2026-11-02&endDate=2026-11-08&compare=previous_period&dataState=all",
        "dataState",
    ),
    ("performance", "startDate=2026-11-02&endDate=2026-11-08&compare=previous_period&dataState=all", ""),
    ("performance", "scope=totals&compare=previous_period&dataState=all", ""),
    ("export", "table=countries&queryLimit=5", "queryLimit"),
    ("export", "table=pages&queryLimit=5&queryOffset=5", "queryLimit queryOffset"),
    ("export", "table=pages&pageLimit=5&pageOffset=5&sort=clicks&metricFilters=pages.clicks>1", ""),
    ("export", "pageLimit=5&pageOffset=5&queryLimit=5", "pageLimit pageOffset"),
    ("export", "table=devices&pageOffset=5&sort=clicks", "pageOffset"),
    ("export", "compare=previous_year&compareStart=2026-10-05&compareEnd=2026-10-11", "compare"),
    ("export", "startDate=2026-11-02&endDate=2026-11-08&compare=previous_period&dataState=all", "dataState"),
    ("export", "startDate=2026-11-02&endDate=2026-11-08&dataState=all", ""),
    ("countries", "startDate=2026-11-02&endDate=2026-11-08&compare=previous_period&dataState=all&limit=5", "dataState"),
    ("cannibalization", "classification=branded&includeBranded=true", "includeBranded"),
    ("cannibalization", "classification=nonBranded&includeBranded=true", ""),
    ("growth-opportunities", "classification=branded&includeBranded=true", "includeBranded"),
    ("growth-opportunities", "classification=branded&includeBranded=false", ""),
    ("growth-opportunities", "kind=snippet&targetPosition=2", "targetPosition"),
    ("growth-opportunities", "kind=rank&targetPosition=2", ""),
    (
        "growth-opportunities",
        "startDate=2026-11-02&endDate=2026-11-08&compare=previous_period&dataState=all",
        "dataState",
    ),
    (
        "query-insights",
        "limit=5&offset=5&sort=clicks&metricFilters=clicks>1&minImpressions=5",
        "limit offset sort metricFilters minImpressions",
    ),
    ("query-insights", "limit=5&offset=5&sort=clicks&minImpressions=5&compare=previous_period", ""),
    ("query-insights", "classification=branded&includeBranded=true", "includeBranded"),
    ("table-sparklines", "table=devices&keys=[\"MOBILE\",\"DESKTOP\"]&limit=1", "limit"),
    ("table-sparklines", "table=devices&keys=[\"MOBILE\",\"DESKTOP\"]&sort=clicks&offset=1", ""),
    ("table-sparklines", "table=devices&limit=1&sort=clicks", ""),
    ("backlinks", "scope=summary&limit=5&offset=5&status=lost", "limit offset status"),
    ("backlinks", "scope=links&limit=5&offset=5&status=lost", ""),
    ("keyword-research", "provider=a&trend=true&limit=5", "trend"),
    ("keyword-research", "keywords=fern&trend=true&limit=5", "trend"),
    ("keyword-research", "provider=b&trend=true&language=de&limit=5", "language"),
    ("", "headline=false&days=7&series=true", "days series"),
    ("", "headline=true&days=7&series=true", ""),
];

#[tokio::test]
async fn parameters_without_effect_beside_the_others_are_listed() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let credentials = json!({ "login": "good@demo.test", "password": "demo" });
    owner.put("/api/integrations/provider-a", &credentials).await.expect(200);
    owner.put("/api/integrations/provider-b", &json!({ "apiKey": "good-key" })).await.expect(200);
    for (path, query, idle) in IDLE {
        let slash = if path.is_empty() { "" } else { "/" };
        let path = format!("/api/properties/{property}{slash}{path}");
        let pairs: Vec<_> = query.split('&').map(|pair| pair.split_once('=').unwrap()).collect();
        let all = owner.ask(&path, &pairs).await.expect(200);
        let idle: BTreeSet<String> = idle.split(' ').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        assert_eq!(ignored(&all), idle, "{path}?{query}");
        let is_paid = ["backlinks", "keyword-research"].iter().any(|paid| path.ends_with(paid));
        if idle.is_empty() || is_paid {
            continue;
        }
        let pairs: Vec<_> = pairs.into_iter().filter(|(name, _)| !idle.contains(*name)).collect();
        let less = owner.ask(&path, &pairs).await.expect(200);
        let (all, less) = (without_ignored(&all), without_ignored(&less));
        assert_eq!(
            (&all.0["data"], &all.0["meta"]["coverage"], &all.1),
            (&less.0["data"], &less.0["meta"]["coverage"], &less.1),
            "{query}"
        );
    }
    let list = owner.get("/api/properties?headline=false&days=7").await.expect(200);
    assert_eq!((&list.json["meta"]["ignored"], list.header("x-ignored")), (&json!(["days"]), "days"));
    // A value that is not allowed is refused wherever the parameter is taken.
    let refused = owner.get(&format!("/api/properties/{property}/performance?scope=totals&queryLimit=0")).await;
    assert!(refused.expect(400).hint().starts_with("queryLimit: "));
}

/// Forms and generated clients send every parameter, with or without a value.
#[tokio::test]
async fn an_optional_parameter_without_a_value_is_as_if_it_had_not_been_sent_and_listed() {
    let owner = shared().actor("owner").await;
    let property = owner.property("tinyfern").await;
    let (mut tried, mut skipped) = (0, Vec::new());
    for read in documented().into_iter().filter(|read| read.method == Method::GET) {
        let parameters = read.says["parameters"].as_array().into_iter().flatten();
        let optional = parameters.filter(|parameter| parameter["in"] == "query" && parameter["required"] != true);
        let names: BTreeSet<String> = optional.map(|found| found["name"].as_str().unwrap().to_owned()).collect();
        let is_paid = ["/backlinks", "/keyword-research"].iter().any(|paid| read.path.ends_with(paid));
        if names.is_empty() || is_paid || read.path.contains("{token}") {
            continue;
        }
        let path = read.at(&property);
        let empty: Vec<_> = names.iter().map(|name| (name.as_str(), "")).collect();
        let plain = owner.ask(&path, &[]).await;
        // Some need a parameter that is optional in the document, or a record.
        if plain.status != 200 {
            skipped.push(read.id().to_owned());
            continue;
        }
        let all = owner.ask(&path, &empty).await.expect(200);
        let listed: BTreeSet<String> = all.header("x-ignored").split(", ").map(str::to_owned).collect();
        assert_eq!((listed, without_ignored(&all)), (names, without_ignored(&plain)), "{}", read.id());
        tried += 1;
    }
    assert!(tried >= 20 && skipped.len() <= 2, "{tried} reads, not {skipped:?}");
    let path = format!("/api/properties/{property}/branded-keywords?keyword=");
    assert_eq!(owner.delete(&path).await.expect(400).hint(), "keyword: is required");
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
