//! Links that hide queries, pages or annotations.

use serde_json::{Value, json};

use super::{super::contains, Board, Link, condition, or, text};

/// Questions about a hidden dimension, and values of it.
async fn questions(board: &Board, dimension: &str, table: &str, canary: &str) -> Vec<Vec<(String, String)>> {
    let filters = |conditions: Value| vec![("filters".to_owned(), conditions.to_string())];
    let pairs = |pairs: &[(&str, &str)]| -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    let mut asked: Vec<_> = ["contains", "not_contains", "equals", "matches_regex", "or_list"]
        .map(|operator| filters(json!([condition(dimension, operator, canary)])))
        .to_vec();
    asked.push(filters(json!([condition("country", "equals", "usa"), or(condition(dimension, "equals", canary))])));
    asked.push(filters(json!([
        condition(dimension, "or_list", &format!("x,{canary}")),
        condition("device", "equals", "MOBILE")
    ])));
    let (list, kind) = if table == "queries" { ("topic-clusters", "topicCluster") } else { ("segments", "segment") };
    let rule = json!({ "name": format!("rule on {table}"), "conditions": [contains(canary)] });
    let id = board.owner.made(&board.of(list), &rule).await;
    for id in [id, uuid::Uuid::nil().to_string()] {
        asked.push(pairs(&[("classification", &format!("{kind}:{id}"))]));
    }
    if table == "queries" {
        asked.extend(["branded", "nonBranded"].map(|kind| pairs(&[("classification", kind)])));
    }
    let named = format!("{table}.clicks>0");
    asked.extend([
        pairs(&[("scope", "tables")]),
        pairs(&[("sort", "-clicks"), ("scope", "all")]),
        pairs(&[("sort", "position")]),
        pairs(&[("sort", "-change.clicks"), ("compare", "previous_period")]),
        pairs(&[("metricFilters", "clicks>0"), ("scope", "all")]),
        pairs(&[("metricFilters", &named)]),
        pairs(&[("metricFilters", "presence=new"), ("compare", "previous_period")]),
        pairs(&[("metricFilters", "change.clicks<0"), ("compare", "previous_period"), ("scope", "all")]),
        pairs(&[("metricFilters", &format!("{table}.presence=lost")), ("compare", "previous_period")]),
        pairs(&[("metricFilters", &format!("{table}.change.position>=1")), ("compare", "previous_period")]),
        pairs(&[("metricFilters", &format!("countries.clicks>0,{table}.presence=both")), ("compare", "previous_year")]),
        pairs(&[("explain", "true"), ("compare", "previous_period")]),
        pairs(&[("explain", "true")]),
    ]);
    asked
}

async fn asked(link: &Link<'_>, question: &[(String, String)]) -> crate::support::actor::Answer {
    let pairs: Vec<(&str, &str)> = question.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    link.ask(&pairs).await
}

/// Asks the page of a link and its files the same question. Fails if one of them answers it, or has the canary.
async fn refused_elsewhere(board: &Board, link: &Link<'_>, question: &[(String, String)], canary: &str) {
    let pairs: Vec<(&str, &str)> = question.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    for part in ["", "/queries.csv", "/pages.csv"] {
        let path = format!("/share/{}{part}", link.token());
        let mut answer = board.app.anonymous().ask(&path, &pairs).await;
        if answer.status == 303 {
            // The page has conditions in its path.
            answer = board.app.anonymous().get(answer.header("location")).await;
        }
        let answer = answer.expect(400);
        assert!(!sings(&text(&answer), canary), "{part} {question:?}");
    }
}

/// Returns whether a text has a canary, in any of the ways that the answers write one.
fn sings(text: &str, canary: &str) -> bool {
    let coded: String = url::form_urlencoded::byte_serialize(canary.as_bytes()).collect();
    [canary, &coded, &canary.replace(' ', "%20")].iter().any(|form| text.to_lowercase().contains(&form.to_lowercase()))
}

#[tokio::test]
async fn a_hidden_query_is_in_no_answer_however_it_is_asked_for() {
    let board = Board::new().await;
    let canary = board.queries().await.swap_remove(0);
    let (open, hiding) = (board.link(json!({})).await, board.link(json!({ "show": ["pages", "notes"] })).await);
    let all = [("scope", "all"), ("queryLimit", "5000")];
    assert!(sings(&text(&open.ask(&all).await.expect(200)), &canary), "{canary}");
    let refused = hiding.ask(&[("scope", "tables")]).await.expect(400);
    assert!(refused.hint().starts_with("scope, sort, explain"), "{}", refused.hint());
    for question in questions(&board, "query", "queries", &canary).await {
        let answer = asked(&hiding, &question).await.expect(400);
        assert_eq!(answer.bytes, refused.bytes, "{question:?}");
        refused_elsewhere(&board, &hiding, &question, &canary).await;
    }
    let usa = json!([condition("country", "equals", "usa")]).to_string();
    let page = json!([condition("page", "contains", "/")]).to_string();
    let allowed: [&[(&str, &str)]; 10] = [
        &all,
        &[],
        &[("scope", "totals")],
        &[("scope", "all"), ("queryOffset", "3"), ("queryLimit", "1")],
        &[("scope", "all"), ("compare", "previous_period"), ("includeSystem", "true")],
        &[("scope", "all"), ("searchType", "image")],
        &[("scope", "all"), ("filters", &usa)],
        &[("scope", "all"), ("filters", &page)],
        &[("scope", "all"), ("metricFilters", "pages.clicks>3,countries.clicks>0")],
        &[
            ("scope", "all"),
            ("metricFilters", "pages.change.clicks<0,countries.presence=both"),
            ("compare", "previous_period"),
        ],
    ];
    for question in allowed {
        let answer = hiding.ask(question).await.expect(200);
        assert!(!sings(&text(&answer), &canary), "{question:?}");
        let tables = &answer.json["data"]["tables"];
        assert!(tables.get("queries").is_none(), "{question:?}");
        if question.contains(&("scope", "all")) {
            assert!(tables["pages"].is_array() && tables["countries"].is_array(), "{question:?}");
            let coverage = answer.json["meta"]["coverage"]["queries"].as_object().unwrap();
            assert_eq!(coverage.keys().collect::<Vec<_>>(), ["available", "reason"], "{question:?}");
        }
    }
    for part in [
        "",
        "?tab=queries",
        "?tab=pages&metric=position&compare=none",
        "?compare=previous_year&dataState=all",
        "/pages.csv",
        "/pages.csv?compare=previous_period&metricFilters=pages.presence=new",
        "/queries.csv",
        "/queries.csv?compare=previous_period",
    ] {
        let answer = hiding.open(part).await.expect(if part.starts_with("/queries.csv") { 400 } else { 200 });
        assert!(!sings(&text(&answer), &canary), "{part}");
    }
    // What is asked of the link that shows them is not what this link remembers.
    assert!(sings(&text(&open.ask(&all).await.expect(200)), &canary));
    assert!(!sings(&text(&hiding.ask(&all).await.expect(200)), &canary));
}

#[tokio::test]
async fn a_hidden_page_is_in_no_answer_however_it_is_asked_for() {
    let board = Board::new().await;
    let tables = board.private(&[("scope", "tables")]).await;
    let canary = tables["data"]["tables"]["pages"][1]["key"].as_str().unwrap().to_owned();
    let hiding = board.link(json!({ "show": ["queries"] })).await;
    let refused = hiding.ask(&[("scope", "tables")]).await.expect(400);
    for question in questions(&board, "page", "pages", &canary).await {
        assert_eq!(asked(&hiding, &question).await.expect(400).bytes, refused.bytes, "{question:?}");
        refused_elsewhere(&board, &hiding, &question, &canary).await;
    }
    for question in [&[("scope", "all")][..], &[("scope", "all"), ("classification", "branded")]] {
        let answer = hiding.ask(question).await.expect(200);
        assert!(!sings(&text(&answer), &canary), "{question:?}");
        let tables = &answer.json["data"]["tables"];
        assert!(tables.get("pages").is_none() && tables["queries"].is_array(), "{question:?}");
        assert_eq!(answer.json["meta"]["coverage"]["pages"]["available"], false);
    }
    for (part, status) in [("", 200), ("/queries.csv", 200), ("/pages.csv", 400)] {
        assert!(!sings(&text(&hiding.open(part).await.expect(status)), &canary), "{part}");
    }
    // The same refusal for both tables.
    let both = board.link(json!({ "show": [] })).await;
    let query = json!([condition("query", "equals", "a")]).to_string();
    for question in [("filters", query.as_str()), ("sort", "clicks"), ("classification", "branded")] {
        assert_eq!(both.ask(&[question]).await.expect(400).bytes, refused.bytes, "{question:?}");
    }
    let tables = both.ask(&[("scope", "all")]).await.expect(200).json["data"]["tables"].clone();
    assert_eq!(tables.as_object().unwrap().keys().collect::<Vec<_>>(), ["countries", "devices", "searchAppearances"]);
}

#[tokio::test]
async fn a_link_explains_changes_and_may_hide_annotations() {
    let board = Board::new().await;
    let note = json!({ "date": "2026-11-03", "text": "A note for colleagues" });
    board.owner.post(&board.of("annotations"), &note).await.expect(201);
    let question = [("compare", "previous_year"), ("explain", "true"), ("includeSystem", "true"), ("scope", "all")];
    let private = board.private(&question).await;
    let open = board.link(json!({})).await.ask(&question).await.expect(200);
    assert_eq!(open.json["data"], private["data"]);
    assert_eq!(open.json["meta"]["question"], private["meta"]["question"]);
    assert!(text(&open).contains("A note for colleagues"));
    let quiet = board.link(json!({ "show": ["queries", "pages"] })).await.ask(&question).await.expect(200);
    assert!(!text(&quiet).contains("A note for colleagues"));
    let data = &quiet.json["data"];
    assert!(data.get("events").is_none());
    assert_eq!((&data["explanation"]["events"], &data["explanation"]["eventsLeftOut"]), (&json!([]), &json!(0)));
    assert_eq!(data["explanation"]["queries"], private["data"]["explanation"]["queries"]);
}
