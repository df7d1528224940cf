//! Tests of grants that the search engine refuses, and of tokens.

use chrono::TimeDelta;
use futures_util::future::join_all;
use simulator::Endpoint;

use super::{app, impatient, requests, trouble};
use crate::{analytics::performance::Asker, support::app::TestApp};

const WINDOW: [(&str, &str); 2] = [("startDate", "2026-08-01"), ("endDate", "2026-08-02")];

#[tokio::test]
async fn many_first_questions_make_one_token() {
    let (app, asker) = app().await;
    app.hand.advance(TimeDelta::hours(2));
    let asker = Asker { actor: app.actor("stranger").await, ..asker };
    let before = requests(&app, Endpoint::Token);
    let windows: Vec<[(&str, String); 2]> = (1..=9)
        .map(|day| [("startDate", format!("2026-08-{day:02}")), ("endDate", format!("2026-08-{day:02}"))])
        .collect();
    let answers = windows.iter().map(async |window| {
        let query: Vec<(&str, &str)> = window.iter().map(|(name, value)| (*name, value.as_str())).collect();
        asker.ask(&query).await
    });
    for answer in join_all(answers).await {
        answer.expect(200);
    }
    assert_eq!(requests(&app, Endpoint::Token), before + 1);
}

#[tokio::test]
async fn a_refused_grant_is_final_until_its_owner_reconnects() {
    let app = TestApp::start(impatient).await;
    let owner = Asker::of(&app, "owner", "northmoor").await;
    let viewer = app.actor("viewer").await;
    let shared = viewer.get("/api/properties").await.expect(200).json["data"][0]["id"].as_str().unwrap().to_owned();
    // The cached access token lasts an hour. Then the grant is needed again.
    app.hand.advance(TimeDelta::hours(2));
    let owner = Asker { actor: app.actor("owner").await, ..owner };
    let viewer = Asker { actor: app.actor("viewer").await, property: shared };
    trouble(&app, &["invalid_grant:1"]);
    let before = requests(&app, Endpoint::Token);
    let mut query = WINDOW.to_vec();
    query.push(("scope", "all"));
    let answer = owner.ask(&query).await.expect(409);
    assert_eq!(answer.code(), "search_account_disconnected");
    let way_out = format!("Reconnect your search account at {}/account.", app.service.base_url);
    assert!(answer.hint().ends_with(&way_out), "{}", answer.hint());
    assert_eq!(requests(&app, Endpoint::Token), before + 1, "a dozen readings, one presentation");

    let answer = viewer.ask(&WINDOW).await.expect(409);
    assert_eq!(
        answer.hint(),
        "The owner of the property, \"Demo Owner (owner@demo.test)\", must reconnect the search account."
    );
    for (actor, hint) in
        [(&owner.actor, "Reconnect your"), (&viewer.actor, "\"Demo Owner (owner@demo.test)\", must reconnect")]
    {
        let list = actor.get("/api/properties").await.expect(200).json;
        let entries = list["data"].as_array().unwrap();
        assert!(entries.iter().all(|entry| entry["access"] == "search_account_disconnected"), "{entries:?}");
        assert!(entries.iter().all(|entry| entry["hint"].as_str().unwrap().contains(hint)), "{entries:?}");
    }
    let health = owner.actor.get("/api/accounts/health").await.expect(200).json;
    assert_eq!(health["data"][0]["status"], "reconnect_required");
    assert!(health["data"][0]["hint"].as_str().unwrap().contains("Reconnect"));
    assert_eq!(requests(&app, Endpoint::Token), before + 1, "nobody presented it again");

    trouble(&app, &[]);
    owner.ask(&WINDOW).await.expect(409);
    assert_eq!(requests(&app, Endpoint::Token), before + 1, "only its owner can make a new one");
}

#[tokio::test]
async fn health_notices_a_refused_grant_by_itself() {
    let (app, asker) = app().await;
    let health = asker.actor.get("/api/accounts/health").await.expect(200).json;
    assert_eq!(health["data"][0]["status"], "connected");
    app.hand.advance(TimeDelta::hours(2));
    let actor = app.actor("stranger").await;
    trouble(&app, &["invalid_grant:1"]);
    let health = actor.get("/api/accounts/health").await.expect(200).json;
    assert_eq!(health["data"][0]["status"], "reconnect_required");
    let list = actor.get("/api/properties").await.expect(200).json;
    assert_eq!(list["data"][0]["access"], "search_account_disconnected");
}

#[tokio::test]
async fn trouble_of_the_api_is_not_taken_for_a_refused_grant() {
    let (app, asker) = app().await;
    trouble(&app, &["error500:1"]);
    let health = asker.actor.get("/api/accounts/health").await.expect(200).json;
    assert_eq!(health["data"][0]["status"], "unreachable");
    trouble(&app, &[]);
    let health = asker.actor.get("/api/accounts/health").await.expect(200).json;
    assert_eq!(health["data"][0]["status"], "connected");
}
