//! Tests of the parts that both simulated providers share: the market, the links, faults, counts.

use std::time::Duration;

use chrono::NaiveDate;
use serde_json::{Value, json};

use super::{RETAIL, Server, WORLD, date, read, today, whole};
use crate::providers::{ProviderA, ProviderB};
use crate::world::SearchType;
use crate::{Endpoint, Settings};

impl Server {
    /// Sends tasks to provider A.
    pub async fn tasks(&self, call: ProviderA, login: &str, tasks: &Value) -> (u16, Value) {
        let url = self.url(&format!("/provider-a/{}", call.path()));
        let request =
            if call == ProviderA::UserData { self.client.get(url) } else { self.client.post(url).json(tasks) };
        read(request.basic_auth(login, Some("demo")).send().await.unwrap()).await
    }

    /// The result of one task of the good account.
    pub async fn result(&self, call: ProviderA, task: Value) -> Value {
        let (status, answer) = self.tasks(call, "good@demo.test", &json!([task])).await;
        assert_eq!((status, &answer["status_code"]), (200, &json!(20000)), "{answer}");
        let task = answer["tasks"][0].clone();
        assert_eq!(task["status_code"], 20000, "{task}");
        task["result"].clone()
    }

    /// Asks provider B.
    pub async fn ask_b(&self, call: ProviderB, key: &str, query: &[(&str, &str)]) -> (u16, Value) {
        let url = self.url(&format!("/provider-b/{}", call.path()));
        read(self.client.get(url).query(query).bearer_auth(key).send().await.unwrap()).await
    }

    /// The answer of provider B to the good key.
    pub async fn good_b(&self, call: ProviderB, query: &[(&str, &str)]) -> Value {
        let (status, answer) = self.ask_b(call, "good-key", query).await;
        assert_eq!(status, 200, "{answer}");
        answer
    }
}

#[expect(clippy::needless_pass_by_value, reason = "callers write the value in place")]
pub(super) fn here(more: Value) -> Value {
    let mut task = json!({ "location_code": 2840, "language_code": "en" });
    task.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    task
}

/// A server at noon of a fixed day.
pub(super) async fn fixed() -> Server {
    Server::with(Settings { today: Some(today()), ..Settings::default() }).await
}

/// The query with most impressions of the shop in one month, and those impressions by country.
fn top_query(first: NaiveDate) -> (String, u64) {
    let site = WORLD.site(RETAIL).unwrap();
    let mut seen: std::collections::HashMap<String, u64> = std::collections::HashMap::new();
    for day in first.iter_days().take(31) {
        for cell in site.cells(SearchType::Web, day).filter(|cell| !cell.anonymised && cell.country == "usa") {
            *seen.entry(cell.query.to_string()).or_default() += cell.impressions;
        }
    }
    seen.into_iter().max_by_key(|(_, impressions)| *impressions).unwrap()
}

#[tokio::test]
async fn nothing_is_searched_for_less_often_than_a_site_is_seen() {
    let server = fixed().await;
    let (query, impressions) = top_query(date("2026-10-01"));
    assert!(impressions > 1_000, "{query} {impressions}");
    let result = server.result(ProviderA::KeywordOverview, here(json!({ "keywords": [query] }))).await;
    let months = &result[0]["items"][0]["keyword_info"]["monthly_searches"];
    assert_eq!((&months[0]["year"], &months[0]["month"]), (&json!(2026), &json!(10)));
    let volume = months[0]["search_volume"].as_u64().unwrap();
    assert!((impressions..impressions * 4).contains(&volume), "{query}: {volume} for {impressions}");
    let asked = [("keyword", query.as_str()), ("country", "us"), ("date_from", "2026-10-01")];
    let history = server.good_b(ProviderB::VolumeHistory, &asked).await;
    let point = &history["metrics"][0];
    assert_eq!(point["date"], "2026-10-01");
    assert!((impressions..impressions * 4).contains(&point["volume"].as_u64().unwrap()), "{history}");
}

#[tokio::test]
async fn both_providers_describe_one_market() {
    let server = fixed().await;
    let keywords = ["hiking boots", "rain jacket", "tent", "backpack", "qzxv"];
    let found = server.result(ProviderA::KeywordOverview, here(json!({ "keywords": keywords }))).await;
    let select = "keyword,volume,difficulty,cpc,intents";
    let asked = [("keywords", &*keywords.join(",")), ("country", "us"), ("select", select)];
    let rows = server.good_b(ProviderB::KeywordOverview, &asked).await["keywords"].clone();
    let items = found[0]["items"].as_array().unwrap();
    assert_eq!(items.len(), 4, "A leaves out what it does not know");
    let unknown = json!({ "keyword": "qzxv", "volume": null, "difficulty": null, "cpc": null, "intents": null });
    assert_eq!(rows[4], unknown, "B says nothing about it");
    let mut priced = 0;
    for (a, b) in items.iter().zip(rows.as_array().unwrap()) {
        assert_eq!((&a["keyword"], &a["keyword_properties"]["keyword_difficulty"]), (&b["keyword"], &b["difficulty"]));
        let volumes = [&a["keyword_info"]["search_volume"], &b["volume"]].map(|volume| volume.as_f64().unwrap());
        assert!((volumes[0] / volumes[1] - 1.0).abs() < 0.4, "{volumes:?}");
        if let (Some(dollars), Some(cents)) = (a["keyword_info"]["cpc"].as_f64(), b["cpc"].as_f64()) {
            assert!((dollars * 100.0 - cents).abs() < 1e-9, "A sells dollars, B cents");
            priced += 1;
        }
    }
    assert!(priced > 0);
}

#[tokio::test]
async fn sites_have_links_in_proportion_and_strangers_have_few() {
    let server = fixed().await;
    let mut domains = Vec::new();
    for target in ["northmoor.example", "ledgerline.example", "tinyfern.test"] {
        let summary = server.result(ProviderA::BacklinksSummary, json!({ "target": target })).await;
        domains.push(summary[0]["referring_domains"].as_u64().unwrap());
        let asked = [("target", target), ("date", "2026-11-20")];
        let stats = server.good_b(ProviderB::BacklinksStats, &asked).await;
        let (live, all) = (&stats["metrics"]["live"], &stats["metrics"]["all_time"]);
        assert!(live.as_u64() < all.as_u64() && live.as_u64() < summary[0]["backlinks"].as_u64(), "{stats}");
    }
    assert!(domains[0] > domains[1] && domains[1] > domains[2] && domains[2] > 3, "{domains:?}");
    for number in 0..6 {
        let target = format!("stranger-{number}.example");
        let list = server.result(ProviderA::ReferringDomains, json!({ "target": target })).await;
        assert!(list[0]["total_count"].as_u64().unwrap() < 12, "{list}");
        assert_eq!(list[0]["items"].is_null(), list[0]["items_count"] == 0);
    }
}

#[tokio::test]
async fn counts_of_links_follow_from_each_other() {
    let server = fixed().await;
    let target = json!({ "target": "ledgerline.example" });
    let summary = server.result(ProviderA::BacklinksSummary, target.clone()).await;
    let links = server.result(ProviderA::Backlinks, target.clone()).await;
    let domains = server.result(ProviderA::ReferringDomains, target.clone()).await;
    assert_eq!(summary[0]["backlinks"], links[0]["total_count"]);
    assert_eq!(summary[0]["referring_domains"], domains[0]["total_count"]);
    let history = server.result(ProviderA::BacklinksHistory, target).await;
    let months = history[0]["items"].as_array().unwrap();
    assert_eq!(months.len(), 13);
    for pair in months.windows(2) {
        let number = |item: &Value, name: &str| item[name].as_i64().unwrap();
        let change = number(&pair[1], "new_backlinks") - number(&pair[1], "lost_backlinks");
        assert_eq!(number(&pair[1], "backlinks") - number(&pair[0], "backlinks"), change);
    }
}

#[tokio::test]
async fn the_same_seed_and_day_give_the_same_bytes() {
    let servers = [fixed().await, fixed().await];
    let mut texts = Vec::new();
    for server in &servers {
        let mut all = String::new();
        let task = here(json!({ "keyword": "rain jacket", "limit": 7 }));
        let sent = server.client.post(server.url(&format!("/provider-a/{}", ProviderA::KeywordSuggestions.path())));
        let sent = sent.basic_auth("good@demo.test", Some("demo")).json(&json!([task])).send().await.unwrap();
        all.push_str(&whole(sent).await.unwrap());
        let asked = [("target", "northmoor.example"), ("select", "url_from,url_to,first_seen_link"), ("limit", "5")];
        all.push_str(&server.good_b(ProviderB::AllBacklinks, &asked).await.to_string());
        texts.push(all);
    }
    assert_eq!(texts[0], texts[1]);
    let other = Server::with(Settings { today: Some(today()), seed: 8, ..Settings::default() }).await;
    let task = here(json!({ "keyword": "rain jacket", "limit": 7 }));
    let answer = other.tasks(ProviderA::KeywordSuggestions, "good@demo.test", &json!([task])).await.1;
    assert!(!texts[0].contains(answer["tasks"][0]["id"].as_str().unwrap()));
}

#[tokio::test]
async fn faults_strike_both_providers() {
    let server = fixed().await;
    let (overview, task) = (ProviderA::KeywordOverview, json!([here(json!({ "keywords": ["tent"] }))]));
    let asked = [("target", "northmoor.example"), ("date", "2026-11-20")];
    let expected = [
        ("error500:1", (500, 50000, 0), (500, "Internal server error")),
        ("rate429:1", (429, 40202, 0), (429, "Too many requests")),
        ("quota403:1", (402, 40200, 40200), (403, "API units limit reached. Expected usage: 50, API units left: 0.")),
        ("permission403:1", (200, 20000, 40204), (403, "Insufficient plan")),
    ];
    for (fault, a, b) in expected {
        server.simulator.controls().set_faults(vec![fault.parse().unwrap()]);
        let (status, answer) = server.tasks(overview, "good@demo.test", &task).await;
        let inner = answer["tasks"][0]["status_code"].as_u64().unwrap_or_default();
        assert_eq!((status, answer["status_code"].as_u64().unwrap(), inner), a, "{fault}: {answer}");
        let refused = server.ask_b(ProviderB::DomainRating, "good-key", &asked).await;
        assert_eq!(refused, (b.0, json!({ "error": b.1 })), "{fault}");
        let free = server.ask_b(ProviderB::LimitsAndUsage, "good-key", &[]).await.0;
        assert_eq!(free == 200, !matches!(a.0, 500 | 429), "{fault} strikes free endpoints only if everything is down");
    }
    assert_eq!(server.simulator.controls().spent("good@demo.test"), 0);
    assert_eq!(server.simulator.controls().spent("good-key"), 0);
}

#[tokio::test]
async fn bodies_of_providers_can_break_off_crawl_or_wait() {
    let server = fixed().await;
    let send = || {
        let url = server.url(&format!("/provider-b/{}", ProviderB::LimitsAndUsage.path()));
        server.client.get(url).bearer_auth("good-key").send()
    };
    server.simulator.controls().set_faults(vec!["truncated:1".parse().unwrap()]);
    assert!(whole(send().await.unwrap()).await.is_err());
    server.simulator.controls().set_faults(vec!["slow:1".parse().unwrap()]);
    let crawling = whole(send().await.unwrap());
    assert!(tokio::time::timeout(Duration::from_millis(300), crawling).await.is_err());
    server.simulator.controls().set_faults(Vec::new());
    server.simulator.controls().hold("keywords=tent");
    let asked = [("keywords", "tent"), ("country", "us"), ("select", "volume")];
    let held = server.ask_b(ProviderB::KeywordOverview, "good-key", &asked);
    let released = async {
        server.simulator.controls().wait_until_held(1).await;
        server.simulator.controls().release();
    };
    assert_eq!(tokio::join!(held, released).0.0, 200);
}

#[tokio::test]
async fn requests_are_counted_by_endpoint() {
    let server = fixed().await;
    let controls = server.simulator.controls();
    server.tasks(ProviderA::UserData, "good@demo.test", &Value::Null).await;
    server.tasks(ProviderA::UserData, "stranger@demo.test", &Value::Null).await;
    server.ask_b(ProviderB::LimitsAndUsage, "good-key", &[]).await;
    assert_eq!(controls.requests(Endpoint::ProviderA(ProviderA::UserData)), 2);
    assert_eq!(controls.requests(Endpoint::ProviderA(ProviderA::Anchors)), 0);
    assert_eq!(controls.requests(Endpoint::ProviderB(ProviderB::LimitsAndUsage)), 1);
    controls.reset();
    assert_eq!(controls.requests(Endpoint::ProviderA(ProviderA::UserData)), 0);
}
