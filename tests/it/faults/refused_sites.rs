//! Tests of sites that the search engine refuses to the search account: the error for each person, and the time of the next
//! attempt.

use chrono::TimeDelta;
use poem::http::Method;
use simulator::Endpoint;

use super::{impatient, requests, trouble};
use crate::{
    analytics::performance::{Asker, SMALL},
    support::{actor::Answer, app::TestApp},
};

const WINDOW: [(&str, &str); 2] = [("startDate", "2026-08-01"), ("endDate", "2026-08-01")];

/// Asserts the owner's error for a refused site, and returns the seconds until the next attempt.
#[track_caller]
fn refused(answer: Answer) -> u64 {
    let answer = answer.expect(409);
    assert_eq!(answer.code(), "search_site_refused");
    for part in ["since 2026-11-2", "sync", "access"] {
        assert!(answer.hint().contains(part), "{}", answer.hint());
    }
    answer.header("retry-after").parse().unwrap()
}

#[tokio::test]
async fn one_refusal_of_the_search_engine_does_not_close_a_property() {
    let app = TestApp::start(impatient).await;
    let owner = Asker::of(&app, "owner", "northmoor").await;
    let editor = Asker { actor: app.actor("editor").await, property: owner.property.clone() };
    let link = format!("/api/properties/{}/share-links", owner.property);
    let link = owner.actor.post(&link, &serde_json::json!({})).await.expect(201);
    let link = format!("/api/share/{}/performance", link.json["data"]["token"].as_str().unwrap());
    let cached = owner.ask(&[]).await.expect(200);

    trouble(&app, &["permission403:1"]);
    assert_eq!(refused(owner.ask(&WINDOW).await), 60);
    trouble(&app, &[]);
    let asked = requests(&app, Endpoint::Query);
    app.hand.advance(TimeDelta::seconds(59));
    assert_eq!(refused(owner.ask(&WINDOW).await), 1);
    // Other people learn nothing about the owner's account.
    assert_eq!(editor.ask(&WINDOW).await.expect(404).code(), "not_found");
    app.anonymous().ask(&link, &WINDOW).await.expect(404);
    assert_eq!(owner.ask(&[]).await.expect(200).bytes, cached.bytes, "what is cached is served");
    assert_eq!(requests(&app, Endpoint::Query), asked, "nobody asked again");
    app.hand.advance(TimeDelta::seconds(1));
    editor.ask(&WINDOW).await.expect(200);
    owner.ask(&WINDOW).await.expect(200);
    app.anonymous().ask(&link, &WINDOW).await.expect(200);
}

#[tokio::test]
async fn refused_sites_are_listed_in_the_health_of_their_account() {
    let app = TestApp::start(impatient).await;
    let asker = Asker::of(&app, "owner", "northmoor").await;
    let health = async |path: &str| {
        let answer = asker.actor.get(path).await.expect(200).json["data"].clone();
        let account = if answer.is_array() { answer[0].clone() } else { answer["searchAccounts"][0].clone() };
        (account["status"].clone(), account["refusedSites"].clone())
    };
    let paths = ["/api/accounts/health", "/api/integrations/status"];
    assert_eq!(health(paths[0]).await, ("connected".into(), serde_json::json!([])));
    trouble(&app, &["permission403:1"]);
    refused(asker.ask(&WINDOW).await);
    app.hand.advance(TimeDelta::seconds(90));
    refused(asker.ask(&WINDOW).await);
    trouble(&app, &[]);
    for path in paths {
        let (status, sites) = health(path).await;
        assert_eq!((status, sites.as_array().unwrap().len()), ("connected".into(), 1), "{path}");
        assert_eq!(sites[0]["propertyId"], asker.property.as_str());
        assert!(sites[0]["siteUrl"].as_str().unwrap().contains("northmoor"), "{sites}");
        assert_eq!(sites[0]["since"], "2026-11-21T12:00:00.000Z", "the first refusal counts");
        assert!(sites[0]["hint"].as_str().unwrap().contains("then sync"), "{sites}");
    }
    app.hand.advance(TimeDelta::minutes(2));
    asker.ask(&WINDOW).await.expect(200);
    assert_eq!(health(paths[0]).await.1, serde_json::json!([]));
}

#[tokio::test]
async fn a_site_that_stays_refused_is_asked_about_less_and_less_often() {
    let app = TestApp::start(impatient).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    trouble(&app, &["permission403:1"]);
    let mut waits = vec![refused(asker.ask(&WINDOW).await)];
    for _ in 0..7 {
        let (last, sent) = (*waits.last().unwrap(), requests(&app, Endpoint::Query));
        app.hand.advance(TimeDelta::seconds(i64::try_from(last).unwrap() - 1));
        // The access token of a person does not live that long.
        let asker = Asker { actor: app.actor("stranger").await, property: asker.property.clone() };
        assert_eq!(refused(asker.ask(&WINDOW).await), 1);
        assert_eq!(requests(&app, Endpoint::Query), sent);
        app.hand.advance(TimeDelta::seconds(1));
        waits.push(refused(asker.ask(&WINDOW).await));
        assert!(requests(&app, Endpoint::Query) > sent, "it was sent again");
    }
    assert_eq!(waits, [60, 120, 240, 480, 960, 1_920, 3_600, 3_600]);
    // A successful response resets the pause: the next refusal is a first one.
    trouble(&app, &[]);
    app.hand.advance(TimeDelta::hours(1));
    let asker = Asker::of(&app, "stranger", SMALL).await;
    asker.ask(&WINDOW).await.expect(200);
    trouble(&app, &["permission403:1"]);
    assert_eq!(refused(asker.ask(&[("startDate", "2026-08-02"), ("endDate", "2026-08-02")]).await), 60);
}

#[tokio::test]
async fn a_sync_that_finds_the_site_has_it_asked_about_at_once() {
    let app = TestApp::start(impatient).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    trouble(&app, &["permission403:1"]);
    let days = [("days", "90")];
    let entry = asker.actor.ask("/api/properties", &days).await.expect(200).json["data"][0].clone();
    assert_eq!((&entry["access"], entry.get("headline")), (&"lost".into(), None), "{entry}");
    assert!(entry["hint"].as_str().unwrap().contains("sync"), "{entry}");
    refused(asker.ask(&WINDOW).await);
    trouble(&app, &[]);
    let synced = asker.actor.send(Method::POST, "/api/properties/sync", None, &[]).await.expect(200);
    assert!(synced.json["data"]["properties"].as_array().unwrap().iter().all(|p| p.get("lostAt").is_none()));
    asker.ask(&WINDOW).await.expect(200);
    let entry = asker.actor.ask("/api/properties", &days).await.expect(200).json["data"][0].clone();
    assert_eq!(entry["access"], "ok");
}

#[tokio::test]
async fn a_site_that_a_sync_did_not_find_is_asked_about_all_the_same() {
    use sea_orm::ConnectionTrait as _;
    let app = TestApp::start(impatient).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let lost = "UPDATE property SET lost_at = created_at";
    app.service.db.execute_unprepared(lost).await.unwrap();
    asker.ask(&WINDOW).await.expect(200);
    let entry = asker.actor.ask("/api/properties", &[("days", "9")]).await.expect(200).json["data"][0].clone();
    assert_eq!(entry["access"], "ok");
}
