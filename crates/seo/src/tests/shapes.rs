//! Recorded shapes of every endpoint that is used: whole, with unknown fields, and with nulls everywhere.

use api::integrations::{BacklinkStatus, SearchIntent};
use chrono::NaiveDate;

use super::*;

fn date(text: &str) -> NaiveDate {
    text.parse().unwrap()
}

fn page(status: BacklinkStatus, offset: usize) -> Page {
    Page { target: Target { host: "www.a.example".to_owned(), subdomains: false }, status, offset, limit: 2 }
}

/// The same value with null in place of everything that is neither a list nor an object.
fn nulled(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(nulled).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), nulled(value))).collect(),
        _ => Value::Null,
    }
}

fn keyword_of_a() -> Value {
    json!({ "se_type": "google", "keyword": "blue widgets", "location_code": 2840, "language_code": "en",
        "keyword_info": { "last_updated_time": "2026-10-14 08:11:02 +00:00", "competition": 0.42, "competition_level": "MEDIUM",
            "cpc": 1.87, "search_volume": 1300, "low_top_of_page_bid": 0.61, "categories": [10021], "monthly_searches": [
                { "year": 2026, "month": 10, "search_volume": 1300 }, { "year": 2026, "month": 9, "search_volume": 1000 },
                { "year": 2026, "month": 8, "search_volume": null }] },
        "keyword_properties": { "core_keyword": null, "keyword_difficulty": 31, "words_count": 2 },
        "serp_info": null,
        "search_intent_info": { "main_intent": "commercial", "foreign_intent": ["transactional", "unheard of"] },
        "clickstream_keyword_info": null })
}

fn blue_widgets() -> Keyword {
    Keyword {
        keyword: "blue widgets".to_owned(),
        volume: Some(1300),
        cpc: Some(Amount(1_870_000)),
        competition: Some(0.42),
        difficulty: Some(31.0),
        intents: vec![SearchIntent::Commercial, SearchIntent::Transactional],
        trend: vec![(date("2026-09-01"), 1000), (date("2026-10-01"), 1300)],
    }
}

/// The answer of provider A to a question whose result is `result`, and the request.
async fn a_says(question: &Question, result: &Value) -> (Findings, Arrived) {
    let (upstream, a, _) = providers().await;
    upstream.say(200, done(0.0101, &json!([result])));
    let paid = a.answer(&login(), question).await.unwrap();
    assert_eq!(paid.cost, Some(Amount(10_100)));
    (paid.found, upstream.arrived().remove(0))
}

/// The answer of provider B to a question with `body`, and the request.
async fn b_says(question: &Question, body: Value) -> (Findings, Arrived) {
    let (upstream, _, b) = providers().await;
    upstream.reply(Reply::Said(200, vec![("x-api-units-cost-total-actual", "50"), ("x-api-cache", "miss")], body));
    let paid = b.answer(&key(), question).await.unwrap();
    assert_eq!(paid.cost, Some(Amount(50_000_000)));
    (paid.found, upstream.arrived().remove(0))
}

#[tokio::test]
async fn provider_a_keywords() {
    let overview = figures(&["blue widgets"]);
    let (found, request) = a_says(&overview, &json!({ "items_count": 1, "items": [keyword_of_a()], "new": {} })).await;
    assert_eq!(found, Findings::Keywords(RowPage { known: None, rows: vec![blue_widgets()] }));
    assert_eq!(request.path, "/a/v3/dataforseo_labs/google/keyword_overview/live");
    assert_eq!(request.body, json!([{ "keywords": ["blue widgets"], "location_code": 2840, "language_code": "en" }]));

    let ideas = Question::Ideas { seeds: vec!["widgets".to_owned()], place: place(), limit: 7 };
    let result = json!({ "seed_keyword_data": { "keyword": "widgets", "keyword_info": null }, "total_count": 9,
        "items": [keyword_of_a()] });
    let (found, request) = a_says(&ideas, &result).await;
    let seed = Keyword { keyword: "widgets".to_owned(), ..Keyword::default() };
    assert_eq!(found, Findings::Keywords(RowPage { known: Some(10), rows: vec![seed, blue_widgets()] }));
    assert_eq!(request.path, "/a/v3/dataforseo_labs/google/keyword_suggestions/live");
    assert_eq!((&request.body[0]["keyword"], &request.body[0]["limit"]), (&json!("widgets"), &json!(7)));

    let mut bare = nulled(&keyword_of_a());
    bare["keyword"] = json!("bare");
    let (found, _) = a_says(&overview, &json!({ "items": [bare, null, 3] })).await;
    let bare = Keyword { keyword: "bare".to_owned(), ..Keyword::default() };
    assert_eq!(found, Findings::Keywords(RowPage { known: None, rows: vec![bare] }));
    for nothing in [json!({ "items": null }), json!({ "items": [] })] {
        assert_eq!(a_says(&overview, &nothing).await.0, Findings::Keywords(RowPage::default()));
    }
}

#[tokio::test]
async fn provider_a_backlinks() {
    let target = Target { host: "a.example".to_owned(), subdomains: true };
    let summary = Question::Summary { target, day: date("2026-11-21") };
    let result =
        json!({ "target": "a.example", "rank": 312, "backlinks": 1284, "referring_domains": 163, "info": null });
    let (found, request) = a_says(&summary, &result).await;
    assert_eq!(found, Findings::Summary(Summary { backlinks: 1284, domains: 163, rank: Some(312.0) }));
    assert_eq!(request.path, "/a/v3/backlinks/summary/live");
    assert_eq!(
        (&request.body[0]["target"], &request.body[0]["include_subdomains"]),
        (&json!("a.example"), &json!(true))
    );
    let mut unranked = nulled(&result);
    (unranked["backlinks"], unranked["referring_domains"]) = (json!(0), json!("0"));
    assert_eq!(a_says(&summary, &unranked).await.0, Findings::Summary(Summary::default()));

    let item = json!({ "type": "backlink", "url_from": "https://b.example/", "url_to": "https://a.example/", "is_new": true,
        "is_lost": false, "rank": 7, "domain_from_rank": 401, "first_seen": "2025-03-11 04:00:01 +00:00",
        "last_seen": "2026-11-02 04:00:01 +00:00", "dofollow": true, "anchor": "A", "attributes": null });
    let links = Question::Links(page(BacklinkStatus::New, 4));
    let (found, request) = a_says(&links, &json!({ "total_count": 6, "items": [item, nulled(&item)] })).await;
    let link = Link {
        url_from: "https://b.example/".to_owned(),
        url_to: "https://a.example/".to_owned(),
        anchor: Some("A".to_owned()),
        dofollow: Some(true),
        source_rank: Some(401.0),
        first_seen: Some(date("2025-03-11")),
        last_seen: Some(date("2026-11-02")),
        is_new: true,
        lost: false,
    };
    assert_eq!(found, Findings::Links(RowPage { known: Some(6), rows: vec![link] }));
    assert_eq!(request.path, "/a/v3/backlinks/backlinks/live");
    let task = &request.body[0];
    assert_eq!((&task["target"], &task["offset"], &task["limit"]), (&json!("a.example"), &json!(4), &json!(2)));
    assert_eq!((&task["filters"], &task["backlinks_status_type"]), (&json!(["is_new", "=", true]), &json!("live")));

    let item = json!({ "domain": "b.example", "rank": 401, "backlinks": 3, "first_seen": "2025-03-11 04:00:01 +00:00",
        "lost_date": "2026-01-02 00:00:00 +00:00" });
    let domains = Question::Domains(page(BacklinkStatus::Lost, 0));
    let (found, request) = a_says(&domains, &json!({ "total_count": 1, "items": [item, nulled(&item)] })).await;
    let domain = Domain {
        domain: "b.example".to_owned(),
        rank: Some(401.0),
        backlinks: 3,
        first_seen: Some(date("2025-03-11")),
        lost_at: Some(date("2026-01-02")),
    };
    assert_eq!(found, Findings::Domains(RowPage { known: Some(1), rows: vec![domain] }));
    assert_eq!(request.path, "/a/v3/backlinks/referring_domains/live");
    assert_eq!(request.body[0]["backlinks_status_type"], "lost");
}

#[tokio::test]
async fn provider_b_keywords() {
    let item = json!({ "keyword": "blue widgets", "volume": 1300, "difficulty": 31, "cpc": 187, "new": [],
        "intents": { "informational": false, "commercial": true, "transactional": true, "branded": null, "local": false },
        "volume_monthly_history": [{ "date": "2026-10-01", "volume": 1300 }, { "date": "2026-09-01", "volume": 1000 },
            { "date": null, "volume": 3 }] });
    let known = Keyword { competition: None, ..blue_widgets() };
    let trend = Some((date("2025-11-01"), date("2026-10-01")));
    let overview =
        Question::Figures { keywords: vec!["blue widgets".to_owned(), "x".to_owned()], place: place(), trend };
    let (found, request) = b_says(&overview, json!({ "keywords": [item] })).await;
    assert_eq!(found, Findings::Keywords(RowPage { known: Some(1), rows: vec![known.clone()] }));
    assert_eq!(
        (request.path.as_str(), request.authorization.as_str()),
        ("/b/v3/keywords-explorer/overview", "Bearer the-key")
    );
    assert_eq!((request.param("keywords"), request.param("country")), ("blue widgets,x", "us"));
    assert!(request.param("select").ends_with(",volume_monthly_history"));
    assert_eq!(request.param("volume_monthly_date_from"), "2025-11-01");

    let ideas = Question::Ideas { seeds: vec!["widgets".to_owned()], place: place(), limit: 1 };
    let (found, request) = b_says(&ideas, json!({ "keywords": [item] })).await;
    assert_eq!(found, Findings::Keywords(RowPage { known: None, rows: vec![known] }), "there may be more");
    assert_eq!(request.path, "/b/v3/keywords-explorer/matching-terms");
    assert_eq!((request.param("limit"), request.param("order_by")), ("1", "volume:desc"));
    let nothing = Findings::Keywords(RowPage { known: Some(0), rows: Vec::new() });
    assert_eq!(b_says(&ideas, json!({ "keywords": [] })).await.0, nothing);
    let (found, _) = b_says(&overview, json!({ "keywords": [item, nulled(&item), 3] })).await;
    let Findings::Keywords(list) = found else { panic!("{found:?}") };
    assert_eq!(list.rows.len(), 1, "a row without a keyword is none");
}

#[tokio::test]
async fn provider_b_summary_is_two_answers_and_one_cost() {
    let target = Target { host: "a.example".to_owned(), subdomains: true };
    let summary = Question::Summary { target, day: date("2026-11-21") };
    let stats =
        json!({ "metrics": { "live": 1284, "all_time": 2000, "live_refdomains": 163, "all_time_refdomains": null } });
    let cost = || vec![("x-api-units-cost-total", "50")];
    let (upstream, _, b) = providers().await;
    upstream.reply(Reply::Said(200, cost(), stats.clone()));
    upstream.reply(Reply::Said(
        200,
        cost(),
        json!({ "domain_rating": { "domain_rating": 71.5, "ahrefs_rank": null } }),
    ));
    let paid = b.answer(&key(), &summary).await.unwrap();
    assert_eq!(paid.found, Findings::Summary(Summary { backlinks: 1284, domains: 163, rank: Some(71.5) }));
    assert_eq!(paid.cost, Some(Amount(100_000_000)));
    let arrived = upstream.arrived();
    assert_eq!((arrived[0].param("mode"), arrived[0].param("date")), ("subdomains", "2026-11-21"));
    assert!(arrived[0].path.ends_with("/backlinks-stats") && arrived[1].path.ends_with("/domain-rating"));

    upstream.reply(Reply::Said(200, cost(), stats));
    upstream.say(500, Value::Null);
    let paid = b.answer(&key(), &summary).await.unwrap();
    assert_eq!(
        paid.found,
        Findings::Summary(Summary { backlinks: 1284, domains: 163, rank: None }),
        "half of it was paid for"
    );
    upstream.say(404, json!({ "error": "no data" }));
    upstream.say(404, json!(["Error", "no data"]));
    assert_eq!(b.answer(&key(), &summary).await.unwrap().found, Findings::Summary(Summary::default()));
}

#[tokio::test]
async fn provider_b_backlinks() {
    let item = json!({ "url_from": "https://b.example/", "url_to": "https://a.example/", "anchor": "", "is_dofollow": 1,
        "domain_rating_source": 41.5, "first_seen_link": "2025-03-11T00:00:00Z", "last_visited": "2026-11-02T00:00:00Z",
        "last_seen": null, "is_new": false, "is_lost": false });
    let mut lost = item.clone();
    lost["is_lost"] = json!(true);
    lost["last_seen"] = json!("2026-06-01T00:00:00Z");
    let links = Question::Links(page(BacklinkStatus::All, 1));
    let (found, request) = b_says(&links, json!({ "backlinks": [item, item, lost, nulled(&item)] })).await;
    let Findings::Links(RowPage { known: None, rows }) = found else { panic!("{found:?}") };
    assert_eq!(rows.len(), 2, "the first row is on the page before");
    assert_eq!(
        (rows[0].last_seen, rows[0].dofollow, rows[0].source_rank),
        (Some(date("2026-11-02")), Some(true), Some(41.5))
    );
    assert_eq!((rows[1].last_seen, rows[1].lost, rows[1].anchor.as_ref()), (Some(date("2026-06-01")), true, None));
    assert_eq!(request.path, "/b/v3/site-explorer/all-backlinks");
    assert_eq!((request.param("target"), request.param("mode")), ("www.a.example", "domain"));
    assert_eq!((request.param("limit"), request.param("history"), request.param("where")), ("3", "all_time", ""));

    let item = json!({ "domain": "b.example", "domain_rating": 41.5, "links_to_target": 3, "first_seen": "2025-03-11T00:00:00Z",
        "last_seen": null });
    let domains = Question::Domains(page(BacklinkStatus::New, 0));
    let (found, request) = b_says(&domains, json!({ "refdomains": [item] })).await;
    let Findings::Domains(RowPage { known: Some(1), rows }) = found else { panic!("{found:?}") };
    assert_eq!((rows[0].domain.as_str(), rows[0].backlinks, rows[0].lost_at), ("b.example", 3, None));
    assert_eq!(request.path, "/b/v3/site-explorer/refdomains");
    assert_eq!(request.param("where"), r#"{"field":"new_links","is":["gt",0]}"#);
    let (_, request) = b_says(&Question::Links(page(BacklinkStatus::Lost, 0)), json!({ "backlinks": [] })).await;
    assert_eq!(request.param("where"), r#"{"field":"is_lost","is":["eq",1]}"#);
    let (_, request) = b_says(&Question::Domains(page(BacklinkStatus::Lost, 0)), json!({ "refdomains": [] })).await;
    assert_eq!(request.param("where"), r#"{"not":{"field":"last_seen","is":"is_null"}}"#);

    let (upstream, _, b) = providers().await;
    let deep = b.answer(&key(), &Question::Links(page(BacklinkStatus::Live, 999))).await;
    assert_eq!((deep, upstream.arrived().len()), (Err(SeoError::NotAccepted(Field::Offset)), 0));
}
