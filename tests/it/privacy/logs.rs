//! Test that no line of the log names a person.

use poem::http::Method;
use serde_json::json;
use sightline::app::http_client;
use tempfile::TempDir;

use super::{Named, delete};
use crate::{
    commands::{Running, sightline},
    support::actor::Actor,
};

#[tokio::test]
async fn no_line_of_the_log_names_a_person() {
    for level in ["info", "debug"] {
        names_nobody(level).await;
    }
}

/// Uses a service as several people who leave. Fails if a line of its log names one.
async fn names_nobody(level: &str) {
    let folder = TempDir::new().unwrap();
    let settings = [("LISTEN", "127.0.0.1:0"), ("DATA_DIR", "data"), ("SIMULATOR__FAIL", "error500:0.5")];
    let mut serve = sightline(folder.path(), &["serve"], &settings);
    serve.env("RUST_LOG", level);
    // Nobody reads the log before the end, and a pipe holds less than the lines of all levels.
    let log = folder.path().join("log");
    serve.stderr(std::fs::File::create(&log).unwrap());
    let server = Running::start(serve);
    let url = server.url.clone();
    let database = format!("sqlite://{}/data/sightline.db", folder.path().display());
    let db = sea_orm::Database::connect(database).await.unwrap();
    let mut people = Vec::new();
    for name in ["owner", "editor", "stranger", "lapsed", "viewer"] {
        people.push(Named::find(&db, &format!("demo-{name}")).await);
        let actor = Actor::signed_in(&url, name).await;
        let grant = json!({ "email": "viewer@demo.test", "role": "viewer", "allProperties": true });
        actor.post("/api/team", &grant).await;
        let grants = actor.get("/api/team").await;
        if let Some(id) = grants.json["data"][0]["id"].as_str() {
            actor.delete(&format!("/api/team/{id}")).await;
        }
        actor.get("/api/properties").await;
        actor.get("/api/properties?days=7").await;
        actor.get("/api/accounts/health").await;
        actor.get("/api/privacy/access").await.expect(200);
        actor.get("/api/nowhere").await.expect(404);
        delete(&actor).await.expect(204);
        actor.get("/api/tags").await.expect(401);
    }
    drop(server);
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.lines().count() > 40, "{log}");
    for line in log.lines() {
        let named = people.iter().find(|person| person.is_in(line.as_bytes()));
        assert!(named.is_none(), "{level}: {line}");
    }
}

#[tokio::test]
async fn a_method_that_a_stranger_made_up_is_not_in_the_log() {
    let folder = TempDir::new().unwrap();
    let settings = [("LISTEN", "127.0.0.1:0"), ("DATA_DIR", "data")];
    let server = Running::start(sightline(folder.path(), &["serve"], &settings));
    let made_up = Method::from_bytes("ANN.LEE".repeat(1_000).as_bytes()).unwrap();
    let answer = http_client().unwrap().request(made_up, format!("{}/api/tags", server.url)).send().await.unwrap();
    assert!(answer.status().is_client_error(), "{}", answer.status());
    let (_, _, log) = server.terminate();
    assert!(log.contains("(another method)"), "{log}");
    for line in log.lines() {
        assert!(!line.contains("ANN.LEE") && line.len() < 2_000, "{line}");
    }
}
