//! Tests that questions about a segment, a cluster or the brand use its current definition.

use serde_json::{Value, json};

use super::contains;
use crate::support::{
    actor::{Actor, Answer},
    app::TestApp,
};

/// A person who asks about a property.
struct Reader {
    actor: Actor,
    property: String,
}

impl Reader {
    async fn ask(&self, part: &str, classification: &str) -> Answer {
        let path = format!("/api/properties/{}/{part}", self.property);
        self.actor.ask(&path, &[("classification", classification), ("scope", "all")]).await
    }

    /// The response to the same conditions, sent as filters.
    async fn filtered(&self, dimension: &str, value: &str) -> Value {
        let filters = json!([{ "dimension": dimension, "operator": "contains", "value": value }]).to_string();
        let path = format!("/api/properties/{}/performance", self.property);
        self.actor.ask(&path, &[("filters", &filters), ("scope", "all")]).await.expect(200).json["data"].clone()
    }
}

#[tokio::test]
async fn a_changed_classification_changes_the_answers_at_once() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let reader = Reader { actor: app.actor("viewer").await, property: property.clone() };
    let kinds = [("segments", "segment", "page"), ("topic-clusters", "topicCluster", "query")];
    for (part, kind, dimension) in kinds {
        let list = format!("/api/properties/{property}/{part}");
        let seeded = owner.listed(&list).await[0]["conditions"][0]["value"].as_str().unwrap().to_owned();
        let rule = |value: &str| json!({ "name": "Changing", "conditions": [contains(value)] });
        let id = owner.made(&list, &rule(&seeded)).await;
        let name = format!("{kind}:{id}");
        let first = reader.ask("performance", &name).await.expect(200);
        assert_eq!(first.json["data"], reader.filtered(dimension, &seeded).await);
        let cached = reader.ask("performance", &name).await.expect(200);
        assert_eq!(cached.bytes, first.bytes);

        owner.put(&format!("{list}/{id}"), &rule("o")).await.expect(200);
        let known = [("if-none-match", first.header("etag"))];
        let path = format!("/api/properties/{property}/performance?classification={name}&scope=all");
        let second = reader.actor.send(poem::http::Method::GET, &path, None, &known).await.expect(200);
        assert_ne!(second.json["data"]["totals"], first.json["data"]["totals"], "{part}");
        assert_eq!(second.json["data"], reader.filtered(dimension, "o").await);

        owner.put(&format!("{list}/{id}"), &rule(&seeded)).await.expect(200);
        assert_eq!(reader.ask("performance", &name).await.expect(200).json["data"], first.json["data"]);
        owner.delete(&format!("{list}/{id}")).await.expect(204);
        for part in ["performance", "countries", "query-count", "table-sparklines", "growth-opportunities"] {
            reader.ask(part, &name).await.expect(404);
        }
    }
}

#[tokio::test]
async fn changed_keywords_change_what_is_branded_at_once() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let keywords = format!("/api/properties/{property}/branded-keywords");
    let reader = Reader { actor: app.actor("viewer").await, property: property.clone() };
    let answers = async || {
        let mut found = Vec::new();
        for part in ["performance", "countries"] {
            found.push(reader.ask(part, "branded").await.expect(200).json["data"].clone());
            found.push(reader.ask(part, "nonBranded").await.expect(200).json["data"].clone());
        }
        for part in ["branded-traffic", "query-insights", "growth-opportunities"] {
            let path = format!("/api/properties/{property}/{part}");
            found.push(reader.actor.get(&path).await.expect(200).json["data"].clone());
        }
        found
    };
    let first = answers().await;
    assert_eq!(answers().await, first);
    let topics = owner.listed(&format!("/api/properties/{property}/topic-clusters")).await;
    let word = topics[0]["conditions"][0]["value"].as_str().unwrap();
    owner.post(&keywords, &json!({ "keywords": [word] })).await.expect(201);
    for (index, (new, old)) in answers().await.iter().zip(&first).enumerate() {
        assert_ne!(new, old, "answer {index}");
    }
    let remove = async |keyword: &str| {
        let query = url::form_urlencoded::Serializer::new(String::new()).append_pair("keyword", keyword).finish();
        owner.delete(&format!("{keywords}?{query}")).await.expect(204);
    };
    remove(word).await;
    assert_eq!(answers().await, first);
    for keyword in super::column(&owner.listed(&keywords).await, "keyword") {
        remove(&keyword).await;
    }
    let answer = reader.ask("performance", "branded").await.expect(400);
    assert!(answer.hint().starts_with("classification"), "{}", answer.hint());
}
