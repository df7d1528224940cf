//! Replays in the version of the client that asks.

use serde_json::json;
use sightline::config::Releases;
use tempfile::TempDir;

use super::{BOTH, Client, OLD, both, clients};
use crate::support::app::TestApp;

const TAGS: &str = "/api/tags";

#[tokio::test]
async fn a_replay_has_the_shape_of_the_version_that_asks() {
    let app = both().await;
    let owner = app.actor("owner").await;
    let (old, new) = clients(&owner);
    for (turn, first) in [&old, &new].into_iter().enumerate() {
        let name = format!("Shops {turn}");
        let key = [("idempotency-key", name.as_str())];
        let body = |client: &Client<'_>| json!({ if client.pin.is_some() { "label" } else { "name" }: name });
        let made = first.post(TAGS, &body(first), &key).await.expect(201);
        assert_eq!(made.header("idempotency-replayed"), "false");
        for (client, field, other) in [(&old, "label", "name"), (&new, "name", "label"), (&old, "label", "name")] {
            let again = client.post(TAGS, &body(client), &key).await.expect(201);
            assert_eq!(again.header("idempotency-replayed"), "true");
            assert_eq!((&again.json["data"][field], again.json["data"].get(other)), (&json!(name), None));
            assert_eq!(again.json["data"]["id"], made.json["data"]["id"]);
            for header in ["etag", "location"] {
                assert_eq!(again.header(header), made.header(header), "{header}");
            }
            let reused = client.post(TAGS, &json!({ field: "Another" }), &key).await.expect(422);
            assert_eq!(reused.code(), "idempotency_key_reused");
        }
    }
    assert_eq!(
        owner.listed(TAGS).await.iter().filter(|tag| tag["name"].as_str().unwrap().starts_with("Shops")).count(),
        2
    );
}

/// A service of the first version alone, and later of both on the same data. Earlier answers keep their shape.
#[tokio::test]
async fn an_older_answer_is_replayed_in_its_older_shape() {
    let folder = TempDir::new().unwrap();
    let data_dir = folder.path().display().to_string();
    let start = async |releases: Releases| {
        let data_dir = data_dir.clone();
        TestApp::start(|config| {
            config.database.url = None;
            config.data_dir = data_dir;
            config.releases = releases;
        })
        .await
    };
    let (body, key) = (json!({ "name": "Shops" }), [("idempotency-key", "k")]);
    let first = start(Releases::default()).await;
    let owner = first.actor("owner").await;
    let made = clients(&owner).1.post(TAGS, &body, &key).await.expect(201);
    first.service.shutdown().await;

    let second = start(Releases(&BOTH)).await;
    let owner = second.actor("owner").await;
    let (old, new) = clients(&owner);
    for client in [&old, &new] {
        let again = client.post(TAGS, &body, &key).await.expect(201);
        assert_eq!((again.header("idempotency-replayed"), again.header("x-api-version")), ("true", OLD));
        assert_eq!(again.bytes, made.bytes);
    }
}
