//! Tests that the document's examples of analytics responses equal the answers over the simulated search engine.
//!
//! `make examples` writes them again.

use std::{fs, path::PathBuf};

use serde_json::{Map, Value};

use crate::support::{app::shared, contract::DOCUMENT};

/// The site of the examples, which belongs to the demo person `owner`.
const SITE: &str = "tinyfern.test";

fn file() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/api/src/document/examples/analytics.json"))
}

fn path_of(operation: &str) -> &'static str {
    let paths = DOCUMENT["paths"].as_object().unwrap();
    paths.iter().find(|(_, item)| item["get"]["operationId"] == operation).unwrap().0
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
        let query: Vec<(String, String)> = example["question"]
            .as_str()
            .unwrap()
            .split('&')
            .map(|pair| pair.split_once('=').unwrap())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        let answer = owner.ask(&path_of(operation).replace("{id}", &property), &query).await.expect(200);
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
