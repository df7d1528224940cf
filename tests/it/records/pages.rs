//! Tests of the pages of lists: together they are the list, in its order.

use serde_json::{Value, json};

use super::contains;
use crate::support::{actor::Actor, app::TestApp};

/// Lists with at least three records each.
async fn filled(owner: &Actor, property: &str) -> Vec<String> {
    let of = |part: &str| format!("/api/properties/{property}/{part}");
    let filters = json!([{ "dimension": "query", "operator": "contains", "value": "a" }]);
    for name in ["Gamma", "alpha", "Beta"] {
        for list in ["segments", "topic-clusters"] {
            owner.made(&of(list), &json!({ "name": name, "conditions": [contains("a")] })).await;
        }
        owner.made("/api/tags", &json!({ "name": name })).await;
        owner.made("/api/filter-presets", &json!({ "name": name, "filters": filters })).await;
        owner.made(&of("annotations"), &json!({ "date": "2026-11-01", "text": name })).await;
        owner.made(&of("share-links"), &json!({ "name": name })).await;
        let grant = json!({ "email": format!("{name}@elsewhere.test"), "role": "viewer", "allProperties": true });
        owner.made("/api/team", &grant).await;
    }
    let keywords = json!({ "keywords": ["Gamma", "alpha", "Beta"] });
    owner.post(&of("branded-keywords"), &keywords).await.expect(201);
    let tag = owner.listed("/api/tags").await[0]["id"].as_str().unwrap().to_owned();
    let all = owner.listed("/api/properties").await;
    let ids: Vec<&Value> = all.iter().map(|property| &property["id"]).collect();
    let carried = format!("/api/tags/{tag}/properties");
    owner.post(&carried, &json!({ "propertyIds": ids })).await.expect(200);
    let own = ["segments", "topic-clusters", "branded-keywords", "annotations", "share-links"].map(of);
    let others = ["/api/properties", "/api/tags", "/api/filter-presets", "/api/team"].map(str::to_owned);
    own.into_iter().chain(others).chain([carried]).collect()
}

#[tokio::test]
async fn the_pages_of_a_list_are_the_list() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    for list in filled(&owner, &owner.property("northmoor").await).await {
        let whole = owner.get(&list).await.expect(200);
        let records = whole.json["data"].as_array().unwrap();
        let total = records.len();
        assert!(total >= 3, "{list}: {total}");
        let place = |answer: &Value| (answer["meta"]["total"].clone(), answer["meta"]["hasMore"].clone());
        assert_eq!(place(&whole.json), (json!(total), json!(false)), "{list}");
        let mut found: Vec<Value> = Vec::new();
        for offset in (0..total).step_by(2) {
            let (skip, path) = (offset.to_string(), list.clone());
            let page = owner.ask(&path, &[("limit", "2"), ("offset", &skip)]).await.expect(200);
            assert!(page.header("etag").trim_start_matches("W/").starts_with('"'), "{list}");
            assert_ne!(page.header("etag"), whole.header("etag"), "{list}");
            found.extend(page.json["data"].as_array().unwrap().iter().cloned());
            assert_eq!(place(&page.json), (json!(total), json!(found.len() < total)), "{list} {offset}");
        }
        assert_eq!(&found, records, "{list}");
        let rest = owner.ask(&list, &[("offset", "1")]).await.expect(200);
        assert_eq!(rest.json["data"].as_array().unwrap(), &records[1..], "{list}");
        let beyond = owner.ask(&list, &[("offset", "100000"), ("limit", "1000")]).await.expect(200);
        assert_eq!((&beyond.json["data"], place(&beyond.json)), (&json!([]), (json!(total), json!(false))), "{list}");
        for (name, wrong) in [("limit", "0"), ("limit", "1001"), ("limit", "x"), ("offset", "-1"), ("offset", "100001")]
        {
            let refused = owner.ask(&list, &[(name, wrong)]).await.expect(400);
            assert!(refused.hint().starts_with(&format!("{name}: must be a whole number")), "{}", refused.hint());
        }
    }
}

#[tokio::test]
async fn a_page_of_a_narrowed_list_counts_what_the_conditions_leave() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let list = format!("/api/properties/{}/annotations", owner.property("northmoor").await);
    for day in ["2026-10-01", "2026-10-02", "2026-10-03", "2026-10-20"] {
        owner.made(&list, &json!({ "date": day, "text": day })).await;
    }
    let query = [("startDate", "2026-10-01"), ("endDate", "2026-10-05"), ("limit", "2")];
    let page = owner.ask(&list, &query).await.expect(200).json;
    assert_eq!(page["meta"], json!({ "total": 3, "hasMore": true }));
    assert_eq!(super::column(page["data"].as_array().unwrap(), "date"), ["2026-10-03", "2026-10-02"]);
    assert_eq!(
        owner.ask("/api/team", &[("received", "true"), ("limit", "1")]).await.expect(200).json["meta"]["total"],
        0
    );
}
