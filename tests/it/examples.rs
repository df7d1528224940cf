//! Tests that the document's examples of analytics responses equal the answers over the simulated search engine.
//!
//! `make examples` writes them again.

use std::{fs, path::PathBuf};

use serde_json::{Map, Value};

use crate::support::{
    actor::{Actor, Answer},
    app::shared,
    contract::DOCUMENT,
};

/// The site of the examples, which belongs to the demo person `owner`.
const SITE: &str = "tinyfern.test";

fn file() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/api/src/document/examples/analytics.json"))
}

fn path_of(operation: &str) -> &'static str {
    let paths = DOCUMENT["paths"].as_object().unwrap();
    let is_its = |item: &Value| ["get", "post"].iter().any(|method| item[method]["operationId"] == operation);
    paths.iter().find(|(_, item)| is_its(item)).unwrap().0
}

/// Asks the question of an example.
async fn asked(owner: &Actor, path: &str, example: &Value) -> Answer {
    if let Some(body) = example.get("request") {
        return owner.post(path, body).await;
    }
    let pairs = example["question"].as_str().unwrap().split('&').map(|pair| pair.split_once('=').unwrap());
    owner.ask(path, &pairs.collect::<Vec<_>>()).await
}

/// Returns whether `make examples` runs the tests, to write what they find.
#[expect(clippy::disallowed_methods, reason = "not a setting of the service")]
pub fn writes() -> bool {
    std::env::var_os("SIGHTLINE_WRITE_EXAMPLES").is_some()
}

#[tokio::test]
async fn analytics_examples_are_real_answers() {
    let owner = shared().actor("owner").await;
    let property = owner.property(SITE).await;
    let mut examples: Map<String, Value> = serde_json::from_slice(&fs::read(file()).unwrap()).unwrap();
    assert_eq!(examples.len(), api::operation::all().iter().filter(|o| o.tag == api::Tag::Analytics).count());
    let mut stale = Vec::new();
    for (operation, example) in &mut examples {
        let answer = asked(&owner, &path_of(operation).replace("{id}", &property), example).await.expect(200);
        let csv = answer.header("content-type").starts_with("text/csv");
        let said = if csv { Value::from(String::from_utf8(answer.bytes).unwrap()) } else { answer.json };
        if said != example["response"] {
            stale.push(operation.clone());
            example["response"] = said;
        }
    }
    if writes() {
        fs::write(file(), serde_json::to_string_pretty(&examples).unwrap() + "\n").unwrap();
    } else {
        assert!(stale.is_empty(), "examples that are no real answers: {stale:?}; run `make examples`");
    }
}
