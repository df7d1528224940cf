//! Tests of the pages instead of numbers.

use url::form_urlencoded;

use super::{grouped, holds, json, path};
use crate::{
    faults,
    support::{
        app::{TestApp, shared},
        signed_in::Browser,
    },
};

#[tokio::test]
async fn a_stranger_signs_in_and_comes_back() {
    let browser = Browser::anonymous(shared());
    browser.get("/p/x/queries?offset=50").await.leads_to("/auth/login?return_to=/p/x/queries%3Foffset%3D50");
}

#[tokio::test]
async fn the_page_of_a_property_is_for_those_who_see_it() {
    let owner = Browser::signed_in(shared(), "owner").await;
    let at = path(&owner, "northmoor").await;
    let stranger = Browser::signed_in(shared(), "stranger").await;
    let (foreign, unknown) = (stranger.get(&at).await.expect(404), stranger.get("/p/none").await.expect(404));
    assert_eq!(foreign.body, unknown.body);
    assert!(foreign.body.contains("There is no site here that you can open"), "{}", foreign.body);
    owner.get(&format!("{at}/nothing")).await.expect(404);
}

#[tokio::test]
async fn a_question_that_cannot_be_answered_says_why() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (query, hint) in [
        ("color=red", "color: not a parameter here"),
        ("startDate=2026-10-01", "Last day: "),
        ("startDate=x&endDate=y", "First day: "),
        ("period=ever", "period: must be one of"),
        ("filters=x", "filters: "),
        ("tab=x", "tab: must be queries or pages"),
        ("compare=x", "compare: "),
        ("classification=x", "classification: "),
        ("startDate=2001-01-01&endDate=2001-02-01", "First day: must not be before"),
        ("offset=-1", "offset: not a parameter here"),
    ] {
        let page = browser.get(&format!("{at}?{query}")).await.expect(400);
        assert!(
            page.body.contains(hint)
                && (page.body.contains("Start again") || page.body.contains("href=\"?\">Usual days")),
            "{query}: {}",
            page.body
        );
        assert!(!page.body.contains("<script"), "{query}");
    }
    let unreadable = browser.get(&format!("{at}/where/bogus=1/overview")).await.expect(400);
    assert!(unreadable.body.contains("href=\"../../\">Start again"), "{}", unreadable.body);
    for query in ["sort=x", "rows=x", "least=x", "offset=-1", "offset=x"] {
        browser.get(&format!("{at}/queries?{query}")).await.expect(400);
    }
}

#[tokio::test]
async fn a_share_link_refuses_saved_filters() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let filters = serde_json::json!([{ "dimension": "country", "operator": "equals", "value": "usa" }]);
    let preset = owner.made("/api/filter-presets", &serde_json::json!({ "name": "Mine", "filters": filters })).await;
    let link = owner.post(&format!("/api/properties/{property}/share-links"), &serde_json::json!({})).await.expect(201);
    let shared = format!("/share/{}", link.json["data"]["token"].as_str().unwrap());
    for browser in [Browser::anonymous(&app), Browser::signed_in(&app, "owner").await] {
        browser.get(&shared).await.expect(200);
        let refused = browser.get(&format!("{shared}?preset={preset}")).await.expect(400);
        assert!(refused.body.contains("preset: not a parameter here; open the page without it"), "{}", refused.body);
        assert!(refused.body.contains("Start again"), "{}", refused.body);
    }
}

#[tokio::test]
async fn while_the_search_engine_is_away_the_rest_of_the_page_says_so() {
    let app = TestApp::start(faults::impatient).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    faults::trouble(&app, &["error500:1"]);
    // An error is the status of the page, unless its head is sent before.
    let page = browser.get(&at).await;
    assert!([200, 503].contains(&page.status.as_u16()), "{}", page.status);
    assert!(page.body.contains("The data cannot be read at the moment"), "{}", page.body);
    faults::trouble(&app, &[]);
}

#[tokio::test]
async fn while_the_search_engine_is_away_the_page_shows_what_is_kept_and_how_old_it_is() {
    let app = TestApp::start(faults::impatient).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    // Nothing is kept yet.
    faults::trouble(&app, &["quota403:1"]);
    let page = browser.get(&format!("{at}?compare=none")).await;
    holds(
        &page,
        &[
            "No earlier numbers of this site are kept.".to_owned(),
            "<a class=\"button\" href=\"\">Try again</a>".to_owned(),
        ],
    );
    assert!(!page.body.contains("What is still known"), "{}", page.body);
    faults::trouble(&app, &[]);
    let property = json(&browser, &format!("/api/properties/{}", &at[3..])).await;
    let headline = &property["data"]["headline"];
    faults::trouble(&app, &["quota403:1"]);
    let read_at: chrono::DateTime<chrono::Utc> = headline["cachedAt"].as_str().unwrap().parse().unwrap();
    for part in ["", "/queries", "/growth", "/insights"] {
        let page = browser.get(&format!("{at}{part}")).await;
        let total = |metric: &str| format!("<strong>{}</strong>", grouped(&headline["current"][metric]));
        holds(
            &page,
            &[
                "The data cannot be read at the moment".to_owned(),
                "What is still known".to_owned(),
                total("clicks"),
                total("impressions"),
                format!("<time datetime=\"{}\">", read_at.format("%Y-%m-%dT%H:%M:%SZ")),
                "<a class=\"button\" href=\"\">Try again</a>".to_owned(),
            ],
        );
    }
    faults::trouble(&app, &[]);
}

#[tokio::test]
async fn a_question_without_numbers_shows_no_empty_tables() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    let property = json(&browser, &format!("/api/properties/{}", &at[3..])).await;
    let last: chrono::NaiveDate = property["meta"]["freshness"]["lastFinalDate"].as_str().unwrap().parse().unwrap();
    let next = last + chrono::TimeDelta::days(1);
    let days = format!("startDate={next}&endDate={next}");
    let page = browser.get(&format!("{at}?{days}")).await.expect(200);
    let so_far = format!("?compare=none&amp;dataState=all&amp;endDate={next}&amp;startDate={next}");
    holds(&page, &["still counting these days".to_owned(), format!("<a href=\"{so_far}\">")]);
    assert!(!page.body.contains("0 of 0") && !page.body.contains("<table"), "{}", page.body);
    let counted = browser.get(&format!("{at}{}", so_far.replace("&amp;", "&"))).await.expect(200);
    assert!(counted.body.contains("<table"), "{}", counted.body);
    let filters = r#"[{"dimension":"query","operator":"equals","value":"nobody asks this"}]"#;
    let filters: String = form_urlencoded::byte_serialize(filters.as_bytes()).collect();
    let page = browser.follow(&format!("{at}?filters={filters}")).await.expect(200);
    assert!(page.body.contains("has no data for this question") && !page.body.contains("<table"), "{}", page.body);
    for (part, words) in [
        ("queries", "No row is left by these conditions."),
        ("growth", "has no data for this question"),
        ("insights", "has no data for this question"),
    ] {
        let page = browser.follow(&format!("{at}/{part}?filters={filters}")).await.expect(200);
        assert!(page.body.contains(words) && !page.body.contains("<table"), "{part}: {}", page.body);
    }
    // A site with more queries than are read has no complete list of new ones.
    for (rows, presence) in [("queries", "new"), ("queries", "lost"), ("pages", "new")] {
        let page = browser.get(&format!("{at}/{rows}?rows={presence}")).await.expect(200);
        let is_unsure =
            page.body.contains(&format!("No row is surely {presence}. Only the {rows} with the most clicks"));
        assert_eq!(is_unsure, rows == "queries", "{rows} {presence}: {}", page.body);
        assert!(!is_unsure || page.body.contains("/insights\">Insights</a> has those"), "{}", page.body);
    }
    let page = browser.get(&format!("{at}/queries?{days}")).await.expect(200);
    assert!(page.body.contains("still counting these days") && !page.body.contains("No row is left"), "{}", page.body);
    let page = browser.get(&format!("{at}/queries?offset=100000")).await.expect(200);
    assert!(
        page.body.contains("There are no rows this far.") && !page.body.contains("No row is left"),
        "{}",
        page.body
    );
}

#[tokio::test]
async fn no_condition_is_blamed_where_none_is_set() {
    let browser = Browser::signed_in(shared(), "stranger").await;
    let at = path(&browser, "quietmeadow").await;
    for part in ["", "/queries", "/pages", "/countries", "/growth", "/cannibalization", "/insights"] {
        let page = browser.get(&format!("{at}{part}?searchType=video")).await.expect(200);
        let says = page.body.contains("has no data for these days") && !page.body.contains("conditions");
        assert!(says && !page.body.contains("<table"), "{part}: {}", page.body);
    }
}

#[tokio::test]
async fn a_warning_about_days_names_them() {
    let browser = Browser::signed_in(shared(), "stranger").await;
    let at = path(&browser, "quietmeadow").await;
    let days = "startDate=2026-04-20&endDate=2026-04-30";
    let page = browser.get(&format!("{at}?{days}&compare=none")).await.expect(200);
    let (_, list) = page.body.split_once("<ul class=\"notice warn warnings\">").unwrap();
    let list = list.split_once("</ul>").unwrap().0;
    let shown: Vec<&str> =
        list.split("<li><strong>").skip(1).map(|item| item.split_once("</strong>: ").unwrap().0).collect();
    let asked = format!("/api/properties/{}/performance?{days}", &at[3..]);
    let meta = json(&browser, &asked).await["meta"].clone();
    let warnings = meta["warnings"].as_array().unwrap();
    assert_eq!(shown.len(), warnings.len(), "{warnings:?}");
    for (days, warning) in shown.iter().zip(warnings) {
        let year = &warning["endDate"].as_str().unwrap()[..4];
        assert!(days.contains(year), "{days}: {warning}");
    }
}

#[tokio::test]
async fn a_page_that_waits_leaves_the_only_connection_to_what_judges_it() {
    let app = TestApp::start(|config| config.database.max_connections = 1).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    app.simulator().controls().hold("");
    let unknown = "?classification=segment:0199d5c8-5c2a-7f43-8d4e-3f6b8c1a2d5e";
    for _ in 0..5 {
        browser.get(&format!("{at}{unknown}")).await.expect(404);
    }
    app.simulator().controls().release();
    let cold = browser.get(&at).await.expect(200);
    assert!(cold.body.contains("<title>Overview · northmoor.example · Sightline</title>"), "{}", cold.body);
}

#[tokio::test]
async fn the_head_of_a_page_comes_before_the_search_engine_answers() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    let cold = browser.get(&at).await.expect(200);
    let (head, rest) = cold.body.split_once("Reading from the search engine").unwrap();
    assert!(
        head.contains("<title>Overview · northmoor.example · Sightline</title>") && !head.contains("<h1>"),
        "{head}"
    );
    assert!(rest.contains("<h1><bdi dir=\"ltr\">northmoor.example</bdi></h1>"), "{rest}");
    let warm = browser.get(&at).await.expect(200);
    assert!(!warm.body.contains("Reading from the search engine"), "{}", warm.body);
    assert!(warm.body.contains("<title>Overview · northmoor.example · Sightline</title>"), "{}", warm.body);
    for (part, name) in [("queries", "Queries"), ("growth", "Growth"), ("notes", "Notes")] {
        let page = browser.get(&format!("{at}/{part}")).await.expect(200);
        assert!(page.body.contains(&format!("<title>{name} · northmoor.example · Sightline</title>")), "{}", page.body);
        assert_eq!(page.between("<h1>", "</h1>"), ["<bdi dir=\"ltr\">northmoor.example</bdi>"]);
    }
    let refused = browser.get(&format!("{at}?classification=x&period=last_7_days")).await.expect(400);
    assert!(refused.body.contains("classification: "), "{}", refused.body);
}

#[tokio::test]
async fn a_question_is_refused_before_the_search_engine_is_asked() {
    // Nothing is known of the site yet, and the search engine refuses everything: whatever is judged is judged without it.
    let app = TestApp::start(faults::impatient).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    faults::trouble(&app, &["error500:1"]);
    let condition = |number: usize| {
        let operator = if number.is_multiple_of(2) { "not_contains" } else { "contains" };
        let logic = if number.is_multiple_of(3) { r#","logic":"or""# } else { "" };
        format!(r#"{{"dimension":"page","operator":"{operator}","value":"text {number}"{logic}}}"#)
    };
    let many = (1..40).map(condition).collect::<Vec<_>>().join(",");
    let many = form_urlencoded::byte_serialize(format!("[{many}]").as_bytes()).collect::<String>();
    for (part, status, text) in [
        ("/growth?minPosition=x", 400, "minPosition: "),
        ("/cannibalization?minPageShare=2", 400, "minPageShare: "),
        ("/queries?sort=x", 400, "sort: "),
        ("/queries?rows=new&compare=none", 400, "rows: need a comparison"),
        ("/queries?searchType=discover&find=a", 200, "is not available for Discover."),
        ("?classification=segment:0199d5c8-5c2a-7f43-8d4e-3f6b8c1a2d5e", 404, "the property has no segment"),
        (&format!("?filters={many}"), 400, "filters"),
    ] {
        let page = browser.follow(&format!("{at}{part}")).await.expect(status);
        assert!(page.body.contains(text), "{part}: {}", page.body);
    }
    faults::trouble(&app, &[]);
}

#[tokio::test]
async fn what_is_too_long_for_a_question_is_refused_with_a_reason() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    let long = "(".repeat(22_000);
    for (address, reason) in [
        (format!("{at}/queries?find={long}"), "value: must be 1 to 4096 characters long"),
        (format!("{at}/growth?kind={long}"), "kind: must be one of rank, snippet"),
        (format!("/?search={long}"), "search: must be 1 to 200 characters long"),
    ] {
        let page = browser.get(&address).await.expect(400);
        assert!(page.body.contains(reason), "{}: {}", &address[..40], page.body);
    }
    browser.get(&format!("/share/unknown/queries.csv?filters={long}")).await.expect(404);
    let form = [("do", "brand.delete"), ("keyword", &"x".repeat(100_000))];
    let page = browser.post(&format!("{at}/settings"), &form).await.expect(400);
    assert!(page.body.contains("is too long"), "{}", page.body);
}
