//! Tests of the explanation of a change in clicks: every part of every sum is compared with the generator's cells.

mod expected;

use std::cell::Cell;

use serde_json::{Value, json};

use self::expected::{Both, Partition, check_brand, check_effects, close};
use super::{
    cases::{BEFORE, DAY, DAY_BEFORE, MONTH, TAIL, UNBORN, WEEK, slices, windows},
    checks::{CEILING, coverage},
    curve::Curve,
    each, each_of,
};
use crate::{
    analytics::{
        case::{Case, People, SMALL, SOFTWARE, YOUNG},
        performance::Asker,
    },
    support::{
        app::TestApp,
        class::Class,
        oracle::{Count, Keys, by_country, by_device, by_page, by_query, tally},
    },
};

const OPERATION: &str = "performance";

/// Checks that each partition of `found` adds up to the change by itself, from nothing but the answer.
fn check_sums(found: &Value) {
    let change = found["clicksChange"].as_i64().unwrap();
    let number = |value: &Value| value.as_i64().unwrap();
    for name in ["queries", "pages", "countries", "devices"] {
        let Some(table) = found.get(name) else { continue };
        let parts = ["gains", "losses", "remainder"].map(|part| number(&table[part]["clicksChange"]));
        let difference = table.get("countingDifference").map_or(0, number);
        assert_eq!(parts.iter().sum::<i64>() + difference, change, "{name}");
        assert_eq!(table.get("countingDifference").is_some(), name == "pages");
    }
    if let Some(brand) = found.get("brand") {
        let parts = ["branded", "nonBranded", "remainder"].map(|part| number(&brand[part]["clicksChange"]));
        assert_eq!(parts.iter().sum::<i64>(), change);
    }
    let effect = |name: &str| found["effects"][name].as_f64();
    close(&json!(effect("demand").unwrap() + effect("rate").unwrap()), change as f64);
    if let Some((position, ctr)) = effect("position").zip(effect("ctr")) {
        close(&json!(position + ctr), effect("rate").unwrap());
    }
}

/// The largest effects seen, so that a test of nothing fails.
type Seen = Cell<[f64; 5]>;

fn check(case: &Case, json: &Value, seen: &Seen) {
    let found = &json["data"]["explanation"];
    let (count, limit) = (case.count(), usize::try_from(case.integer("explainLimit", "10")).unwrap());
    let (whole, by_page_whole) = (Both::of(case, count), Both::of(case, Count::ByPage));
    let windows = case.compared().unwrap();
    let curve = Curve::over(case, &windows);
    assert_eq!(found["clicksChange"], whole.change());
    assert_eq!(found["clicksChange"], json["data"]["totals"]["change"]["clicks"]["absolute"]);
    assert_eq!(found["curve"], curve.name());
    check_sums(found);
    let rows = |count, keys: Keys<'_>| Partition {
        now: case.rows_by(count, keys, windows[0]),
        before: case.rows_by(count, keys, windows[1]),
    };
    let queries = rows(count, &by_query);
    let position = queries.check(&found["queries"], whole, limit, &curve, true);
    let [demand, rate, ..] = whole.effects(&curve);
    check_effects(&found["effects"], [demand, rate, position, rate - position], true);
    let pages = rows(Count::ByPage, &by_page);
    pages.check(&found["pages"], by_page_whole, limit, &curve, false);
    assert_eq!(found["pages"]["countingDifference"], whole.change() - by_page_whole.change());
    let (countries, devices) = (rows(count, &by_country), rows(count, &by_device));
    countries.check(&found["countries"], whole, limit, &curve, false);
    devices.check(&found["devices"], whole, limit, &curve, false);
    if case.keywords {
        check_brand(case, &found["brand"], whole, &queries, &curve);
    } else {
        assert!(found.get("brand").is_none(), "nothing is branded or not");
    }
    let partitions = [("queries", count, &queries), ("pages", Count::ByPage, &pages)];
    for (name, count, rows) in
        partitions.into_iter().chain([("countries", count, &countries), ("devices", count, &devices)])
    {
        let listed = ["gains", "losses"].iter().flat_map(|side| found[name][side]["rows"].as_array().unwrap());
        let now = |key: &str| rows.now.get(key).copied().unwrap_or_default();
        let shown = tally(listed.map(|row| now(row["key"].as_str().unwrap())));
        let (known, moved) = rows.tallies();
        let ceiling = if matches!(name, "queries" | "pages") { CEILING } else { 25_000 };
        coverage(case, (&found["coverage"][name], ceiling), count, windows[0], (Some((shown, Some(moved))), known));
    }
    let remainder = found["queries"]["remainder"]["clicksChange"].as_f64().unwrap();
    let mut most = seen.get();
    most.iter_mut()
        .zip([demand, rate, position, remainder, found["queries"]["gains"]["leftOut"].as_f64().unwrap()])
        .for_each(|(most, found)| *most = most.max(found.abs()));
    seen.set(most);
}

pub fn check_case(case: &Case, json: &Value) {
    check(case, json, &Cell::default());
}

fn explained(case: Case) -> Case {
    case.with("explain", "true")
}

#[tokio::test]
async fn every_partition_equals_the_cells_and_adds_up_in_every_window() {
    let seen = Seen::default();
    let cases = windows().into_iter().filter(|case| case.before.is_some()).map(explained);
    let more = [Case::of(SOFTWARE, WEEK).against(MONTH).with("explainLimit", "3")].map(explained);
    each(OPERATION, &cases.chain(more).collect::<Vec<_>>(), |case, json| check(case, json, &seen)).await;
    assert!(seen.get().iter().all(|most| *most > 3.0), "{:?}", seen.get());
}

#[tokio::test]
async fn every_partition_equals_the_cells_and_adds_up_in_every_slice() {
    let seen = Seen::default();
    let cases: Vec<Case> = slices().into_iter().filter(|case| case.before.is_some()).map(explained).collect();
    each(OPERATION, &cases, |case, json| check(case, json, &seen)).await;
    assert!(seen.get().iter().all(|most| *most > 0.5), "{:?}", seen.get());
}

#[tokio::test]
async fn the_same_window_twice_has_nothing_to_explain() {
    each(OPERATION, &[explained(Case::of(SMALL, WEEK).against(WEEK))], |case, json| {
        check_case(case, json);
        let found = &json["data"]["explanation"];
        assert_eq!(found["effects"], json!({ "demand": 0.0, "rate": 0.0, "position": 0.0, "ctr": 0.0 }));
        assert_eq!((&found["queries"]["gains"]["rows"], &found["queries"]["losses"]["rows"]), (&json!([]), &json!([])));
    })
    .await;
}

#[tokio::test]
async fn only_final_days_are_explained() {
    let cases = [(TAIL, ("2026-11-04", "2026-11-12")), (("2026-11-04", "2026-11-12"), TAIL)];
    let cases = cases.map(|(window, before)| explained(Case::of(SMALL, window).against(before)));
    each(OPERATION, &cases, |case, json| {
        check_case(case, json);
        let compared = &json["meta"]["days"]["compared"];
        assert_eq!((&compared["current"]["startDate"], &compared["shortened"]), (&case.window.0.into(), &true.into()));
    })
    .await;
}

#[tokio::test]
async fn without_a_final_day_there_is_nothing_to_explain() {
    let asker = Asker::small().await;
    for windows in [[("2026-11-19", "2026-11-21"), WEEK], [WEEK, ("2026-11-19", "2026-11-21")]] {
        let [(start, end), (before, until)] = windows;
        let more = [("compareStart", before), ("compareEnd", until), ("explain", "true")];
        let json = asker.window(start, end, &more).await;
        assert!(json["data"].get("explanation").is_none() && json["data"]["totals"].get("change").is_none(), "{json}");
        assert!(json["meta"]["days"].get("compared").is_none(), "{json}");
    }
}

#[tokio::test]
async fn a_window_without_impressions_makes_the_whole_change_demand() {
    each(OPERATION, &[explained(Case::of(YOUNG, WEEK).against(UNBORN))], |case, json| {
        check_case(case, json);
        let found = &json["data"]["explanation"];
        let change = found["clicksChange"].as_f64().unwrap();
        assert!(change > 0.0);
        assert_eq!(found["effects"], json!({ "demand": change, "rate": 0.0, "position": 0.0, "ctr": 0.0 }));
        assert_eq!(found["queries"]["new"]["clicksChange"], found["queries"]["gains"]["clicksChange"]);
    })
    .await;
}

#[tokio::test]
async fn an_explanation_needs_a_comparison() {
    let asker = Asker::small().await;
    let refused = asker.ask(&[("explain", "true")]).await.expect(400);
    assert_eq!(refused.code(), "invalid_request");
    assert!(refused.hint().starts_with("explain: ") && refused.hint().contains("compareStart"), "{}", refused.hint());
    let json = asker.window(WEEK.0, WEEK.1, &[("compareStart", BEFORE.0), ("compareEnd", BEFORE.1)]).await;
    assert!(json["data"].get("explanation").is_none(), "only if asked for");
    for limit in ["0", "101", "all"] {
        let refused = asker.ask(&[("explainLimit", limit)]).await.expect(400);
        assert!(refused.hint().contains("explainLimit"), "{}", refused.hint());
    }
}

#[tokio::test]
async fn feeds_are_explained_without_queries_and_positions() {
    let asker = Asker::paper().await;
    let question = [("compareStart", DAY_BEFORE.0), ("compareEnd", DAY_BEFORE.1), ("explain", "true")];
    for (search_type, lacking) in [("discover", &["queries", "devices"][..]), ("googleNews", &["queries"])] {
        let json = asker.window(DAY.0, DAY.1, &[&question[..], &[("searchType", search_type)]].concat()).await;
        let found = &json["data"]["explanation"];
        check_sums(found);
        assert_eq!(found["clicksChange"], json["data"]["totals"]["change"]["clicks"]["absolute"]);
        assert_eq!((&found["effects"]["position"], found.get("brand"), found.get("curve")), (&Value::Null, None, None));
        for name in ["queries", "pages", "countries", "devices"] {
            let available = !lacking.contains(&name);
            assert_eq!(found.get(name).is_some(), available, "{search_type} {name}");
            assert_eq!(found["coverage"][name]["available"], available, "{search_type} {name}");
        }
    }
}

/// The texts of the events, each with the windows that it overlaps.
fn events(found: &Value) -> Vec<(&str, &str)> {
    let events = found["events"].as_array().unwrap();
    events.iter().map(|event| (event["text"].as_str().unwrap(), event["overlaps"].as_str().unwrap())).collect()
}

#[tokio::test]
async fn annotations_of_both_windows_are_listed_as_events() {
    let app = TestApp::start(|_| {}).await;
    let people = People::of(&app).await;
    let asker = people.asker(SMALL);
    let case = explained(Case::of(SMALL, WEEK).against(BEFORE));
    let ask =
        async |case: &Case| case.ask(&people, OPERATION, &[]).await.expect(200).json["data"]["explanation"].clone();
    let path = format!("/api/properties/{}/annotations", asker.property);
    for note in asker.actor.listed(&path).await {
        asker.actor.delete(&format!("{path}/{}", note["id"].as_str().unwrap())).await.expect(204);
    }
    assert_eq!(events(&ask(&case).await), []);
    let notes = [
        ("Redesign", "2026-10-06", None),
        ("Sale", "2026-10-01", Some("2026-10-06")),
        ("Outage", "2026-09-20", Some("2026-09-28")),
        ("In between", "2026-10-03", Some("2026-10-04")),
        ("Afterwards", "2026-10-12", None),
    ];
    for (text, date, end) in notes {
        let mut note = json!({ "date": date, "text": text });
        if let Some(end) = end {
            note["endDate"] = end.into();
        }
        asker.actor.made(&path, &note).await;
    }
    let found = ask(&case).await;
    assert_eq!(events(&found), [("Redesign", "current"), ("Sale", "both"), ("Outage", "previous")]);
    assert_eq!((&found["eventsLeftOut"], &found["events"][0]["source"]), (&0.into(), &"user".into()));
    let short = ask(&case.clone().with("explainLimit", "2")).await;
    assert_eq!((events(&short).len(), &short["eventsLeftOut"]), (2, &1.into()));
    let year_before = Case::of(SMALL, ("2025-09-09", "2025-09-12")).against(("2025-09-01", "2025-09-05"));
    let found = ask(&explained(year_before)).await;
    let system = found["events"].as_array().unwrap().iter().filter(|event| event["source"] == "system");
    let days: Vec<(&str, &str)> =
        system.map(|event| (event["date"].as_str().unwrap(), event["overlaps"].as_str().unwrap())).collect();
    assert_eq!(days, [("2025-09-10", "current"), ("2025-08-26", "both"), ("2025-05-13", "both")]);
}

#[tokio::test]
async fn without_branded_keywords_no_query_is_called_branded() {
    let app = TestApp::start(|_| {}).await;
    let people = People::of(&app).await;
    let asker = people.asker(SMALL);
    let path = format!("/api/properties/{}/branded-keywords", asker.property);
    for keyword in asker.actor.get(&path).await.expect(200).json["data"].as_array().unwrap() {
        let keyword = keyword["keyword"].as_str().unwrap().replace(' ', "%20");
        asker.actor.delete(&format!("{path}?keyword={keyword}")).await;
    }
    let case = explained(Case::of(SMALL, WEEK).against(BEFORE)).without_keywords();
    each_of(&people, OPERATION, &[case], check_case).await;
}

#[tokio::test]
async fn readers_of_a_share_link_get_the_same_explanation() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let link =
        owner.post(&format!("/api/properties/{property}/share-links"), &json!({ "name": "Board" })).await.expect(201);
    let path = format!("/api/share/{}/performance", link.json["data"]["token"].as_str().unwrap());
    let question = [
        ("startDate", "2026-11-11"),
        ("endDate", "2026-11-12"),
        ("compareStart", "2026-11-09"),
        ("compareEnd", "2026-11-10"),
    ];
    let explained = [&question[..], &[("explain", "true"), ("explainLimit", "3")]].concat();
    let private = owner.ask(&format!("/api/properties/{property}/performance"), &explained).await.expect(200);
    let seen = app.anonymous().ask(&path, &explained).await.expect(200);
    assert!(seen.json["data"]["explanation"].is_object());
    assert_eq!(seen.json["data"], private.json["data"]);
    let shared = app.anonymous().ask(&path, &question).await.expect(200);
    assert!(shared.json["data"].get("explanation").is_none(), "{}", shared.json["data"]);
    assert!(shared.json["data"]["totals"]["change"].is_object());
}

#[tokio::test]
async fn explained_classes_keep_their_own_totals() {
    let case = |class| explained(Case::of(SOFTWARE, DAY).against(DAY_BEFORE).class(class)).with("explainLimit", "100");
    each(OPERATION, &[case(Class::Branded), case(Class::NonBranded)], |case, json| {
        check_case(case, json);
        let found = &json["data"]["explanation"];
        let other = if case.class == Some(Class::Branded) { "nonBranded" } else { "branded" };
        assert_eq!(found["brand"][other]["current"]["impressions"], 0, "the question excludes them");
        assert_eq!(found["queries"]["remainder"]["impressions"], 0, "anonymised queries match no condition");
    })
    .await;
}
