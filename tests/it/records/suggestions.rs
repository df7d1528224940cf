//! Tests of suggestions of branded keywords, compared with the generator's own cells.

use chrono::TimeDelta;
use serde_json::{Value, json};
use simulator::SearchType;

use crate::{
    analytics::performance::{Asker, PAPER, SMALL, site},
    faults::impatient,
    support::{
        app::TestApp,
        oracle::{Count, Counted, Sum, Truth, by_query},
    },
};

/// The default window of test apps.
const WINDOW: (&str, &str) = ("2026-10-22", "2026-11-18");

impl Asker {
    /// The list of branded keywords with suggestions.
    async fn suggestions(&self) -> Value {
        let path = format!("/api/properties/{}/branded-keywords?suggest=true", self.property);
        self.actor.get(&path).await.expect(200).json
    }

    async fn without_keyword(&self, keyword: &str) {
        let keyword = keyword.replace(' ', "%20");
        let path = format!("/api/properties/{}/branded-keywords?keyword={keyword}", self.property);
        self.actor.delete(&path).await.expect(204);
    }
}

#[tokio::test]
async fn the_name_of_a_site_is_suggested_in_spellings_of_its_queries() {
    let app = TestApp::start(|_| {}).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let kept = asker.suggestions().await;
    assert_eq!(kept["meta"]["suggestions"], json!([]), "the keyword that is there finds the name");
    asker.without_keyword("quiet meadow").await;

    let json = asker.suggestions().await;
    let suggested = json["meta"]["suggestions"].as_array().unwrap();
    assert_eq!(suggested.len(), 1, "{suggested:?}");
    assert_eq!((&suggested[0]["keyword"], &suggested[0]["reason"]), (&json!("quiet meadow"), &json!("site_name")));
    let truth = Truth::of(site(SMALL), SearchType::Web, WINDOW.0, WINDOW.1);
    let named =
        |counted: Counted<'_>| !counted.cell.anonymised && counted.cell.query.to_lowercase().contains("quiet meadow");
    let at_home = |counted: Counted<'_>| {
        named(counted) && counted.part.is_some_and(|part| &*part.url == "https://quietmeadow.test/")
    };
    let (evidence, sum) = (&suggested[0]["evidence"], truth.total(Count::ByProperty, &named));
    assert_eq!(Sum::said(evidence), sum);
    let home = truth.total(Count::ByPage, &at_home).clicks;
    assert!(home > 0, "the home page is not found");
    assert_eq!(evidence["homePageShare"], json!((home as f64 / sum.clicks as f64).min(1.0)));
    let queries = truth.by(Count::ByProperty, &named, &by_query);
    let most = queries.iter().max_by_key(|(_, sum)| (sum.clicks, sum.impressions)).unwrap().0;
    assert_eq!((&evidence["queries"], &evidence["exampleQuery"]), (&json!(queries.len()), &json!(most)));
    assert!(evidence["ctr"].as_f64().unwrap() > evidence["expectedCtr"].as_f64().unwrap(), "{evidence}");

    let read = &json["meta"]["queries"];
    assert_eq!(read["window"], json!({ "startDate": WINDOW.0, "endDate": WINDOW.1 }));
    let all = truth.by(Count::ByProperty, &|counted| !counted.cell.anonymised, &by_query);
    assert_eq!((&read["rows"], &read["rowsCapped"]), (&json!(all.len()), &json!(false)));
    assert!(json["meta"].get("unread").is_none());

    let path = format!("/api/properties/{}/branded-keywords", asker.property);
    asker.actor.post(&path, &json!({ "keywords": [suggested[0]["keyword"]] })).await.expect(201);
    assert_eq!(asker.suggestions().await["meta"]["suggestions"], json!([]), "an accepted suggestion is not made again");
    let plain = asker.actor.get(&path).await.expect(200).json;
    let alone = json!({ "total": 1, "hasMore": false });
    assert_eq!((plain["data"].as_array().map(Vec::len), &plain["meta"]), (Some(1), &alone));
}

#[tokio::test]
async fn a_spelling_that_no_keyword_matches_is_suggested() {
    let app = TestApp::start(|_| {}).await;
    let asker = Asker::of(&app, "owner", PAPER).await;
    asker.without_keyword("harbour post").await;
    let json = asker.suggestions().await;
    assert_eq!(json["data"].as_array().unwrap().iter().map(|row| &row["keyword"]).collect::<Vec<_>>(), ["harbourpost"]);
    let suggested = json["meta"]["suggestions"].as_array().unwrap();
    assert_eq!(suggested[0]["keyword"], "harbour post", "{suggested:?}");
}

#[tokio::test]
async fn without_search_data_only_the_name_is_suggested() {
    let app = TestApp::start(impatient).await;
    let owner = Asker::of(&app, "owner", "northmoor").await;
    let property = owner.property.clone();
    for keyword in ["northmoor", "north moor", "northmoor outdoor"] {
        owner.without_keyword(keyword).await;
    }
    let fault = async |fault: &[&str], name: &str| {
        let faults = fault.iter().map(|fault| fault.parse().unwrap()).collect();
        app.simulator().controls().set_faults(faults);
        Asker { actor: app.actor(name).await, property: property.clone() }.suggestions().await["meta"].clone()
    };
    let alone = json!([{ "keyword": "northmoor", "reason": "site_name" }]);
    let meta = fault(&["permission403:1"], "owner").await;
    assert_eq!((&meta["suggestions"], &meta["unread"]["code"]), (&alone, &json!("search_site_refused")));
    assert!(meta["unread"]["hint"].as_str().unwrap().contains("then sync") && meta.get("queries").is_none(), "{meta}");
    let meta = fault(&["permission403:1"], "editor").await;
    assert_eq!((&meta["suggestions"], &meta["unread"]), (&alone, &json!({ "code": "not_found" })));
    // The cached access token lasts an hour. Then the grant is needed again.
    app.hand.advance(TimeDelta::hours(2));
    let meta = fault(&["invalid_grant:1"], "owner").await;
    assert_eq!((&meta["suggestions"], &meta["unread"]["code"]), (&alone, &json!("search_account_disconnected")));
    assert!(meta["unread"]["hint"].as_str().unwrap().contains("Reconnect"), "{meta}");
}
