//! Tests of keyed writes while connections to the database are lost.

use poem::http::Method;
use serde_json::json;

use super::cuttable;
use crate::support::actor::{Actor, Answer};

/// Adds the tag `name` under a key of its own.
async fn add(owner: &Actor, name: &str) -> Answer {
    let headers = [("content-type", "application/json"), ("idempotency-key", name)];
    owner.send(Method::POST, "/api/tags", Some(json!({ "name": name }).to_string()), &headers).await
}

#[tokio::test]
async fn a_keyed_write_happens_once_although_the_connection_is_lost_during_it() {
    let Some((app, relay)) = cuttable().await else { return };
    let owner = app.actor("owner").await;
    // Reads the keys of the issuer, which are then known.
    owner.get("/api/tags").await.expect(200);
    let mut names = Vec::new();
    for round in 0..12 {
        let name = format!("round-{round}");
        // The connection is lost at another point of the write each time.
        let cut = async {
            for _ in 0..round * 40 {
                tokio::task::yield_now().await;
            }
            relay.stop();
        };
        let (first, ()) = tokio::join!(add(&owner, &name), cut);
        if first.status == 503 {
            assert_eq!((first.code(), first.header("retry-after")), ("unavailable", "5"));
        } else {
            first.expect(201);
        }
        relay.resume();
        // What was acknowledged or committed is replayed. The rest is done now.
        let again = add(&owner, &name).await.expect(201);
        assert_eq!(again.json["data"]["name"], name.as_str());
        names.push(name);
    }
    let listed = owner.listed("/api/tags").await;
    for name in &names {
        let times = listed.iter().filter(|tag| tag["name"] == name.as_str()).count();
        assert_eq!(times, 1, "{name}");
    }
}
