//! Tests of the property list, tracking, marks and sync.

use std::time::{Duration, Instant};

use chrono::TimeDelta;
use poem::http::Method;
use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};
use simulator::{Endpoint, Fault, FaultKind};

use crate::{
    coverage::{NOBODYS, untracked},
    faults::impatient,
    support::{
        actor::{Actor, Answer},
        app::{TestApp, shared},
    },
};

fn column<'a>(answer: &'a Answer, name: &str) -> Vec<&'a str> {
    answer.json["data"].as_array().unwrap().iter().map(|entry| entry[name].as_str().unwrap()).collect()
}

fn ids(answer: &Answer) -> Vec<String> {
    column(answer, "id").into_iter().map(str::to_owned).collect()
}

async fn list(actor: &Actor) -> Answer {
    actor.get("/api/properties").await.expect(200)
}

async fn track(owner: &Actor, ids: &[impl AsRef<str>]) -> Answer {
    let ids: Vec<&str> = ids.iter().map(AsRef::as_ref).collect();
    owner.send_json(Method::PUT, "/api/properties/tracking", &json!({ "propertyIds": ids })).await
}

async fn mark(actor: &Actor, id: &str, mark: &str, on: bool) -> Answer {
    actor.send_json(Method::PUT, &format!("/api/properties/{id}/{mark}"), &json!({ mark: on })).await
}

#[tokio::test]
async fn one_property_is_its_entry_of_the_list() {
    for name in ["owner", "editor", "viewer"] {
        let actor = shared().actor(name).await;
        for days in ["7", "28"] {
            for entry in
                actor.ask("/api/properties", &[("days", days)]).await.expect(200).json["data"].as_array().unwrap()
            {
                let path = format!("/api/properties/{}", entry["id"].as_str().unwrap());
                let found = actor.ask(&path, &[("days", days)]).await.expect(200);
                assert_eq!(found.json["data"], *entry, "{name}");
                assert_eq!(found.json["meta"]["freshness"]["lastFinalDate"], entry["headline"]["window"]["endDate"]);
                let tag = found.header("etag");
                assert!(tag.starts_with('"'), "{tag} is strong");
                let known = [("if-none-match", tag)];
                actor.send(Method::GET, &format!("{path}?days={days}"), None, &known).await.expect(304);
            }
        }
    }
    let owner = shared().actor("owner").await;
    let refused =
        owner.ask(&format!("/api/properties/{}", owner.property("").await), &[("limit", "1")]).await.expect(400);
    assert!(refused.hint().starts_with("limit: not a parameter here"), "{}", refused.hint());
    owner.get(&format!("/api/properties/{}", untracked(&owner).await)).await.expect(404);
}

#[tokio::test]
async fn a_page_of_the_list_reads_the_headlines_of_its_properties_alone() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let before = app.simulator().controls().requests(Endpoint::Query);
    let page = owner.ask("/api/properties", &[("limit", "1")]).await.expect(200).json;
    let one = app.simulator().controls().requests(Endpoint::Query) - before;
    assert_eq!(page["data"].as_array().unwrap().len(), 1);
    owner.get("/api/properties").await.expect(200);
    let all = app.simulator().controls().requests(Endpoint::Query) - before;
    assert!(one > 0 && one * 2 < all, "{one} of {all} requests");
}

#[tokio::test]
async fn headlines_are_the_totals_of_the_same_days() {
    let owner = shared().actor("owner").await;
    for days in ["7", "28", "90"] {
        let listed = owner.ask("/api/properties", &[("days", days)]).await.expect(200);
        for property in listed.json["data"].as_array().unwrap() {
            let (headline, id) = (&property["headline"], property["id"].as_str().unwrap());
            let window = |name: &str| headline["window"][name].as_str().unwrap().to_owned();
            let (start, end) = (window("startDate"), window("endDate"));
            let first: chrono::NaiveDate = start.parse().unwrap();
            let before = (first - chrono::TimeDelta::days(days.parse().unwrap())).to_string();
            let eve = first.pred_opt().unwrap().to_string();
            let question =
                [("startDate", start.as_str()), ("endDate", &end), ("compareStart", &before), ("compareEnd", &eve)];
            let path = format!("/api/properties/{id}/performance");
            let totals = owner.ask(&path, &question).await.expect(200).json["data"]["totals"].clone();
            for name in ["clicks", "impressions", "ctr", "position"] {
                assert_eq!(headline["current"][name], totals[name], "{days} {name}");
                assert_eq!(headline["previous"][name], totals["previous"][name], "{days} {name}");
                assert_eq!(headline["change"][name], totals["change"][name], "{days} {name}");
            }
            assert!(totals["clicks"].as_u64().unwrap() > 0, "every tracked demo property has clicks");
        }
    }
}

#[tokio::test]
async fn a_search_finds_properties_by_name_and_by_tag() {
    let app = TestApp::start(|_| {}).await;
    let (owner, editor) = (app.actor("owner").await, app.actor("editor").await);
    let all = list(&owner).await;
    let northmoor = owner.property("northmoor").await;
    let other = ids(&all).into_iter().find(|id| *id != northmoor).unwrap();
    let tag = owner.post("/api/tags", &json!({ "name": "Küche & Bad" })).await.expect(201);
    let path = format!("/api/tags/{}/properties", tag.json["data"]["id"].as_str().unwrap());
    owner.send_json(Method::POST, &path, &json!({ "propertyIds": [other] })).await.expect(200);
    let found = async |who: &Actor, text: &str| ids(&who.ask("/api/properties", &[("search", text)]).await.expect(200));
    for text in ["northmoor", "NORTHMOOR.ex", "https://northmoor.example/", " northmoor "] {
        assert_eq!(found(&owner, text).await, std::slice::from_ref(&northmoor), "{text}");
    }
    assert_eq!(found(&owner, "küche").await, [other]);
    assert!(found(&editor, "küche").await.is_empty(), "tags are each person's own");
    assert!(found(&owner, "nothing-like-it").await.is_empty());
    assert!(found(&app.actor("stranger").await, "northmoor").await.is_empty());
    let refused = owner.ask("/api/properties", &[("search", &"x".repeat(201))]).await.expect(400);
    assert_eq!(refused.hint(), "search: must be 1 to 200 characters long");
}

#[tokio::test]
async fn each_person_lists_what_is_theirs_to_see() {
    let owner = list(&shared().actor("owner").await).await;
    assert!(column(&owner, "role").iter().all(|role| *role == "owner"));
    let names = column(&owner, "name");
    assert!(names.is_sorted() && names.len() >= 4, "{names:?}");
    for (person, role) in [("editor", "editor"), ("viewer", "viewer")] {
        let granted = list(&shared().actor(person).await).await;
        assert!(!ids(&granted).is_empty() && ids(&granted).iter().all(|id| ids(&owner).contains(id)));
        assert!(column(&granted, "role").iter().all(|found| *found == role));
        assert!(column(&granted, "access").iter().all(|access| *access == "ok"));
    }
    let stranger = list(&shared().actor("stranger").await).await;
    assert!(ids(&stranger).iter().all(|id| !ids(&owner).contains(id)));
    let lapsed = list(&shared().actor("lapsed").await).await;
    assert_eq!(column(&lapsed, "access"), ["subscription_required"]);
    assert!(lapsed.json["data"][0].get("headline").is_none());
    assert!(!lapsed.json["data"][0]["hint"].as_str().unwrap().is_empty());
}

#[tokio::test]
async fn marks_are_each_persons_own() {
    let app = TestApp::start(|_| {}).await;
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    let before = ids(&list(&owner).await);
    let viewers = ids(&list(&viewer).await);
    let last = before.last().unwrap();
    let marked = mark(&owner, last, "favorite", true).await.expect(200);
    assert_eq!(marked.json["data"], json!({ "id": last, "favorite": true, "hidden": false }));
    let marked = mark(&owner, last, "hidden", true).await.expect(200);
    assert_eq!(marked.json["data"], json!({ "id": last, "favorite": true, "hidden": true }));
    let after = list(&owner).await;
    assert_eq!(ids(&after)[0], *last, "favourites come first");
    assert_eq!(ids(&after)[1..], before[..before.len() - 1]);
    assert_eq!((&after.json["data"][0]["favorite"], &after.json["data"][0]["hidden"]), (&json!(true), &json!(true)));
    mark(&viewer, &viewers[0], "favorite", true).await.expect(200);
    assert_eq!(list(&owner).await.json["data"].as_array().unwrap().iter().filter(|p| p["favorite"] == true).count(), 1);
    mark(&owner, last, "favorite", false).await.expect(200);
    assert_eq!(ids(&list(&owner).await), before);
    // A hidden property can still be read.
    owner.get(&format!("/api/properties/{last}/performance")).await.expect(200);
}

#[tokio::test]
async fn the_tracked_selection_is_replaced_as_a_whole() {
    let app = TestApp::start(|config| config.plans.pro.tracked_properties = 4).await;
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    let tracked = ids(&list(&owner).await);
    let (spare, foreign) = (untracked(&owner).await, app.actor("stranger").await.property("quietmeadow").await);
    let everything: Vec<&String> = tracked.iter().chain([&spare]).collect();
    let answer = track(&owner, &everything).await.expect(402);
    assert_eq!(answer.code(), "property_quota_exceeded");
    assert!(answer.hint().contains('4') && answer.hint().contains('5'), "{}", answer.hint());
    for stray in [foreign.as_str(), NOBODYS] {
        assert_eq!(track(&owner, &[spare.as_str(), stray]).await.expect(404).code(), "not_found");
    }
    assert_eq!(ids(&list(&owner).await), tracked, "a refused selection changes nothing");

    let shared_with_viewer = ids(&list(&viewer).await)[0].clone();
    let rest: Vec<&String> = tracked.iter().filter(|id| **id != shared_with_viewer).collect();
    let answer = track(&owner, &rest).await.expect(200);
    assert_eq!((answer.json["data"]["used"].as_u64(), answer.json["data"]["quota"].as_u64()), (Some(3), Some(4)));
    for actor in [&owner, &viewer] {
        assert!(!ids(&list(actor).await).contains(&shared_with_viewer));
        actor.get(&format!("/api/properties/{shared_with_viewer}/performance")).await.expect(404);
        mark(actor, &shared_with_viewer, "favorite", true).await.expect(404);
    }
    assert_eq!(owner.get("/api/properties/tracking").await.expect(200).json, answer.json);
    track(&owner, &[] as &[&str]).await.expect(200);
    assert_eq!(list(&owner).await.json["data"], json!([]));
    track(&owner, &tracked).await.expect(200);
    assert_eq!(ids(&list(&owner).await), tracked);
    viewer.get(&format!("/api/properties/{shared_with_viewer}/performance")).await.expect(200);
    // Without a connected account there is nothing to track.
    let none = viewer.get("/api/properties/tracking").await.expect(200).json;
    assert_eq!((&none["data"]["used"], &none["data"]["properties"]), (&json!(0), &json!([])));
    track(&viewer, &[shared_with_viewer]).await.expect(403);
}

#[tokio::test]
async fn the_second_of_two_changes_to_a_selection_gets_412() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let tracked = ids(&list(&owner).await);
    let read = owner.get("/api/properties/tracking").await.expect(200);
    let tag = read.header("etag").to_owned();
    assert_eq!(read.json["data"]["etag"], tag);
    let put = async |tag: &str, ids: &[String]| {
        let headers = [("content-type", "application/json"), ("if-match", tag)];
        let body = json!({ "propertyIds": ids }).to_string();
        owner.send(Method::PUT, "/api/properties/tracking", Some(body), &headers).await
    };
    let first = put(&tag, &tracked[1..]).await.expect(200);
    assert_ne!(first.header("etag"), tag);
    assert_eq!(put(&tag, &[]).await.expect(412).code(), "precondition_failed");
    assert_eq!(owner.get("/api/properties/tracking").await.expect(200).json, first.json);
    put(first.header("etag"), &tracked).await.expect(200);
    assert_eq!(ids(&list(&owner).await), tracked);
}

fn counts(answer: &Answer) -> [u64; 3] {
    ["added", "updated", "lost"].map(|name| answer.json["data"][name].as_u64().unwrap())
}

#[tokio::test]
async fn a_sync_follows_the_account_and_changes_nothing_twice() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let sync = async || owner.send(Method::POST, "/api/properties/sync", None, &[]).await.expect(200);
    let first = sync().await;
    assert_eq!(counts(&first), [0, 0, 0]);
    let sites: Vec<&str> =
        first.json["data"]["properties"].as_array().unwrap().iter().map(|p| p["siteUrl"].as_str().unwrap()).collect();
    assert!(sites.len() == 5 && !sites.contains(&"https://legacy.northmoor.example/"), "{sites:?}");

    // A site that is no longer in the account.
    let id = owner.property("northmoor").await;
    let rename = |from: &str, to: &str| format!("UPDATE property SET site_url = '{to}' WHERE site_url = '{from}'");
    let run = async |sql: String| app.service.db.execute_unprepared(&sql).await.unwrap();
    run(rename("sc-domain:northmoor.example", "sc-domain:sold.example")).await;
    assert_eq!(counts(&sync().await), [1, 0, 1]);
    let again = sync().await;
    assert_eq!(counts(&again), [0, 0, 0]);
    let lost = again.json["data"]["properties"].as_array().unwrap().iter().find(|p| p["id"] == *id).unwrap().clone();
    assert_eq!((&lost["siteUrl"], &lost["tracked"]), (&json!("sc-domain:sold.example"), &json!(true)));
    assert!(lost["lostAt"].is_string());
    let listed = list(&owner).await;
    let entry: &Value = listed.json["data"].as_array().unwrap().iter().find(|p| p["id"] == *id).unwrap();
    assert_eq!((&entry["access"], entry.get("headline")), (&json!("lost"), None));
    assert!(!entry["hint"].as_str().unwrap().is_empty());

    run("DELETE FROM property WHERE site_url = 'sc-domain:northmoor.example'".into()).await;
    run(rename("sc-domain:sold.example", "sc-domain:northmoor.example")).await;
    let back = sync().await;
    assert_eq!(counts(&back), [0, 1, 0]);
    assert!(back.json["data"]["properties"].as_array().unwrap().iter().all(|p| p.get("lostAt").is_none()));
    assert_eq!(owner.property("northmoor").await, id);
    let viewer = app.actor("viewer").await;
    let answer = viewer.send(Method::POST, "/api/properties/sync", None, &[]).await.expect(409);
    assert_eq!(answer.code(), "search_account_disconnected");
}

#[tokio::test]
async fn trouble_upstream_never_fails_the_list() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let cached = list(&owner).await;
    assert!(column(&cached, "access").iter().all(|access| *access == "ok"));
    let faults = [(FaultKind::Quota403, "32", "search_engine_unavailable"), (FaultKind::Permission403, "33", "lost")];
    for (kind, days, state) in faults {
        app.simulator().controls().set_faults(vec![Fault { kind, rate: 1.0 }]);
        let listed = owner.ask("/api/properties", &[("days", days)]).await.expect(200);
        assert_eq!(ids(&listed), ids(&cached));
        for entry in listed.json["data"].as_array().unwrap() {
            assert_eq!((&entry["access"], entry.get("headline")), (&json!(state), None), "{entry}");
        }
    }
    app.simulator().controls().reset();
    assert!(column(&list(&owner).await, "access").iter().all(|access| *access == "ok"), "what is cached is served");
    let unread = async || owner.ask("/api/properties", &[("days", "34")]).await.expect(200);
    assert!(column(&unread().await, "access").iter().all(|access| *access == "lost"), "a refusal holds for a minute");
    let found = owner.send(Method::POST, "/api/properties/sync", None, &[]).await.expect(200);
    assert_eq!(counts(&found), [0, 0, 0]);
    assert!(column(&unread().await, "access").iter().all(|access| *access == "ok"), "or until a sync");
}

#[tokio::test]
async fn days_before_what_the_search_engine_keeps_are_not_compared_with() {
    let stranger = shared().actor("stranger").await;
    for (days, compared) in [("28", true), ("240", true), ("244", false), ("480", false)] {
        let listed = stranger.ask("/api/properties", &[("days", days)]).await.expect(200);
        for property in listed.json["data"].as_array().unwrap() {
            let headline = &property["headline"];
            assert!(headline["current"]["clicks"].as_u64().unwrap() > 0, "{days}");
            assert_eq!(headline.get("previous").is_some(), compared, "{days}: {headline}");
            assert_eq!(headline.get("change").is_some(), compared, "{days}: {headline}");
            let reason = headline["previousReason"].as_str().unwrap_or_default();
            assert_eq!(reason.is_empty(), compared, "{days}: {headline}");
            if days == "244" {
                assert_eq!(
                    reason,
                    "The days before begin on 2025-07-19, and the search engine has data since 2025-07-21."
                );
            }
        }
    }
}

#[tokio::test]
async fn the_list_says_how_fresh_it_is() {
    let listed = list(&shared().actor("owner").await).await;
    let expected = json!({
        "lastFinalDate": "2026-11-18", "firstIncompleteDate": "2026-11-19", "timeZone": "America/Los_Angeles",
    });
    assert_eq!(listed.json["meta"]["freshness"], expected);
    let nothing = list(&shared().actor("lapsed").await).await;
    let progress = json!({ "read": 0, "stillReading": 0, "refused": 0, "locked": 1, "disconnected": 0 });
    let meta = json!({ "total": 1, "hasMore": false, "progress": progress });
    assert_eq!(nothing.json["meta"], meta, "no headline was read");
}

/// Far below the 25 seconds that a question waits for the search engine, and far above the three that the list takes.
const SOON: Duration = Duration::from_secs(15);

#[tokio::test]
async fn lists_do_not_wait_for_an_unavailable_search_engine() {
    // Nobody knows yet what a slow search engine will answer.
    for (fault, access, advice) in
        [("slow:1", "still_reading", "ask again"), ("error500:1", "search_engine_unavailable", "Try again in")]
    {
        let app = TestApp::start(impatient).await;
        let owner = app.actor("owner").await;
        let well = list(&owner).await;
        app.simulator().controls().set_faults(vec![fault.parse().unwrap()]);
        // No reading of these days is cached.
        app.hand.advance(TimeDelta::hours(7));
        let owner = app.actor("owner").await;
        let began = Instant::now();
        let listed = list(&owner).await;
        let health = owner.listed("/api/accounts/health").await;
        assert!(began.elapsed() < SOON, "{fault}: {:?}", began.elapsed());
        assert_eq!((ids(&listed), column(&listed, "name")), (ids(&well), column(&well, "name")), "{fault}");
        for (entry, before) in listed.json["data"].as_array().unwrap().iter().zip(well.json["data"].as_array().unwrap())
        {
            assert_eq!((&entry["access"], entry.get("headline")), (&json!(access), None), "{entry}");
            assert!(entry["hint"].as_str().unwrap().contains(advice), "{entry}");
            assert_eq!(entry["tagIds"], before["tagIds"]);
        }
        assert_eq!(health[0]["status"], "unreachable", "{fault}");
        assert!(health[0]["hint"].as_str().unwrap().contains("Try again in"), "{}", health[0]);
        app.simulator().controls().reset();
        app.hand.advance(TimeDelta::minutes(20));
        let owner = app.actor("owner").await;
        assert_eq!(owner.listed("/api/accounts/health").await[0]["status"], "connected");
        // Requests of before may still be under way, and the list waits for them no longer than for others.
        while column(&list(&owner).await, "access").iter().any(|access| *access != "ok") {}
    }
}

#[tokio::test]
async fn a_list_says_when_the_services_own_quota_lets_it_read_on() {
    let app = TestApp::start(|config| config.search_engine.quota.per_day = 6).await;
    let listed = list(&app.actor("owner").await).await;
    let states = column(&listed, "access");
    assert!(states.contains(&"still_reading"), "{states:?}");
    for entry in listed.json["data"].as_array().unwrap().iter().filter(|entry| entry["access"] == "still_reading") {
        let hint = entry["hint"].as_str().unwrap();
        assert!(hint.starts_with("This service has used up its quota"), "{hint}");
    }
}
