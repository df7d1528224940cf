//! Links that are bound to days and to a part of the traffic.

use sea_orm::ConnectionTrait as _;
use serde_json::{Value, json};

use super::{super::contains, Board, condition, or, text};

/// Parameters and their values.
type Pairs<'a> = &'a [(&'a str, &'a str)];

/// The answer's figures.
fn figures(answer: &Value) -> [&Value; 2] {
    [&answer["data"], &answer["meta"]["window"]]
}

#[tokio::test]
async fn managers_see_what_a_link_binds_its_readers_to() {
    let board = Board::new().await;
    let plain = board.link(json!({})).await.made;
    assert_eq!(plain["show"], json!(["queries", "pages", "notes"]));
    for absent in ["window", "filters", "classification"] {
        assert!(plain.get(absent).is_none(), "{absent}");
    }
    let segment = board.owner.listed(&board.of("segments")).await[0]["id"].as_str().unwrap().to_owned();
    let bound = json!({
        "window": { "startDate": "2026-10-01", "endDate": "2026-10-31" },
        "filters": [condition("country", "equals", "usa"), or(condition("device", "equals", "MOBILE"))],
        "classification": format!("segment:{segment}"),
        "show": ["notes", "pages"],
    });
    let made = board.link(bound.clone()).await.made;
    let id = made["id"].as_str().unwrap();
    let listed = board.owner.listed(&board.of("share-links")).await;
    let one = board.owner.get(&format!("{}/{id}", board.of("share-links"))).await.expect(200).json["data"].clone();
    let viewer = board.app.actor("viewer").await.listed(&board.of("share-links")).await;
    let found = |list: &[Value]| list.iter().find(|link| link["id"] == made["id"]).unwrap().clone();
    for link in [&made, &found(&listed), &one, &found(&viewer)] {
        for field in ["window", "filters", "classification"] {
            assert_eq!(link[field], bound[field], "{field}");
        }
        assert_eq!(link["show"], json!(["pages", "notes"]));
    }
    let none = board.link(json!({ "filters": [], "show": [] })).await.made;
    assert_eq!((none.get("filters"), &none["show"]), (None, &json!([])));
    let export = text(&board.owner.get("/api/privacy/access").await.expect(200));
    let days = "\"window\":{\"startDate\":\"2026-10-01\",\"endDate\":\"2026-10-31\"}";
    assert!(export.contains(days) && export.contains("\"show\":[\"pages\",\"notes\"]"));
}

#[tokio::test]
async fn a_link_is_checked_as_a_question_is() {
    let board = Board::new().await;
    let window = |start: &str, end: &str| json!({ "window": { "startDate": start, "endDate": end } });
    let query = |n: usize| or(condition("query", "contains", &format!("q{n}")));
    let page = |n: usize| condition("page", "contains", &format!("p{n}"));
    let many: Vec<Value> = (0..4).flat_map(|n| [query(n), page(n)]).collect();
    for (body, status, hint) in [
        (json!({ "filters": [condition("country", "equals", "atlantis")] }), 400, "filters[0]"),
        (json!({ "filters": [condition("query", "matches_regex", "(")] }), 400, "filters[0]"),
        (json!({ "filters": [condition("colour", "equals", "red")] }), 400, "filters[0].dimension"),
        (json!({ "filters": many }), 400, "filters"),
        (json!({ "classification": format!("segment:{}", uuid::Uuid::nil()) }), 404, "classification: "),
        (json!({ "classification": format!("topicCluster:{}", uuid::Uuid::nil()) }), 404, "classification: "),
        (json!({ "classification": "red" }), 400, "classification"),
        (window("2026-10-02", "2026-10-01"), 400, "window.startDate"),
        (window("2020-10-02", "2026-10-01"), 400, "window.startDate: must not be before"),
        (window("2026-10-02", "2027-10-01"), 400, "window.endDate: must not be after"),
        (json!({ "window": { "startDate": "2026-10-01" } }), 400, "window.endDate"),
        (json!({ "window": { "startDate": "2026-10-01", "endDate": "2026-10-02", "days": 2 } }), 400, "window"),
        (json!({ "show": ["queries", "queries"] }), 400, "show"),
        (json!({ "show": ["clicks"] }), 400, "show[0]"),
    ] {
        let refused = board.owner.post(&board.of("share-links"), &body).await;
        assert_eq!(refused.status.as_u16(), status, "{body}: {}", text(&refused));
        assert!(refused.hint().starts_with(hint), "{body}: {}", refused.hint());
    }
    assert_eq!(board.owner.listed(&board.of("share-links")).await, [] as [Value; 0]);
}

#[tokio::test]
async fn the_page_of_fixed_days_opens_before_anything_is_cached() {
    let board = Board::new().await;
    let link = board.link(json!({ "window": { "startDate": "2026-10-01", "endDate": "2026-10-09" } })).await;
    let page = link.open("").await.expect(200);
    assert!(text(&page).contains("1 Oct – 9 Oct 2026"), "{}", text(&page));
    assert!(
        text(&page).contains("Newest days, kinds of search") && !text(&page).contains("Own dates"),
        "{}",
        text(&page)
    );
    let link = board.link(json!({ "window": { "startDate": "2026-09-01", "endDate": "2026-09-09" } })).await;
    link.open("/where/country=usa/overview").await.expect(200);
}

#[tokio::test]
async fn a_link_shows_its_own_days_and_no_others() {
    let board = Board::new().await;
    let days = [("startDate", "2026-10-01"), ("endDate", "2026-10-09")];
    let link = board.link(json!({ "window": { "startDate": days[0].1, "endDate": days[1].1 } })).await;
    let private = board.private(&[&days[..], &[("scope", "all")]].concat()).await;
    for question in [vec![("scope", "all")], [&days[..], &[("scope", "all")]].concat()] {
        let answer = link.ask(&question).await.expect(200).json;
        assert_eq!(figures(&answer), figures(&private));
        assert_eq!(answer["meta"]["question"]["startDate"], days[0].1);
    }
    let hour = link.ask(&[("dataState", "all"), ("granularity", "week")]).await.expect(200);
    assert_eq!(hour.json["meta"]["window"], private["meta"]["window"]);
    let others: [&[(&str, &str)]; 6] = [
        &[("startDate", "2026-10-01"), ("endDate", "2026-10-10")],
        &[("startDate", "2026-09-01"), ("endDate", "2026-09-10"), ("scope", "totals")],
        &[("compare", "previous_period")],
        &[("compare", "previous_year"), ("scope", "all")],
        &[("compareStart", "2026-09-01"), ("compareEnd", "2026-09-02")],
        &[("explain", "true")],
    ];
    let refused = link.ask(others[0]).await.expect(400);
    assert!(refused.hint().starts_with("startDate, endDate, compare"), "{}", refused.hint());
    for question in others {
        assert_eq!(link.ask(question).await.expect(400).bytes, refused.bytes, "{question:?}");
    }
}

/// What the search engine no longer has cannot be shown.
#[tokio::test]
async fn a_link_whose_days_are_gone_opens_nothing() {
    let board = Board::new().await;
    let link = board.link(json!({ "window": { "startDate": "2025-07-22", "endDate": "2025-07-30" } })).await;
    link.ask(&[]).await.expect(200);
    board.app.hand.advance(chrono::TimeDelta::days(3));
    let unknown = board.app.anonymous().get(&format!("/api/share/{}/performance", "A".repeat(43))).await.expect(404);
    assert_eq!(link.ask(&[]).await.expect(404).bytes, unknown.bytes);
}

#[tokio::test]
async fn a_link_is_about_its_own_traffic_and_never_says_which() {
    let board = Board::new().await;
    let rule = json!({ "name": "Hidden rule", "conditions": [contains("/running")] });
    let segment = format!("segment:{}", board.owner.made(&board.of("segments"), &rule).await);
    let own = json!([condition("country", "equals", "usa"), or(condition("country", "equals", "gbr"))]);
    let mobile = json!([condition("device", "equals", "MOBILE")]).to_string();
    let either =
        json!([condition("device", "equals", "MOBILE"), or(condition("device", "equals", "TABLET"))]).to_string();
    let filtered = board.link(json!({ "filters": own })).await;
    let classified = board.link(json!({ "classification": segment })).await;
    let (own, all) = (own.to_string(), ("scope", "all"));
    // Its conditions and the reader's are each in brackets, as a classification and filters are.
    let countries =
        json!([condition("country", "or_list", "usa,gbr"), condition("device", "equals", "MOBILE")]).to_string();
    let cases: [(_, Pairs, Pairs); 5] = [
        (&filtered, &[], &[("filters", &own)]),
        (&filtered, &[("filters", &mobile)], &[("filters", &countries)]),
        (&classified, &[], &[("classification", &segment)]),
        (&classified, &[("filters", &either)], &[("classification", &segment), ("filters", &either)]),
        (
            &classified,
            &[("compare", "previous_period"), ("explain", "true")],
            &[("compare", "previous_period"), ("explain", "true"), ("classification", &segment)],
        ),
    ];
    for (link, asked, private) in cases {
        let answer = link.ask(&[asked, &[all]].concat()).await.expect(200);
        let private = board.private(&[private, &[all]].concat()).await;
        for part in ["totals", "series", "previousSeries", "tables"] {
            assert_eq!(answer.json["data"][part], private["data"][part], "{asked:?} {part}");
        }
        let question = &answer.json["meta"]["question"];
        let filters = asked.iter().find(|(name, _)| *name == "filters").map(|(_, filters)| *filters);
        let expected: Option<Value> = filters.map(|filters| serde_json::from_str(filters).unwrap());
        assert_eq!((question.get("filters"), question.get("classification")), (expected.as_ref(), None));
        assert!(answer.json["meta"].get("labels").is_none());
        let said = text(&answer);
        assert!(!said.contains(&segment[8..]) && !said.contains("Hidden rule"), "{asked:?}");
    }
    // The rest of the property cannot be told from the shares.
    let coverage = filtered.ask(&[all]).await.expect(200).json["meta"]["coverage"]["countries"].clone();
    assert_eq!((&coverage["clicksShare"], &coverage["sliceShare"]), (&json!(1.0), &json!(1.0)));
    let brand = board.link(json!({ "classification": "branded" })).await;
    let coverage = brand.ask(&[all]).await.expect(200).json["meta"]["coverage"]["devices"].clone();
    assert_eq!((&coverage["clicksShare"], &coverage["sliceShare"]), (&json!(1.0), &json!(1.0)));
    let discover = filtered.ask(&[("searchType", "discover")]).await.expect(200);
    assert_eq!(discover.json["meta"]["searchType"], "discover");
    let refused = brand.ask(&[("searchType", "discover")]).await;
    assert_eq!(refused.code(), "not_available_for_search_type");
    assert!(!refused.hint().contains("query"), "{}", refused.hint());
}

/// Records of the property that an editor may change, and the classification that each stands for.
async fn classified(board: &Board) -> Vec<(String, String)> {
    let mut found = vec![(String::new(), "branded".to_owned()), (String::new(), "nonBranded".to_owned())];
    for (list, kind) in [("segments", "segment"), ("topic-clusters", "topicCluster")] {
        let record = json!({ "name": "Pinned", "conditions": [contains("a"), contains("e")] });
        let id = board.owner.made(&board.of(list), &record).await;
        found.push((format!("{}/{id}", board.of(list)), format!("{kind}:{id}")));
    }
    found
}

#[tokio::test]
async fn a_link_keeps_its_classification_whatever_becomes_of_the_records() {
    let board = Board::new().await;
    let editor = board.app.actor("editor").await;
    let (asked, later) = ([("scope", "all")], [("startDate", "2026-09-02"), ("endDate", "2026-09-20")]);
    let mut links = Vec::new();
    for (record, classification) in classified(&board).await {
        let link = board.link(json!({ "classification": classification })).await;
        let before = link.ask(&asked).await.expect(200).json;
        // Nobody asks this by the link before the record changes.
        let other = board.private(&[&later[..], &[("classification", &*classification)]].concat()).await;
        let kept = link.made["pinned"].clone();
        if classification.contains(':') {
            assert_eq!(kept, json!({ "conditions": [contains("a"), contains("e")] }), "{classification}");
        } else {
            let keywords = board.owner.listed(&board.of("branded-keywords")).await;
            let keywords: Vec<_> = keywords.iter().map(|keyword| &keyword["keyword"]).collect();
            assert_eq!(kept, json!({ "keywords": keywords }), "{classification}");
        }
        links.push((record, link, before, other));
    }
    let holds = async |what: &str| {
        for (record, link, before, other) in &links {
            let (again, other_days) =
                (link.ask(&asked).await.expect(200).json, link.ask(&later).await.expect(200).json);
            assert_eq!(figures(&again), figures(before), "{what} {record}");
            assert_eq!(other_days["data"]["totals"], other["data"]["totals"], "{what} {record}");
            let listed = board.owner.listed(&board.of("share-links")).await;
            let found = listed.iter().find(|one| one["id"] == link.made["id"]).unwrap();
            assert_eq!(found["pinned"], link.made["pinned"], "{what} {record}");
        }
    };
    let wider = json!({ "name": "Wider", "conditions": [{ "operator": "matches_regex", "value": "." }] });
    for (record, ..) in links.iter().filter(|(record, ..)| !record.is_empty()) {
        editor.put(record, &wider).await.expect(200);
    }
    let keyword = json!({ "keywords": ["a", "e", "i", "o", "u"] });
    editor.post(&board.of("branded-keywords"), &keyword).await.expect(201);
    holds("changed").await;
    for (record, ..) in links.iter().filter(|(record, ..)| !record.is_empty()) {
        editor.delete(record).await.expect(204);
    }
    for keyword in board.owner.listed(&board.of("branded-keywords")).await {
        let path = format!("{}?keyword={}", board.of("branded-keywords"), keyword["keyword"].as_str().unwrap());
        editor.delete(&path).await.expect(204);
    }
    holds("deleted").await;
}

/// Version 0.1.0 stored which classification a link has, and not what it stood for.
#[tokio::test]
async fn older_links_keep_their_classification_from_the_upgrade_on() {
    let board = Board::new().await;
    let unknown = board.app.anonymous().get(&format!("/api/share/{}/performance", "A".repeat(43))).await.expect(404);
    let db = &board.app.service.db;
    let mut links = Vec::new();
    for (record, classification) in classified(&board).await {
        let link = board.link(json!({ "classification": classification })).await;
        let before = link.ask(&[]).await.expect(200).json;
        links.push((record, link, before));
    }
    let gone = json!({ "name": "Gone", "conditions": [contains("a")] });
    let gone = board.owner.made(&board.of("segments"), &gone).await;
    let of_gone = board.link(json!({ "classification": format!("segment:{gone}") })).await;
    db.execute_unprepared("UPDATE share_link SET pinned = NULL").await.unwrap();
    board.owner.delete(&format!("{}/{gone}", board.of("segments"))).await.expect(204);
    assert_eq!(of_gone.ask(&[]).await.expect(404).bytes, unknown.bytes);

    board.app.service.sweep().await;
    for (record, link, before) in &links {
        if !record.is_empty() {
            board.owner.delete(record).await.expect(204);
        }
        assert_eq!(figures(&link.ask(&[]).await.expect(200).json), figures(before), "{record}");
    }
    let listed = board.owner.listed(&board.of("share-links")).await;
    for (_, link, _) in &links {
        assert_eq!(listed.iter().find(|one| one["id"] == link.made["id"]), Some(&link.made), "with its version");
    }
    assert_eq!(of_gone.ask(&[]).await.expect(404).bytes, unknown.bytes);
    let page = board.app.anonymous().get(&format!("/share/{}", "A".repeat(43))).await.expect(404);
    assert_eq!(of_gone.open("").await.expect(404).bytes, page.bytes);
}

#[tokio::test]
async fn links_to_one_property_share_no_answer() {
    let board = Board::new().await;
    let country = |code: &str| json!({ "filters": [condition("country", "equals", code)] });
    let (usa, gbr, all) =
        (board.link(country("usa")).await, board.link(country("gbr")).await, board.link(json!({})).await);
    let hiding = board.link(json!({ "show": [] })).await;
    let question = [("scope", "all")];
    let mut seen: Vec<(Vec<u8>, String)> = Vec::new();
    for link in [&usa, &gbr, &all, &hiding] {
        let first = link.ask(&question).await.expect(200);
        let again = link.ask(&question).await.expect(200);
        assert_eq!((&first.bytes, first.header("etag")), (&again.bytes, again.header("etag")));
        assert!(seen.iter().all(|(bytes, tag)| *bytes != first.bytes && tag != first.header("etag")));
        // The tag of another link's answer finds nothing here.
        let path = format!("/api/share/{}/performance?scope=all", link.token());
        for (_, tag) in &seen {
            let headers = [("if-none-match", tag.as_str())];
            board.app.anonymous().send(poem::http::Method::GET, &path, None, &headers).await.expect(200);
        }
        let own = [("if-none-match", first.header("etag"))];
        board.app.anonymous().send(poem::http::Method::GET, &path, None, &own).await.expect(304);
        seen.push((first.bytes.clone(), first.header("etag").to_owned()));
    }
    let clicks = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["data"]["totals"]["clicks"].clone();
    assert_ne!(clicks(&seen[0].0), clicks(&seen[1].0));
    assert_eq!(clicks(&seen[2].0), clicks(&seen[3].0));
}
