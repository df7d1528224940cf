//! Backlinks of a property's site.

use serde_json::{Value, json};

use super::{beside_providers, connect_both, millionths, paid_requests};
use crate::support::app::TestApp;

fn list<'a>(json: &'a Value, part: &str) -> &'a Vec<Value> {
    json["data"][part]["rows"].as_array().unwrap()
}

#[tokio::test]
async fn a_summary_links_and_domains_stand_beside_each_other() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    connect_both(&owner).await;
    let path = format!("/api/properties/{}/backlinks", owner.property("northmoor").await);
    for (provider, scale, highest) in [("a", "0-1000", 1000.0), ("b", "0-100", 100.0)] {
        let found = owner.ask(&path, &[("provider", provider), ("limit", "50")]).await.expect(200).json;
        let data = &found["data"];
        assert_eq!((&data["target"], &data["includesSubdomains"]), (&json!("northmoor.example"), &json!(true)));
        assert_eq!(data["rankScale"], scale);
        let rank = data["summary"]["rank"].as_f64().unwrap();
        assert!(rank > 0.0 && rank <= highest);
        assert!(data["summary"]["backlinks"].as_u64().unwrap() > data["summary"]["referringDomains"].as_u64().unwrap());
        let ranks = |part: &str, name: &str| -> Vec<f64> {
            list(&found, part).iter().map(|row| row[name].as_f64().unwrap()).collect()
        };
        for ranks in [ranks("links", "sourceRank"), ranks("domains", "rank")] {
            assert!(ranks.len() == 50 && ranks.is_sorted_by(|a, b| a >= b) && ranks[0] <= highest, "{ranks:?}");
        }
        for row in list(&found, "links") {
            assert_eq!(row["lost"], false);
            assert!(row["firstSeen"].as_str() <= row["lastSeen"].as_str(), "{row}");
            let to = row["urlTo"].as_str().unwrap().split('/').nth(2).unwrap();
            assert!(to == "northmoor.example" || to.ends_with(".northmoor.example"), "{to}");
        }
    }
}

#[tokio::test]
async fn new_lost_and_all_links_can_be_listed() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    connect_both(&owner).await;
    let path = format!("/api/properties/{}/backlinks", owner.property("northmoor").await);
    for provider in ["a", "b"] {
        let mut totals = Vec::new();
        for status in ["live", "new", "lost", "all"] {
            let query = [("provider", provider), ("status", status), ("limit", "1000"), ("scope", "links")];
            let found = owner.ask(&path, &query).await.expect(200).json;
            let rows = list(&found, "links");
            assert!(!rows.is_empty(), "{provider} {status}");
            assert!(status != "new" || rows.iter().all(|row| row["isNew"] == true));
            assert!(["lost", "all"].contains(&status) || rows.iter().all(|row| row["lost"] == false));
            assert!(status != "lost" || rows.iter().all(|row| row["lost"] == true));
            let links = &found["data"]["links"];
            totals.push(links["rowsMatched"].as_u64().unwrap_or(1_000));
            assert!(
                links["hasMore"].as_bool().is_none_or(|more| more == (links["rowsMatched"].as_u64() > Some(1_000)))
            );
            let query = [("provider", provider), ("status", status), ("limit", "50"), ("scope", "domains")];
            let found = owner.ask(&path, &query).await.expect(200).json;
            let domains = list(&found, "domains");
            assert!(!domains.is_empty(), "{provider} {status}");
            let gone = |row: &&Value| row["lostAt"].is_string();
            let expected = match status {
                "lost" => domains.len(),
                "live" => 0,
                _ => domains.iter().filter(gone).count(),
            };
            assert_eq!(domains.iter().filter(gone).count(), expected, "{provider} {status}");
        }
        assert!(totals[1] < totals[0] && totals[0] <= totals[3], "{totals:?}");
        assert!(provider == "b" || totals[0] + totals[2] == totals[3], "{totals:?}");
    }
}

#[tokio::test]
async fn pages_follow_each_other_and_a_part_costs_less_than_all() {
    let (app, providers) = beside_providers().await;
    let owner = app.actor("owner").await;
    connect_both(&owner).await;
    let path = format!("/api/properties/{}/backlinks", owner.property("northmoor").await);
    for provider in ["a", "b"] {
        let page = async |offset: &str, limit: &str| {
            let query = [("provider", provider), ("scope", "links"), ("offset", offset), ("limit", limit)];
            owner.ask(&path, &query).await.expect(200).json
        };
        let (whole, first, second) = (page("0", "20").await, page("0", "10").await, page("10", "10").await);
        let joined = [list(&first, "links").as_slice(), list(&second, "links")].concat();
        assert_eq!(&joined, list(&whole, "links"));
        assert!(whole["data"].get("summary").is_none() && whole["data"].get("domains").is_none());
        let part = millionths(&whole["meta"]["cost"]["amount"]);
        let all = owner.ask(&path, &[("provider", provider), ("limit", "20")]).await.expect(200).json;
        let more = millionths(&all["meta"]["cost"]["amount"]);
        assert!(part > 0 && more > 0 && list(&all, "links") == list(&whole, "links"));
    }
    let asked = paid_requests(&providers);
    for scope in [&[("scope", "links")][..], &[]] {
        let query = [&[("provider", "b"), ("offset", "950"), ("limit", "100")][..], scope].concat();
        let deep = owner.ask(&path, &query).await.expect(400);
        assert!(deep.hint().starts_with("offset: ") && deep.hint().contains("1000"), "{}", deep.hint());
    }
    assert_eq!(paid_requests(&providers), asked, "the summary is not paid for either");
}

#[tokio::test]
async fn the_host_of_a_url_prefix_is_asked_about_alone() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    connect_both(&owner).await;
    let properties = owner.listed("/api/properties").await;
    let prefix = properties.iter().find(|property| property["siteUrl"].as_str().unwrap().starts_with("http")).unwrap();
    let host = prefix["siteUrl"].as_str().unwrap().split('/').nth(2).unwrap();
    let path = format!("/api/properties/{}/backlinks", prefix["id"].as_str().unwrap());
    for provider in ["a", "b"] {
        let found = owner.ask(&path, &[("provider", provider), ("limit", "20")]).await.expect(200).json;
        assert_eq!((&found["data"]["target"], &found["data"]["includesSubdomains"]), (&json!(host), &json!(false)));
        let bare = |name: &str| name.trim_start_matches("www.").to_owned();
        for row in list(&found, "links") {
            assert_eq!(bare(row["urlTo"].as_str().unwrap().split('/').nth(2).unwrap()), bare(host));
        }
    }
}
