//! Tests of many assistants at once: nobody gets another person's data.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::support::{actor::Actor, app::TestApp, assistant::Assistant};

/// Assistants at once.
const ASSISTANTS: usize = 200;

/// A person, and the property that they ask about.
struct Person {
    assistant: Assistant,
    property: String,
    /// Texts that belong to others.
    foreign: Vec<String>,
}

/// A call, by its number.
fn message(number: usize, property: &str) -> (&'static str, Value) {
    let tool = |name: &str| ("tools/call", json!({ "name": name, "arguments": { "property": property } }));
    let list = |kind: &str| {
        ("tools/call", json!({ "name": "list_records", "arguments": { "property": property, "kind": kind } }))
    };
    match number % 10 {
        0 => tool("get_performance"),
        1 => tool("explain_click_change"),
        2 => tool("get_countries"),
        3 => list("annotations"),
        4 => list("segments"),
        5 => tool("find_cannibalization"),
        6 => ("tools/call", json!({ "name": "list_properties", "arguments": {} })),
        7 => ("resources/read", json!({ "uri": format!("sightline://properties/{property}/definitions") })),
        8 => ("resources/read", json!({ "uri": "sightline://properties" })),
        _ => (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "monthly_report" }, "argument": { "name": "property", "value": "" } }),
        ),
    }
}

/// Two owners, each with a note and a segment of their own, marked by their names, and a viewer of some properties of the first.
async fn people(app: &TestApp) -> Vec<Arc<Person>> {
    let mut found = Vec::new();
    for (name, property, other, site) in
        [("owner", "northmoor", "stranger", "quietmeadow"), ("stranger", "quietmeadow", "owner", "northmoor")]
    {
        let actor = app.actor(name).await;
        let id = actor.property(property).await;
        let path = format!("/api/properties/{id}");
        let note = json!({ "date": "2026-11-10", "text": format!("marker-note-{name}") });
        actor.post(&format!("{path}/annotations"), &note).await.expect(201);
        let condition = json!({ "operator": "contains", "value": format!("/marker-page-{name}/") });
        let segment = json!({ "name": format!("marker-segment-{name}"), "conditions": [condition] });
        actor.post(&format!("{path}/segments"), &segment).await.expect(201);
        let foreign = ["note", "segment", "page"].map(|kind| format!("marker-{kind}-{other}"));
        let foreign = foreign.into_iter().chain([site.to_owned()]).collect();
        found.push(Person { assistant: Assistant::of(app, &actor), property: id, foreign });
    }
    let viewer = app.actor("viewer").await;
    let (seen, all) = (names(&viewer).await, names(&app.actor("owner").await).await);
    let unseen = all.into_iter().filter(|name| !seen.contains(name));
    let foreign: Vec<String> = found[0].foreign.iter().cloned().chain(unseen).collect();
    assert!(foreign.len() > found[0].foreign.len(), "the owner has properties that the viewer does not see");
    found.push(Person { assistant: Assistant::of(app, &viewer), property: seen[0].clone(), foreign });
    found.into_iter().map(Arc::new).collect()
}

async fn names(person: &Actor) -> Vec<String> {
    let listed = person.listed("/api/properties").await;
    listed.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_assistants_get_what_is_their_persons() {
    let app = TestApp::start(|config| config.rate_limit.max_in_flight = 1_000).await;
    let people = people(&app).await;
    let mut crowd = JoinSet::new();
    for number in 0..ASSISTANTS {
        let person = people[number % people.len()].clone();
        crowd.spawn(async move {
            for call in [number / 3, number / 3 + 5] {
                let (method, params) = message(call, &person.property);
                let id = format!("{number}-{call}");
                let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
                let reply = person.assistant.post(&message, &[]).await.expect(200);
                assert_eq!(reply.json["id"], json!(id), "{}", reply.text);
                let result = &reply.json["result"];
                assert!(result.is_object() && result["isError"] != true, "{method} {params}: {}", reply.text);
                for stray in &person.foreign {
                    assert!(!reply.text.contains(stray), "{stray} in {method} {params}");
                }
            }
        });
    }
    while let Some(done) = crowd.join_next().await {
        done.unwrap();
    }
    for person in &people[..2] {
        let own = person.assistant.answered("list_records/annotations", json!({ "property": person.property })).await;
        assert!(own.to_string().contains("marker-note-"), "the markers are there to be found: {own}");
    }
}
