//! Tests of the simulated provider B: keys, refusals, columns, filters, units.

use serde_json::{Value, json};

use super::providers::fixed;
use super::{Server, read};
use crate::providers::ProviderB;
use crate::{Conflict, Settings};

type Query = &'static [(&'static str, &'static str)];

/// An endpoint, a question that it refuses, and the start of its reason.
type Mistake = (ProviderB, Query, &'static str);

/// A question that every endpoint answers.
fn question(call: ProviderB) -> Query {
    match call {
        ProviderB::LimitsAndUsage => &[],
        ProviderB::KeywordOverview | ProviderB::MatchingTerms | ProviderB::RelatedTerms => {
            &[("keywords", "tent"), ("country", "us"), ("select", "keyword,volume"), ("limit", "3")]
        }
        ProviderB::SearchSuggestions => {
            &[("keywords", "tent"), ("country", "gb"), ("select", "keyword,volume"), ("limit", "3")]
        }
        ProviderB::VolumeHistory => &[("keyword", "tent"), ("country", "us")],
        ProviderB::BacklinksStats | ProviderB::DomainRating => {
            &[("target", "northmoor.example"), ("date", "2026-11-20")]
        }
        ProviderB::AllBacklinks => &[("target", "northmoor.example"), ("select", "url_from,url_to"), ("limit", "3")],
        ProviderB::Refdomains => &[("target", "northmoor.example"), ("select", "domain,domain_rating"), ("limit", "3")],
        ProviderB::OrganicKeywords => &[
            ("target", "northmoor.example"),
            ("date", "2026-11-20"),
            ("select", "keyword,best_position"),
            ("limit", "3"),
        ],
    }
}

async fn refusal(server: &Server, call: ProviderB, query: &[(&str, &str)]) -> String {
    let (status, body) = server.ask_b(call, "good-key", query).await;
    assert_eq!(status, 400, "{body}");
    body["error"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn wrong_and_missing_keys_are_refused_with_a_list() {
    let server = fixed().await;
    for call in ProviderB::ALL {
        let refused = server.ask_b(call, "bad-key", question(call)).await;
        assert_eq!(refused, (401, json!(["Error", "Unauthorized"])));
        let url = server.url(&format!("/provider-b/{}", call.path()));
        let refused = read(server.client.get(&url).send().await.unwrap()).await;
        assert_eq!(refused, (403, json!(["Error", "Forbidden"])));
        let refused = read(server.client.get(&url).basic_auth("good-key", Some("")).send().await.unwrap()).await;
        assert_eq!(refused.0, 401);
    }
}

#[tokio::test]
async fn each_key_is_in_its_state_on_every_endpoint() {
    let server = fixed().await;
    for call in ProviderB::ALL {
        let refused = server.ask_b(call, "noplan-key", question(call)).await;
        assert_eq!(refused, (403, json!({ "error": "Insufficient plan" })));
        let url = server.url(&format!("/provider-b/{}", call.path()));
        let limited = server.client.get(url).bearer_auth("limited-key").send().await.unwrap();
        assert_eq!((limited.status().as_u16(), &limited.headers()["retry-after"]), (429, &"30".parse().unwrap()));
        let (status, body) = server.ask_b(call, "broke-key", question(call)).await;
        if call == ProviderB::LimitsAndUsage {
            let limits = &body["limits_and_usage"];
            assert_eq!((status, &limits["units_usage_workspace"]), (200, &limits["units_limit_workspace"]));
        } else {
            assert_eq!(status, 403);
            let text = body["error"].as_str().unwrap();
            assert!(text.starts_with("API units limit reached. ") && text.ends_with(" API units left: 0."), "{text}");
        }
    }
}

#[tokio::test]
async fn refusals_can_be_all_objects_or_all_lists() {
    let bodies = [
        (Conflict::ObjectErrors, json!({ "error": "Unauthorized" }), json!({ "error": "Insufficient plan" })),
        (Conflict::ArrayErrors, json!(["Error", "Unauthorized"]), json!(["Error", "Insufficient plan"])),
    ];
    for (conflict, wrong, without_plan) in bodies {
        let server =
            Server::with(Settings { conflicts: [conflict].into_iter().collect(), ..Settings::default() }).await;
        assert_eq!(server.ask_b(ProviderB::LimitsAndUsage, "bad-key", &[]).await, (401, wrong));
        assert_eq!(server.ask_b(ProviderB::LimitsAndUsage, "noplan-key", &[]).await, (403, without_plan));
    }
}

#[tokio::test]
async fn every_endpoint_answers_under_one_key_with_what_was_selected() {
    let server = fixed().await;
    for call in ProviderB::ALL {
        let answer = server.good_b(call, question(call)).await;
        let object = answer.as_object().unwrap();
        assert_eq!(object.len(), 1);
        let rows = object.values().next().unwrap();
        let Some((_, select)) = question(call).iter().find(|(name, _)| *name == "select") else { continue };
        let mut names: Vec<&str> = select.split(',').collect();
        names.sort_unstable();
        for row in rows.as_array().unwrap() {
            let mut found: Vec<&str> = row.as_object().unwrap().keys().map(String::as_str).collect();
            found.sort_unstable();
            assert_eq!(found, names, "{call:?}");
        }
        assert!(rows.as_array().is_some_and(|rows| (1..=3).contains(&rows.len())), "{call:?} {rows}");
    }
}

#[tokio::test]
async fn every_mistake_is_named() {
    const SELECT: (&str, &str) = ("select", "keyword");
    const COUNTRY: (&str, &str) = ("country", "us");
    let server = fixed().await;
    let cases: [Mistake; 14] = [
        (ProviderB::KeywordOverview, &[COUNTRY, ("keywords", "tent")], "missing argument 'select'"),
        (ProviderB::KeywordOverview, &[SELECT, ("keywords", "tent")], "missing argument 'country'"),
        (ProviderB::KeywordOverview, &[SELECT, COUNTRY], "missing argument 'keywords'"),
        (ProviderB::KeywordOverview, &[SELECT, ("country", "US"), ("keywords", "a")], "bad argument 'country'"),
        (ProviderB::KeywordOverview, &[("select", "kw"), COUNTRY], "bad select: column 'kw' not found"),
        (ProviderB::MatchingTerms, &[SELECT, COUNTRY, ("keywords", "tent"), ("limit", "0")], "bad argument 'limit'"),
        (ProviderB::MatchingTerms, &[SELECT, COUNTRY, ("keywords", "tent"), ("terms", "x")], "bad argument 'terms'"),
        (ProviderB::MatchingTerms, &[SELECT, COUNTRY, ("order_by", "volume:down")], "bad order_by"),
        (ProviderB::MatchingTerms, &[SELECT, COUNTRY, ("order_by", "volume_monthly:desc")], "bad order_by"),
        (ProviderB::MatchingTerms, &[SELECT, COUNTRY, ("where", "{")], "bad where"),
        (
            ProviderB::MatchingTerms,
            &[SELECT, COUNTRY, ("where", r#"{"field":"x","is":["eq",1]}"#)],
            "bad where: column 'x'",
        ),
        (
            ProviderB::MatchingTerms,
            &[SELECT, COUNTRY, ("where", r#"{"field":"cpc","is":["~",1]}"#)],
            "bad where: unknown",
        ),
        (ProviderB::DomainRating, &[("target", "northmoor.example")], "missing argument 'date'"),
        (ProviderB::DomainRating, &[("target", "a b"), ("date", "2026-11-20")], "bad argument 'target'"),
    ];
    for (call, query, why) in cases {
        let found = refusal(&server, call, query).await;
        assert!(found.starts_with(why), "{query:?}: {found}");
    }
    let spent = server.simulator.controls().spent("good-key");
    assert_eq!(spent, 0, "refused requests cost nothing");
    let future = [("target", "northmoor.example"), ("date", "2027-01-01")];
    assert_eq!(server.ask_b(ProviderB::DomainRating, "good-key", &future).await.0, 404);
    let unknown = server.client.get(server.url("/provider-b/v3/nothing")).bearer_auth("good-key").send().await.unwrap();
    assert_eq!(unknown.status().as_u16(), 404);
}

#[tokio::test]
async fn answers_state_their_cost() {
    let server = fixed().await;
    let head = async |query: &[(&str, &str)]| {
        let url = server.url(&format!("/provider-b/{}", ProviderB::MatchingTerms.path()));
        let answer = server.client.get(url).query(query).bearer_auth("good-key").send().await.unwrap();
        let number = |name: &str| answer.headers()[name].to_str().unwrap().parse::<u64>().unwrap();
        [number("x-api-rows"), number("x-api-units-cost-row"), number("x-api-units-cost-total-actual")]
    };
    let basis = [("keywords", "tent"), ("country", "us"), ("select", "keyword,volume")];
    let small = head(&[basis.as_slice(), &[("limit", "2")]].concat()).await;
    assert_eq!(small, [2, 11, 50], "no answer costs less than 50 units");
    let filter = r#"{"field":"difficulty","is":["gte",0]}"#;
    let more = [("limit", "20"), ("where", filter), ("order_by", "cpc:desc,volume:desc")];
    let large = head(&[basis.as_slice(), &more].concat()).await;
    assert_eq!(large, [20, 22, 440], "columns that are filtered or ordered by cost as much as selected ones");
    let limits = server.good_b(ProviderB::LimitsAndUsage, &[]).await;
    assert_eq!(limits["limits_and_usage"]["units_usage_workspace"], 490);
    assert_eq!(limits["limits_and_usage"]["units_limit_api_key"], Value::Null);
    assert_eq!(limits["limits_and_usage"]["usage_reset_date"], "2026-12-01");
}

#[tokio::test]
async fn rows_are_filtered_and_ordered() {
    let server = fixed().await;
    let filter = r#"{"and":[{"field":"is_dofollow","is":["eq",1]},{"field":"domain_rating_source","is":["gte",29.5]},
        {"not":{"field":"anchor","is":"empty"}},{"or":[{"field":"url_to","is":["prefix","https://www."]},{"field":"title","is":["isubstring","TENT"]}]}]}"#;
    let query = [
        ("target", "northmoor.example"),
        ("select", "url_from,url_to,anchor,is_dofollow,domain_rating_source,last_seen"),
        ("where", filter),
        ("order_by", "domain_rating_source:desc,url_from"),
        ("history", "live"),
    ];
    let answer = server.good_b(ProviderB::AllBacklinks, &query).await;
    let rows = answer["backlinks"].as_array().unwrap();
    let rating = |row: &Value| row["domain_rating_source"].as_f64().unwrap();
    assert!(rows.len() > 20 && rows.iter().all(|row| rating(row) >= 29.5 && row["is_dofollow"] == true));
    assert!(rows.iter().all(|row| row["anchor"] != "" && row["last_seen"].is_null()));
    assert!(rows.is_sorted_by(|a, b| rating(a) >= rating(b)));
    let all = [("target", "northmoor.example"), ("select", "is_lost"), ("limit", "9999")];
    let all = server.good_b(ProviderB::AllBacklinks, &all).await;
    assert!(all["backlinks"].as_array().unwrap().iter().any(|row| row["is_lost"] == true));
}

#[tokio::test]
async fn sites_rank_for_their_own_queries() {
    let server = fixed().await;
    let select = "keyword,keyword_country,best_position,best_position_url,sum_traffic,is_branded";
    let query =
        [("target", "https://www.northmoor.example/"), ("mode", "prefix"), ("date", "2026-11-20"), ("select", select)];
    let answer = server.good_b(ProviderB::OrganicKeywords, &query).await;
    let rows = answer["keywords"].as_array().unwrap();
    assert_eq!(rows.len(), 1_000);
    assert_eq!((&rows[0]["is_branded"], &rows[0]["keyword_country"]), (&json!(true), &json!("us")));
    assert!(rows.is_sorted_by(|a, b| a["sum_traffic"].as_u64() >= b["sum_traffic"].as_u64()));
    let page = rows[0]["best_position_url"].as_str().unwrap();
    assert!(page.starts_with("https://www.northmoor.example/"));
    let exact = [("target", page), ("mode", "exact"), ("date", "2026-11-20"), ("select", "keyword,best_position_url")];
    let own = server.good_b(ProviderB::OrganicKeywords, &exact).await;
    assert!(own["keywords"].as_array().unwrap().iter().all(|row| row["best_position_url"] == page));
    let nobody = [("target", "stranger.example"), ("date", "2026-11-20"), ("select", "keyword")];
    assert_eq!(server.good_b(ProviderB::OrganicKeywords, &nobody).await, json!({ "keywords": [] }));
}

#[tokio::test]
async fn histories_reach_back_as_far_as_asked() {
    let server = fixed().await;
    let asked = [("keyword", "tent"), ("country", "us")];
    let year = server.good_b(ProviderB::VolumeHistory, &asked).await;
    let months = year["metrics"].as_array().unwrap();
    assert_eq!(
        (months.len(), &months[0]["date"], &months[11]["date"]),
        (12, &json!("2025-11-01"), &json!("2026-10-01"))
    );
    let query = [
        ("keywords", "tent"),
        ("country", "us"),
        ("select", "volume_monthly_history"),
        ("volume_monthly_date_from", "2024-11-01"),
        ("volume_monthly_date_to", "2026-10-31"),
    ];
    let answer = server.good_b(ProviderB::KeywordOverview, &query).await;
    assert_eq!(answer["keywords"][0]["volume_monthly_history"].as_array().unwrap().len(), 24);
}
