//! Keyword research beside the property's own performance.

use std::collections::HashMap;

use futures_util::future::join_all;
use serde_json::{Value, json};
use simulator::{Endpoint, ProviderA, ProviderB};

use super::{A, beside_providers, connect_both, login, millionths, paid_requests};
use crate::support::app::TestApp;

fn rows(json: &Value) -> &Vec<Value> {
    json["data"]["rows"].as_array().unwrap()
}

#[tokio::test]
async fn the_own_top_queries_come_with_the_figures_of_either_provider() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    connect_both(&owner).await;
    let property = owner.property("northmoor").await;
    let path = format!("/api/properties/{property}/keyword-research");
    let filters = r#"[{"dimension":"country","operator":"equals","value":"gbr"}]"#;
    let own = owner
        .ask(
            &format!("/api/properties/{property}/performance"),
            &[("scope", "tables"), ("queryLimit", "40"), ("filters", filters)],
        )
        .await
        .expect(200)
        .json;
    let own: HashMap<&str, &Value> = own["data"]["tables"]["queries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["key"].as_str().unwrap(), row))
        .collect();
    for (provider, code, unit) in [("a", "2826", "usd"), ("b", "gb", "units")] {
        let query = [("provider", provider), ("country", "GBR"), ("limit", "40"), ("trend", "true")];
        let found = owner.ask(&path, &query).await.expect(200).json;
        let (data, meta) = (&found["data"], &found["meta"]);
        assert_eq!(
            (&data["country"], &data["locationCode"], &data["difficultyScale"]),
            (&json!("gbr"), &json!(code), &json!("0-100"))
        );
        assert_eq!(data["language"].as_str(), (provider == "a").then_some("en"));
        assert_eq!(
            (&meta["provider"], &meta["cost"]["unit"], &meta["balance"]["unit"]),
            (&json!(provider), &json!(unit), &json!(unit))
        );
        assert_eq!(rows(&found).len(), 40);
        let mut volumes = Vec::new();
        for row in rows(&found) {
            let truth = own[row["keyword"].as_str().unwrap()];
            for metric in ["clicks", "impressions", "position"] {
                assert_eq!(row["performance"][metric], truth[metric], "{row}");
            }
            let volume = row["volume"].as_u64().unwrap();
            assert!(volume > 0 && row["trend"].as_array().unwrap().len() == 12, "{row}");
            assert_eq!(row["competition"].is_number(), provider == "a" && row["cpcUsd"].is_number());
            volumes.push(volume);
        }
        assert!(volumes.is_sorted_by(|a, b| a >= b));
    }
}

#[tokio::test]
async fn without_a_country_the_property_s_largest_one_is_asked_about() {
    let app = TestApp::start(|_| {}).await;
    for (person, site, home) in [("stranger", "quietmeadow", "aus"), ("owner", "northmoor", "usa")] {
        let actor = app.actor(person).await;
        connect_both(&actor).await;
        let property = actor.property(site).await;
        let countries = actor.get(&format!("/api/properties/{property}/countries?limit=1")).await.expect(200).json;
        let path = format!("/api/properties/{property}/keyword-research");
        for provider in ["a", "b"] {
            let query = [("provider", provider), ("limit", "5")];
            let found = actor.ask(&path, &query).await.expect(200).json;
            assert_eq!((&found["data"]["country"], &countries["data"][0]["key"]), (&json!(home), &json!(home)));
            assert_eq!(found["meta"]["countryFrom"], "largest_of_property");
            let asked = [&query[..], &[("country", home)]].concat();
            let asked = actor.ask(&path, &asked).await.expect(200).json;
            assert_eq!((&asked["data"], &asked["meta"]["countryFrom"]), (&found["data"], &json!("parameter")));
            assert_eq!(millionths(&asked["meta"]["cost"]["amount"]), 0, "it is the same question");
        }
    }
}

#[tokio::test]
async fn an_answer_is_paid_for_once_and_says_what_it_cost_and_what_is_left() {
    let (app, providers) = beside_providers().await;
    let owner = app.actor("owner").await;
    connect_both(&owner).await;
    let path = format!("/api/properties/{}/keyword-research", owner.property("northmoor").await);
    for (provider, account, started, scale) in
        [("a", "good@demo.test", 50_000_000, 1), ("b", "good-key", 1_000_000_000_000, 1_000_000)]
    {
        let before = paid_requests(&providers);
        let query = [("provider", provider), ("keywords", "rain jacket"), ("limit", "20")];
        let answers = join_all((0..5).map(|_| owner.ask(&path, &query))).await;
        let answers: Vec<Value> = answers.into_iter().map(|answer| answer.expect(200).json).collect();
        assert_eq!(paid_requests(&providers) - before, 1, "asked once");
        let costs: Vec<i64> = answers.iter().map(|json| millionths(&json["meta"]["cost"]["amount"])).collect();
        let spent = i64::try_from(providers.controls().spent(account)).unwrap() * scale;
        assert!(spent > 0);
        assert_eq!(
            (costs.iter().sum::<i64>(), costs.iter().filter(|cost| **cost > 0).count()),
            (spent, 1),
            "{costs:?}"
        );
        let later = owner.ask(&path, &query).await.expect(200).json;
        assert_eq!((&later["data"], millionths(&later["meta"]["cost"]["amount"])), (&answers[0]["data"], 0));
        assert_eq!(millionths(&later["meta"]["balance"]["amount"]), started - spent);
        let stored = owner.get(&format!("/api/integrations/provider-{provider}")).await.json;
        assert_eq!(stored["data"]["balance"], later["meta"]["balance"]);
        assert_eq!(later["meta"]["cachedAt"], answers[0]["meta"]["cachedAt"]);
    }
}

#[tokio::test]
async fn seeds_bring_ideas_that_contain_them() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    connect_both(&owner).await;
    let path = format!("/api/properties/{}/keyword-research", owner.property("northmoor").await);
    for provider in ["a", "b"] {
        let query = [("provider", provider), ("keywords", "Rain Jacket, tent"), ("limit", "30")];
        let found = owner.ask(&path, &query).await.expect(200).json;
        assert_eq!(found["data"]["keywords"], json!(["Rain Jacket", "tent"]));
        let rows = rows(&found);
        assert!(rows.len() > 5 && rows.len() <= 30, "{}", rows.len());
        for row in rows {
            let keyword = row["keyword"].as_str().unwrap();
            let has = |words: &str| words.split(' ').all(|word| keyword.split(' ').any(|part| part == word));
            assert!(has("rain jacket") || has("tent"), "{keyword}");
        }
        assert!(rows.iter().any(|row| row.get("performance").is_some()), "the property ranks for some of them");
    }
    for provider in ["a", "b"] {
        let query = [("provider", provider), ("keywords", "tent,rain jacket"), ("limit", "30")];
        let again = owner.ask(&path, &query).await.expect(200).json;
        assert_eq!(millionths(&again["meta"]["cost"]["amount"]), 0, "the order of seeds is not paid for");
    }
    let controls = app.simulator().controls();
    assert_eq!(controls.requests(Endpoint::ProviderA(ProviderA::KeywordSuggestions)), 2);
    assert_eq!(controls.requests(Endpoint::ProviderB(ProviderB::MatchingTerms)), 1);
    let nothing = owner.ask(&path, &[("provider", "a"), ("keywords", "qzxv")]).await.expect(200).json;
    assert_eq!((rows_of(&nothing), &nothing["data"]["rowsMatched"]), (0, &Value::Null), "{nothing}");
}

fn rows_of(json: &Value) -> usize {
    rows(json).len()
}

#[tokio::test]
async fn every_caller_asks_with_their_own_credentials() {
    let app = TestApp::start(|config| config.plans.free.seo_providers = true).await;
    let (owner, viewer) = (app.actor("owner").await, app.actor("viewer").await);
    let property = viewer.property("").await;
    let path = format!("/api/properties/{property}/keyword-research?keywords=tent&limit=5");
    login(&owner, "good@demo.test").await.expect(200);
    let first = owner.get(&path).await.expect(200).json;
    assert_eq!(viewer.get(&path).await.expect(409).code(), "provider_not_connected");
    login(&viewer, "good@demo.test").await.expect(200);
    let theirs = viewer.get(&path).await.expect(200).json;
    assert!(millionths(&first["meta"]["cost"]["amount"]) > 0 && millionths(&theirs["meta"]["cost"]["amount"]) > 0);
    viewer.delete(A).await.expect(204);
    assert_eq!(viewer.get(&path).await.expect(409).code(), "provider_not_connected", "also if it was answered before");
    let missing = owner.get(&format!("{path}&provider=b")).await.expect(409);
    assert_eq!(missing.code(), "provider_not_connected");
}

#[tokio::test]
async fn head_is_not_allowed_and_costs_nothing() {
    let (app, providers) = beside_providers().await;
    let owner = app.actor("owner").await;
    connect_both(&owner).await;
    let property = owner.property("northmoor").await;
    for part in ["keyword-research?keywords=tent", "backlinks"] {
        let path = format!("/api/properties/{property}/{part}");
        let refused = owner.head(&path).await;
        assert_eq!((refused.status().as_u16(), refused.headers()["allow"].to_str().unwrap()), (405, "GET, OPTIONS"));
    }
    assert_eq!(paid_requests(&providers), 0);
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_and_costs_nothing() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    connect_both(&owner).await;
    let property = owner.property("northmoor").await;
    let cases = [
        ("keyword-research", "provider", "c", "provider"),
        ("keyword-research", "country", "us", "country"),
        ("keyword-research", "country", "xyz", "country"),
        ("keyword-research", "country", "zzz", "country"),
        ("keyword-research", "language", "english", "language"),
        ("keyword-research", "limit", "701", "limit"),
        ("keyword-research", "keywords", " , ", "keywords"),
        ("keyword-research", "keywords", "a,b,c,d,e,f", "keywords"),
        ("keyword-research", "trend", "yes", "trend"),
        ("backlinks", "status", "dead", "status"),
        ("backlinks", "scope", "all", "scope"),
        ("backlinks", "limit", "1001", "limit"),
        ("backlinks", "offset", "20001", "offset"),
    ];
    for (operation, name, value, field) in cases {
        let refused = owner.ask(&format!("/api/properties/{property}/{operation}"), &[(name, value)]).await.expect(400);
        assert!(refused.hint().starts_with(&format!("{field}: ")), "{name}={value}: {}", refused.hint());
    }
    let path = format!("/api/properties/{property}/keyword-research");
    let refused = owner.ask(&path, &[("keywords", "a\0b")]).await.expect(400);
    assert!(refused.hint().starts_with("keywords: ") && refused.hint().contains("NUL"), "{}", refused.hint());
    let unknown = [("provider", "a"), ("keywords", "tent"), ("language", "xx")];
    let refused = owner.ask(&format!("/api/properties/{property}/keyword-research"), &unknown).await.expect(400);
    assert!(refused.hint().starts_with("language: "), "{}", refused.hint());
    let unknown = [("provider", "a"), ("keywords", "tent"), ("country", "ata")];
    let refused = owner.ask(&format!("/api/properties/{property}/keyword-research"), &unknown).await.expect(400);
    assert!(refused.hint().starts_with("country: "), "{}", refused.hint());
    for account in ["good@demo.test", "good-key"] {
        assert_eq!(app.simulator().controls().spent(account), 0);
    }
}
