//! Tests of the simulated provider A: accounts, envelope, validation, types, lists, credit.

use serde_json::{Value, json};

use super::providers::{fixed, here};
use super::{Server, read};
use crate::providers::ProviderA;

const GOOD: &str = "good@demo.test";

/// A task that every endpoint answers.
fn task(call: ProviderA) -> Value {
    match call {
        ProviderA::UserData => Value::Null,
        ProviderA::SearchVolume | ProviderA::KeywordOverview | ProviderA::BulkKeywordDifficulty => {
            here(json!({ "keywords": ["tent", "best tent"], "tag": null }))
        }
        ProviderA::KeywordSuggestions | ProviderA::RelatedKeywords => here(json!({ "keyword": "tent", "limit": 3 })),
        ProviderA::BacklinksSummary | ProviderA::BacklinksHistory => json!({ "target": "northmoor.example" }),
        _ => json!({ "target": "northmoor.example", "limit": 3 }),
    }
}

async fn code(server: &Server, call: ProviderA, task: Value) -> (u64, String) {
    let (status, answer) = server.tasks(call, GOOD, &json!([task])).await;
    assert_eq!(status, 200, "{answer}");
    let task = &answer["tasks"][0];
    (task["status_code"].as_u64().unwrap(), task["status_message"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn wrong_credentials_are_refused_with_a_challenge() {
    let server = fixed().await;
    let url = server.url("/provider-a/v3/appendix/user_data");
    let wrong = [
        server.client.get(&url),
        server.client.get(&url).basic_auth("good@demo.test", Some("Demo")),
        server.client.get(&url).basic_auth("nobody@demo.test", Some("demo")),
        server.client.get(&url).basic_auth("good@demo.test", None::<&str>),
        server.client.get(&url).bearer_auth("good-key"),
        server.client.get(&url).header("authorization", "Basic %%%"),
        server.client.get(server.url("/provider-a/v3/nothing")),
    ];
    for request in wrong {
        let answer = request.send().await.unwrap();
        assert!(answer.headers()["www-authenticate"].to_str().unwrap().starts_with("Basic realm="));
        let (status, body) = read(answer).await;
        assert_eq!((status, &body["status_code"], &body["tasks"]), (401, &json!(40100), &Value::Null));
        assert_eq!(body["status_message"], "You are not authorized to access this resource.");
        assert_eq!((&body["tasks_count"], &body["cost"]), (&json!(0), &json!(0)));
    }
}

#[tokio::test]
async fn each_account_is_in_its_state_on_every_endpoint() {
    let server = fixed().await;
    for call in ProviderA::ALL {
        let tasks = json!([task(call)]);
        let (status, answer) = server.tasks(call, "unverified@demo.test", &tasks).await;
        assert_eq!((status, &answer["status_code"], &answer["tasks"]), (403, &json!(40104), &Value::Null));
        let (status, answer) = server.tasks(call, "limited@demo.test", &tasks).await;
        assert_eq!((status, &answer["status_code"], &answer["tasks_error"]), (200, &json!(20000), &json!(1)));
        assert_eq!((&answer["tasks"][0]["status_code"], &answer["tasks"][0]["result"]), (&json!(40202), &Value::Null));
        let (status, answer) = server.tasks(call, "broke@demo.test", &tasks).await;
        if call == ProviderA::UserData {
            assert_eq!((status, &answer["tasks"][0]["result"][0]["money"]["balance"]), (200, &json!(0)));
        } else {
            assert_eq!((status, &answer["status_code"]), (402, &json!(40200)), "{call:?}");
            assert_eq!((&answer["tasks"][0]["status_code"], &answer["cost"]), (&json!(40200), &json!(0)));
        }
    }
}

#[tokio::test]
async fn every_endpoint_answers_in_the_envelope() {
    let server = fixed().await;
    for call in ProviderA::ALL {
        let (status, answer) = server.tasks(call, GOOD, &json!([task(call)])).await;
        assert_eq!((status, &answer["status_code"]), (200, &json!(20000)), "{answer}");
        assert_eq!((&answer["tasks_count"], &answer["tasks_error"]), (&json!(1), &json!(0)));
        assert!(answer["time"].as_str().unwrap().ends_with(" sec."));
        let task = &answer["tasks"][0];
        assert_eq!((&task["status_code"], &task["status_message"]), (&json!(20000), &json!("Ok.")));
        assert_eq!(task["cost"], answer["cost"]);
        assert_eq!(task["result_count"], json!(task["result"].as_array().unwrap().len()));
        assert_eq!(task["path"].as_array().unwrap().len(), call.path().split('/').count());
        assert_eq!(task["id"].as_str().unwrap().len(), 36);
        assert!(task["data"].get("tag").is_none(), "null fields are not repeated");
        assert_eq!(call == ProviderA::UserData, task["cost"] == 0, "{call:?}");
    }
}

#[tokio::test]
async fn every_mistake_in_a_field_is_named() {
    let server = fixed().await;
    let many = vec!["tent"; 701];
    let filters = vec![json!(["keyword_info.search_volume", ">", 10]); 9];
    let mut chain: Vec<Value> = Vec::new();
    for filter in filters {
        chain.extend((!chain.is_empty()).then(|| json!("and")));
        chain.push(filter);
    }
    let cases = [
        (ProviderA::KeywordOverview, json!({}), "keywords"),
        (ProviderA::KeywordOverview, json!({ "keywords": "tent" }), "keywords"),
        (ProviderA::KeywordOverview, json!({ "keywords": many }), "keywords"),
        (ProviderA::KeywordOverview, json!({ "keywords": ["x".repeat(81)] }), "keywords"),
        (ProviderA::KeywordOverview, json!({ "keywords": ["a b c d e f g h i j k"] }), "keywords"),
        (ProviderA::KeywordOverview, json!({ "keywords": ["tent"], "location_code": null }), "location_code"),
        (ProviderA::KeywordOverview, json!({ "keywords": ["tent"], "location_code": 840 }), "location_code"),
        (ProviderA::KeywordOverview, json!({ "keywords": ["tent"], "location_code": "2840" }), "location_code"),
        (ProviderA::KeywordOverview, json!({ "keywords": ["tent"], "language_code": "xx" }), "language_code"),
        (ProviderA::KeywordOverview, json!({ "keywords": ["tent"], "keywrods": 1 }), "keywrods"),
        (ProviderA::KeywordOverview, json!({ "keywords": ["tent"], "include_serp_info": 1 }), "include_serp_info"),
        (ProviderA::SearchVolume, json!({ "keywords": ["what's on?"] }), "keywords"),
        (ProviderA::SearchVolume, json!({ "keywords": ["tent"], "date_from": "2019-01-01" }), "date_from"),
        (ProviderA::KeywordSuggestions, json!({ "keyword": "tent", "limit": 1_001 }), "limit"),
        (ProviderA::KeywordSuggestions, json!({ "keyword": "tent", "limit": 1.5 }), "limit"),
        (ProviderA::KeywordSuggestions, json!({ "keyword": "tent", "filters": chain }), "filters"),
        (ProviderA::KeywordSuggestions, json!({ "keyword": "tent", "filters": ["a", "~", 1] }), "filters"),
        (ProviderA::KeywordSuggestions, json!({ "keyword": "tent", "filters": ["nothing", "=", 1] }), "filters"),
        (ProviderA::KeywordSuggestions, json!({ "keyword": "tent", "order_by": ["keyword"] }), "order_by"),
        (ProviderA::KeywordSuggestions, json!({ "keyword": "tent", "offset_token": "x" }), "offset_token"),
        (ProviderA::RelatedKeywords, json!({ "keyword": "tent", "depth": 5 }), "depth"),
    ];
    for (call, more, name) in cases {
        let expected = (40501, format!("Invalid Field: '{name}'."));
        assert_eq!(code(&server, call, here(more.clone())).await, expected, "{call:?} {more}");
    }
    for target in ["https://", "www.northmoor.example", "northmoor.example/", "northmoor", ""] {
        let found = code(&server, ProviderA::Backlinks, json!({ "target": target })).await;
        assert_eq!(found, (40501, "Invalid Field: 'target'.".to_owned()), "{target}");
    }
    assert_eq!(server.simulator.controls().spent(GOOD), 0, "invalid tasks cost nothing");
}

#[tokio::test]
async fn bodies_other_than_a_list_of_one_task_are_refused() {
    let server = fixed().await;
    let url = server.url(&format!("/provider-a/{}", ProviderA::KeywordOverview.path()));
    let send = async |body: &str| {
        let sent = server.client.post(&url).basic_auth(GOOD, Some("demo")).body(body.to_owned()).send().await;
        read(sent.unwrap()).await
    };
    for (body, code) in [("", 40502), ("[]", 40502), ("{", 40503), ("{}", 40503), ("7", 40503)] {
        let (status, answer) = send(body).await;
        assert_eq!((status, &answer["status_code"], &answer["tasks"]), (200, &json!(code), &Value::Null), "{body}");
    }
    let task = task(ProviderA::KeywordOverview);
    let answer = send(&json!([task, task]).to_string()).await.1;
    assert_eq!((&answer["tasks_count"], &answer["tasks_error"]), (&json!(2), &json!(1)));
    assert_eq!(answer["tasks"][1]["status_message"], "You can set only one task at a time.");
    let answer = send(&json!(vec![task; 101]).to_string()).await.1;
    assert_eq!(answer["status_code"], 40006);
    let (status, answer) = read(server.client.get(&url).basic_auth(GOOD, Some("demo")).send().await.unwrap()).await;
    assert_eq!((status, &answer["status_code"]), (404, &json!(40402)));
}

#[tokio::test]
async fn nothing_found_is_said_in_two_ways() {
    let server = fixed().await;
    let found = code(&server, ProviderA::KeywordOverview, here(json!({ "keywords": ["qzxv"] }))).await;
    assert_eq!(found, (40102, "No Search Results.".to_owned()));
    let found = code(&server, ProviderA::KeywordSuggestions, here(json!({ "keyword": "qzxv" }))).await;
    assert_eq!(found.0, 40102);
    let page = json!({ "target": "https://www.northmoor.example/never" });
    let (_, answer) = server.tasks(ProviderA::BacklinksSummary, GOOD, &json!([page])).await;
    let task = &answer["tasks"][0];
    assert_eq!(
        (&task["status_code"], &task["result_count"], &task["result"]),
        (&json!(20000), &json!(0), &Value::Null)
    );
    let ads = server.result(ProviderA::SearchVolume, here(json!({ "keywords": ["qzxv"] }))).await;
    assert_eq!((&ads[0]["keyword"], &ads[0]["search_volume"]), (&json!("qzxv"), &Value::Null));
}

#[tokio::test]
async fn types_are_strict() {
    let server = fixed().await;
    let result = server.result(ProviderA::KeywordOverview, task(ProviderA::KeywordOverview)).await;
    let item = &result[0]["items"][0];
    for (object, name) in [("keyword_info", "search_volume"), ("keyword_properties", "keyword_difficulty")] {
        assert!(item[object][name].is_u64(), "{name}");
    }
    let time = item["keyword_info"]["last_updated_time"].as_str().unwrap();
    assert!(
        chrono::DateTime::parse_from_str(time, "%Y-%m-%d %H:%M:%S %z").is_ok() && time.ends_with(" +00:00"),
        "{time}"
    );
    let trend = &item["keyword_info"]["search_volume_trend"];
    assert!(["monthly", "quarterly", "yearly"].iter().all(|name| trend[name].is_i64()));
    let links = server.result(ProviderA::Backlinks, task(ProviderA::Backlinks)).await;
    let link = &links[0]["items"][0];
    let ranks = ["rank", "page_from_rank", "domain_from_rank"].map(|name| link[name].as_u64().unwrap());
    assert!(ranks.iter().all(|rank| *rank <= 1_000), "{ranks:?}");
    assert!(link["dofollow"].is_boolean() && link["is_lost"].is_boolean());
    let scaled = json!({ "target": "northmoor.example", "rank_scale": "one_hundred" });
    let summary = server.result(ProviderA::BacklinksSummary, scaled).await;
    assert!(summary[0]["rank"].as_u64().unwrap() <= 100);
}

#[tokio::test]
async fn lists_are_filtered_ordered_and_continued() {
    let server = fixed().await;
    let filters = json!([["keyword_info.search_volume", ">", 100], "and", ["keyword", "like", "%tent%"]]);
    let more = json!({ "keyword": "tent", "filters": filters, "order_by": ["keyword_info.search_volume,asc"] });
    let page = server.result(ProviderA::KeywordSuggestions, here(more)).await;
    let volume = |item: &Value| item["keyword_info"]["search_volume"].as_u64().unwrap();
    let items = page[0]["items"].as_array().unwrap();
    assert!(!items.is_empty() && items.iter().all(|item| volume(item) > 100) && items.is_sorted_by_key(volume));
    let first = server.result(ProviderA::Backlinks, json!({ "target": "northmoor.example", "limit": 2 })).await;
    let token = &first[0]["search_after_token"];
    let next = json!({ "target": "northmoor.example", "limit": 2, "search_after_token": token });
    let second = server.result(ProviderA::Backlinks, next).await;
    let skipped = json!({ "target": "northmoor.example", "limit": 2, "offset": 2 });
    assert_eq!(second[0]["items"], server.result(ProviderA::Backlinks, skipped).await[0]["items"]);
    assert_ne!(second[0]["items"], first[0]["items"]);
    let live = json!({ "target": "northmoor.example", "filters": ["dofollow", "=", true], "limit": 1_000 });
    let live = server.result(ProviderA::Backlinks, live).await;
    assert!(
        live[0]["items"].as_array().unwrap().iter().all(|item| item["dofollow"] == true && item["is_lost"] == false)
    );
    let lost = json!({ "target": "northmoor.example", "backlinks_status_type": "lost", "limit": 5 });
    let lost = server.result(ProviderA::Backlinks, lost).await;
    assert!(lost[0]["items"].as_array().unwrap().iter().all(|item| item["is_lost"] == true));
    let each = json!({ "target": "northmoor.example", "mode": "one_per_domain" });
    let domains = server.result(ProviderA::ReferringDomains, json!({ "target": "northmoor.example" })).await;
    assert_eq!(server.result(ProviderA::Backlinks, each).await[0]["total_count"], domains[0]["total_count"]);
}

#[tokio::test]
async fn related_keywords_go_deeper_as_asked() {
    let server = fixed().await;
    let mut totals = Vec::new();
    for depth in [0, 1, 2] {
        let result =
            server.result(ProviderA::RelatedKeywords, here(json!({ "keyword": "tent", "depth": depth }))).await;
        assert_eq!(
            (&result[0]["items"][0]["depth"], &result[0]["items"][0]["keyword_data"]["keyword"]),
            (&json!(0), &json!("tent"))
        );
        totals.push(result[0]["total_count"].as_u64().unwrap());
    }
    assert_eq!(totals[..2], [1, 9]);
    assert!(totals[2] > 9, "{totals:?}");
}

#[tokio::test]
async fn credit_goes_down_to_the_millionth_and_then_ends() {
    let server = fixed().await;
    let balance = async || {
        let (_, answer) = server.tasks(ProviderA::UserData, GOOD, &Value::Null).await;
        answer["tasks"][0]["result"][0]["money"]["balance"].clone()
    };
    assert_eq!(balance().await, json!(50));
    let one = json!([here(json!({ "keywords": ["tent"] }))]);
    let (_, answer) = server.tasks(ProviderA::KeywordOverview, GOOD, &one).await;
    assert_eq!((&answer["cost"], balance().await), (&json!(0.0101), json!(49.9899)));
    let doubled = json!([here(json!({ "keywords": ["tent"], "include_clickstream_data": true }))]);
    let (_, answer) = server.tasks(ProviderA::KeywordOverview, GOOD, &doubled).await;
    assert_eq!(answer["cost"], json!(0.0202));
    let controls = server.simulator.controls();
    assert_eq!(controls.spent(GOOD), 30_300);
    controls.spend(GOOD, 49_969_000, 50_000_000);
    let (status, answer) = server.tasks(ProviderA::KeywordOverview, GOOD, &one).await;
    assert_eq!((status, &answer["tasks"][0]["status_code"]), (200, &json!(40210)));
    assert_eq!(answer["tasks"][0]["status_message"], "Insufficient Funds.");
    assert_eq!(balance().await, json!(0.0007));
    controls.reset();
    assert_eq!(balance().await, json!(50));
}
