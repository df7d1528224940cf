//! Numbers of one answer agree: `change` is current minus previous to the last digit, both sides count as many days unless the
//! answer warns, and an independent sum says the same. Windows, states of the data and comparisons are drawn.

use chrono::{Days, NaiveDate};
use rand::{Rng as _, SeedableRng as _, rngs::SmallRng};
use serde_json::{Value, json};

use super::{
    breakdowns::{csv::read, export::difference},
    performance::{Asker, SMALL, truth},
};
use crate::support::{
    actor::{Actor, Answer},
    app::{TestApp, shared},
    assistant::Assistant,
    oracle::{Count, Sum, all, day},
};

const NAMES: [&str; 5] = [
    "previous_period",
    "previous_period_same_weekdays",
    "previous_calendar_period",
    "previous_year",
    "previous_year_same_weekdays",
];

/// The parameters of a drawn question.
type Query = Vec<(&'static str, String)>;

fn drawn_window(draw: &mut SmallRng) -> [String; 2] {
    let today = day("2026-11-21");
    // One question in three is about whole months, and half of the others come close to today.
    let (start, end) = match draw.random_range(0..6) {
        0 | 1 => {
            let first = day(["2026-08-01", "2026-09-01", "2026-10-01"][draw.random_range(0..3)]);
            (first, day("2026-10-31"))
        }
        near => {
            let back = if near < 4 { draw.random_range(0..5) } else { draw.random_range(5..90) };
            let end = today - Days::new(back);
            (end - Days::new(draw.random_range(0..30)), end)
        }
    };
    [start, end].map(|date| date.to_string())
}

fn drawn(draw: &mut SmallRng) -> Query {
    let [start, end] = drawn_window(draw);
    let mut query = vec![("startDate", start), ("endDate", end)];
    if draw.random_bool(0.5) {
        query.push(("dataState", "all".to_owned()));
    }
    match draw.random_range(0..5) {
        0 => {}
        1 | 2 => {
            let [start, end] = drawn_window(draw);
            query.extend([("compareStart", start), ("compareEnd", end)]);
        }
        _ => query.push(("compare", NAMES[draw.random_range(0..NAMES.len())].to_owned())),
    }
    query
}

fn length(window: &Value) -> i64 {
    let date = |name: &str| window[name].as_str().unwrap().parse::<NaiveDate>().unwrap();
    (date("endDate") - date("startDate")).num_days() + 1
}

fn codes(meta: &Value) -> Vec<&str> {
    let warnings = meta["warnings"].as_array();
    warnings.into_iter().flatten().map(|warning| warning["code"].as_str().unwrap()).collect()
}

/// Checks that `change` is the object's metrics minus `previous`, up to `tolerance`. A new or lost row had or has no clicks and no
/// impressions.
#[track_caller]
fn check_change(said: &Value, tolerance: f64) {
    let Some(change) = said.get("change") else {
        return assert!(said.get("presence").is_none_or(|presence| presence == "unknown"), "{said}");
    };
    let one_sided = ["new", "lost"].map(Value::from).contains(&said["presence"]);
    assert!(said.get("previous").is_some() || said["presence"] == "new", "a change without a previous window: {said}");
    for name in ["clicks", "impressions", "ctr", "position"] {
        let nothing = (one_sided && ["clicks", "impressions"].contains(&name)).then_some(0.0);
        let number = |of: &Value| of[name].as_f64().or(nothing);
        let difference = number(said).zip(number(&said["previous"])).map(|(now, before)| now - before);
        let change = change[name]["absolute"].as_f64();
        assert_eq!(change.is_some(), difference.is_some(), "{name} of {said}");
        let off = change.zip(difference).map_or(0.0, |(change, difference)| (change - difference).abs());
        assert!(off <= tolerance, "{name} of {said}");
    }
}

/// Checks every object of the answer that has a change, to the last digit.
fn check_changes(said: &Value) -> usize {
    check_changes_to(said, 0.0)
}

fn check_changes_to(said: &Value, tolerance: f64) -> usize {
    match said {
        Value::Array(items) => items.iter().map(|item| check_changes_to(item, tolerance)).sum(),
        Value::Object(fields) => {
            let compared = fields.contains_key("previous") || fields.contains_key("change");
            let own = compared && fields.contains_key("clicks");
            if own {
                check_change(said, tolerance);
            }
            usize::from(own) + fields.values().map(|field| check_changes_to(field, tolerance)).sum::<usize>()
        }
        _ => 0,
    }
}

/// Checks the days that an answer counts against its warnings, its status and the generator's cells.
fn check_days(json: &Value) {
    let (meta, totals) = (&json["meta"], &json["data"]["totals"]);
    let (codes, compared) = (codes(meta), meta["days"].get("compared"));
    let lengths = compared.map(|days| [length(&days["current"]), length(&days["previous"])]);
    let shortened = compared.is_some_and(|days| days["shortened"] == true);
    assert_eq!(codes.contains(&"windows_shortened"), shortened, "{meta}");
    let unequal = lengths.is_some_and(|[now, before]| now != before);
    assert_eq!(codes.contains(&"unequal_windows"), unequal, "{meta}");
    assert_eq!(totals.is_null(), meta["status"] == "not_final_yet", "{json}");
    if totals.is_null() {
        assert_eq!(meta["days"]["current"]["counted"], 0);
        return;
    }
    assert_eq!(totals.get("previous").is_some(), compared.is_some(), "{json}");
    let text = |window: &Value, name: &str| window[name].as_str().unwrap().to_owned();
    let sum = |window: &Value| {
        let end = text(window, "endDate").min("2026-11-18".to_owned());
        truth(&text(window, "startDate"), &end).total(Count::ByProperty, &all)
    };
    if let Some(days) = compared {
        assert_eq!(Sum::said(totals), sum(&days["current"]), "{meta}");
        assert_eq!(Sum::said(&totals["previous"]), sum(&days["previous"]), "{meta}");
        assert_eq!(meta["days"]["current"]["counted"], lengths.unwrap()[0]);
        assert_eq!(meta["days"]["previous"]["counted"], lengths.unwrap()[1]);
    } else if meta["question"]["dataState"] == "final" {
        assert_eq!(Sum::said(totals), sum(&meta["window"]), "{meta}");
    }
}

/// Checks the changes of a file, its headers, and that it counts the days that the answer counts.
fn check_file(file: &Answer, json: &Value) -> usize {
    let meta = &json["meta"];
    if meta["status"] == "not_final_yet" {
        assert_eq!(file.code(), "not_final_yet");
        return 0;
    }
    assert_eq!(file.header("x-warnings"), codes(meta).join(", "));
    let range =
        |window: &Value| format!("{}/{}", window["startDate"].as_str().unwrap(), window["endDate"].as_str().unwrap());
    let compared = meta["days"].get("compared");
    assert_eq!(file.header("x-compare-window"), compared.map(|days| range(&days["previous"])).unwrap_or_default());
    if let Some(days) = compared {
        assert_eq!(file.header("x-window"), range(&days["current"]));
    }
    let rows = read(std::str::from_utf8(&file.bytes).unwrap());
    rows[1..].iter().filter(|row| row.len() > 5).inspect(|row| difference(row)).count()
}

#[tokio::test]
async fn change_is_current_minus_previous_in_json_and_csv_over_as_many_days() {
    let asker = Asker::small().await;
    let export = format!("/api/properties/{}/export", asker.property);
    let mut draw = SmallRng::seed_from_u64(23);
    let (mut changes, mut cells, mut refused) = (0, 0, 0);
    for _ in 0..60 {
        let query = drawn(&mut draw);
        let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = asker.ask(&[&query[..], &[("scope", "all"), ("queryLimit", "40")]].concat()).await;
        if answer.status == 400 {
            assert!(answer.hint().starts_with("compare: "), "{query:?} {}", answer.hint());
            refused += 1;
            continue;
        }
        let json = answer.expect(200).json;
        check_days(&json);
        changes += check_changes(&json["data"]);
        let table = ["queries", "pages", "countries", "devices"][draw.random_range(0..4)];
        let file = asker.actor.ask(&export, &[&query[..], &[("table", table)]].concat()).await;
        cells += check_file(&file, &json);
    }
    assert!(changes > 500 && cells > 500 && refused < 40, "{changes} changes, {cells} cells, {refused} refused");
}

#[tokio::test]
async fn every_analysis_counts_the_compared_days() {
    let asker = Asker::small().await;
    let mut draw = SmallRng::seed_from_u64(24);
    let mut changes = 0;
    for what in ["countries", "countries-timeseries", "branded-traffic", "growth-opportunities", "query-insights"] {
        for _ in 0..8 {
            let query = drawn(&mut draw);
            let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
            let answer = asker.actor.ask(&format!("/api/properties/{}/{what}", asker.property), &query).await;
            if answer.status != 400 {
                changes += check_changes(&answer.expect(200).json["data"]);
            }
        }
    }
    assert!(changes > 300, "{changes}");
}

#[tokio::test]
async fn readers_of_share_links_see_the_same_changes() {
    let asker = Asker::small().await;
    let links = format!("/api/properties/{}/share-links", asker.property);
    let link = asker.actor.post(&links, &json!({ "name": "Agreement" })).await.expect(201).json;
    let path = format!("/api/share/{}/performance", link["data"]["token"].as_str().unwrap());
    let mut draw = SmallRng::seed_from_u64(25);
    let mut changes = 0;
    for _ in 0..12 {
        let query = drawn(&mut draw);
        let query: Vec<(&str, &str)> = query.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let answer = shared().anonymous().ask(&path, &[&query[..], &[("scope", "all")]].concat()).await;
        if answer.status == 400 {
            continue;
        }
        let json = answer.expect(200).json;
        check_days(&json);
        changes += check_changes(&json["data"]);
    }
    asker.actor.delete(&format!("{links}/{}", link["data"]["id"].as_str().unwrap())).await.expect(204);
    assert!(changes > 100, "{changes}");
}

#[tokio::test]
async fn whole_months_are_compared_with_whole_months_by_tools() {
    let app = shared();
    let person = app.actor("stranger").await;
    let assistant = Assistant::of(app, &person);
    for (period, window, before) in [
        ("last_month", ("2026-10-01", "2026-10-31"), ("2026-09-01", "2026-09-30")),
        ("last_quarter", ("2026-07-01", "2026-09-30"), ("2026-04-01", "2026-06-30")),
        ("last_3_months", ("2026-08-01", "2026-10-31"), ("2026-05-01", "2026-07-31")),
    ] {
        for arguments in [json!({}), json!({ "compareTo": "previous_period" })] {
            let mut arguments = arguments;
            arguments["property"] = json!("quietmeadow.test");
            arguments["period"] = json!(period);
            let said = assistant.answered("compare_periods", arguments).await;
            let range = |(start, end)| json!({ "startDate": start, "endDate": end });
            assert_eq!(said["meta"]["window"], range(window), "{period}");
            assert_eq!(said["meta"]["compareWindow"], range(before), "{period}");
            let question = &said["meta"]["question"];
            let again = json!({
                "property": "quietmeadow.test", "startDate": question["startDate"], "endDate": question["endDate"],
                "compareStart": question["compareStart"], "compareEnd": question["compareEnd"],
            });
            assert_eq!(
                assistant.answered("compare_periods", again).await["data"],
                said["data"],
                "the echo asks the same"
            );
        }
    }
}

/// The counts of both windows, and the change, of every row that a tool says.
#[tokio::test]
async fn tools_say_changes_of_the_numbers_beside_them() {
    let app = shared();
    let person = app.actor("stranger").await;
    let assistant = Assistant::of(app, &person);
    let mut draw = SmallRng::seed_from_u64(26);
    let mut changes = 0;
    for _ in 0..10 {
        let mut arguments = json!({ "property": "quietmeadow.test" });
        for (name, value) in drawn(&mut draw) {
            arguments[if name == "compare" { "compareTo" } else { name }] = json!(value);
        }
        let result = assistant.call("compare_periods", arguments).await;
        if result["isError"] == false {
            // Rounded figures have no last digit in binary.
            changes += check_changes_to(&result["structuredContent"]["data"], 1e-9);
        }
    }
    assert!(changes > 50, "{changes}");
}

/// The first and the last day of each incident of the shipped list.
const INCIDENTS: [(&str, &str); 2] = [("2025-05-13", "2026-04-27"), ("2025-09-10", "2025-09-14")];

fn touches((start, end): (NaiveDate, NaiveDate), (first, last): (&str, &str)) -> bool {
    start <= day(last) && end >= day(first)
}

#[tokio::test]
async fn an_incident_is_reported_exactly_if_a_window_touches_it() {
    let asker = Asker::small().await;
    let mut draw = SmallRng::seed_from_u64(27);
    let (mut with, mut without) = (0, 0);
    for turn in 0..60 {
        // Windows begin or end near an end of an incident.
        let edge = day(["2026-04-27", "2026-04-27", "2025-09-10", "2025-09-14"][turn % 4]);
        let near = edge - Days::new(4) + Days::new(draw.random_range(0..14));
        let days = draw.random_range(0..12);
        let now = if draw.random_bool(0.5) { (near, near + Days::new(days)) } else { (near - Days::new(days), near) };
        let before = (now.0 - Days::new(days + 1), now.0 - Days::new(1));
        let compares = draw.random_bool(0.5) && before.0 >= day("2025-07-21");
        let text = [now.0, now.1].map(|date| date.to_string());
        let more =
            if compares { &[("compare", "previous_period"), ("scope", "totals")][..] } else { &[("scope", "totals")] };
        let json = asker.window(&text[0], &text[1], more).await;
        let expected: Vec<(&str, &str)> = INCIDENTS
            .into_iter()
            .filter(|incident| touches(now, *incident) || compares && touches(before, *incident))
            .collect();
        let mut said: Vec<(&str, &str)> = json["meta"]["warnings"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|warning| warning["code"] == "data_incident")
            .map(|warning| (warning["startDate"].as_str().unwrap(), warning["endDate"].as_str().unwrap()))
            .collect();
        said.sort_unstable();
        assert_eq!(said, expected, "{now:?} compared: {compares}");
        let warnings = json["meta"]["warnings"].as_array();
        for warning in warnings.into_iter().flatten().filter(|warning| warning["code"] == "data_incident") {
            assert!(warning["url"].as_str().unwrap().starts_with("https://"), "{warning}");
            assert!(warning["text"].as_str().unwrap().len() > 20, "{warning}");
        }
        assert!(warnings.is_none_or(|warnings| !warnings.is_empty()), "left out when there are none");
        if expected.is_empty() { without += 1 } else { with += 1 }
    }
    assert!(with > 15 && without > 5, "{with} with a warning, {without} without");
}

#[tokio::test]
async fn lists_share_answers_and_tools_warn_unasked() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    // 280 days before the window reach into the days of an incident.
    let mut list = owner.ask("/api/properties", &[("days", "200")]).await.expect(200).json;
    while list["meta"]["progress"]["stillReading"] != 0 {
        list = owner.ask("/api/properties", &[("days", "200")]).await.expect(200).json;
    }
    assert_eq!(codes(&list["meta"]), ["data_incident"], "{}", list["meta"]);
    assert_eq!(list["meta"]["warnings"][0]["endDate"], "2026-04-27");
    let plain = owner.ask("/api/properties", &[("days", "28")]).await.expect(200).json;
    assert!(plain["meta"].get("warnings").is_none());

    let property = owner.property("tinyfern").await;
    let links = format!("/api/properties/{property}/share-links");
    let link = owner.post(&links, &json!({})).await.expect(201).json;
    let path = format!("/api/share/{}/performance", link["data"]["token"].as_str().unwrap());
    let year = [("compare", "previous_year")];
    assert_eq!(codes(&app.anonymous().ask(&path, &year).await.expect(200).json["meta"]), ["data_incident"]);

    let assistant = Assistant::of(&app, &owner);
    let result = assistant.call("compare_periods", json!({ "property": property, "compareTo": "previous_year" })).await;
    let text = crate::support::assistant::text(&result);
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("Warnings: data_incident (2025-05-13 to 2026-04-27): \"The search engine counted"),
        "{first}"
    );
}

/// The person who owns the small site.
#[tokio::test]
async fn unfinished_days_are_said_by_a_warning_with_the_days_that_count() {
    let owner: Actor = shared().actor("stranger").await;
    let property = owner.property(SMALL).await;
    let query = [
        ("startDate", "2026-11-16"),
        ("endDate", "2026-11-21"),
        ("compareStart", "2026-11-09"),
        ("compareEnd", "2026-11-14"),
        ("dataState", "all"),
    ];
    let json = owner.ask(&format!("/api/properties/{property}/performance"), &query).await.expect(200).json;
    let warning = &json["meta"]["warnings"][0];
    assert_eq!(warning["code"], "windows_shortened");
    assert_eq!(
        warning["text"],
        "One of the windows has days that are not final. Totals and rows count the first 3 final days of both: 2026-11-16 to 2026-11-18, \
         and 2026-11-09 to 2026-11-11."
    );
    assert_eq!(Sum::said(&json["data"]["totals"]), truth("2026-11-16", "2026-11-18").total(Count::ByProperty, &all));
}
