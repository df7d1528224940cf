//! Tests that the first look at a property that somebody cannot see takes the statements of a look at one that does not exist.

use common::random::Random;
use poem::http::Method;
use serde_json::json;

use crate::support::{
    actor::Actor,
    app::{TestApp, start_of_test},
    assistant::Assistant,
};

/// The requests about a property.
const WAYS: [(&str, &str); 4] =
    [("GET", "performance"), ("GET", "annotations"), ("PUT", "favorite"), ("POST", "segments")];

/// The lowest number of statements of first looks at several properties. The poll for other processes may add some to a look.
async fn fewest(app: &TestApp, ids: &[String], look: impl AsyncFn(&str)) -> u64 {
    let mut fewest = u64::MAX;
    for id in ids {
        let before = app.service.statements.count();
        look(id).await;
        fewest = fewest.min(app.service.statements.count() - before);
    }
    fewest
}

async fn ask(actor: &Actor, (method, part): (&str, &str), id: &str) {
    let body = match part {
        "favorite" => Some(json!({ "favorite": true }).to_string()),
        "segments" => Some(json!({ "name": "x", "conditions": [] }).to_string()),
        _ => None,
    };
    let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
    let path = format!("/api/properties/{id}/{part}");
    let method: Method = method.parse().unwrap();
    actor.send(method, &path, body, &headers).await.expect(404);
}

#[tokio::test]
async fn the_first_look_at_anothers_property_takes_the_statements_of_one_at_none() {
    let app = TestApp::start(|config| config.simulator.sites = 40).await;
    let (network, stranger) = (app.actor("network").await, app.actor("stranger").await);
    let theirs: Vec<String> = network
        .listed("/api/properties?headline=false")
        .await
        .iter()
        .map(|one| one["id"].as_str().unwrap().to_owned())
        .collect();
    let random = Random::seeded(7);
    let unknown =
        |count: usize| -> Vec<String> { (0..count).map(|_| random.id(start_of_test()).to_string()).collect() };
    let each = theirs.len() / (WAYS.len() + 1);
    assert!(each >= 5, "{each}");
    let mut parts = theirs.chunks(each);
    for way in WAYS {
        let of_theirs = fewest(&app, parts.next().unwrap(), async |id| ask(&stranger, way, id).await).await;
        let of_none = fewest(&app, &unknown(each), async |id| ask(&stranger, way, id).await).await;
        assert_eq!(of_theirs, of_none, "{way:?}");
    }
    let assistant = Assistant::of(&app, &stranger);
    let call = async |id: &str| {
        let (code, _) = assistant.refused("get_countries", json!({ "property": id })).await;
        assert_eq!(code, "not_found");
    };
    let of_theirs = fewest(&app, parts.next().unwrap(), call).await;
    assert_eq!(of_theirs, fewest(&app, &unknown(each), call).await, "a tool");
}
