//! Tests of refused filters, and of their cost.

use futures_util::future::join_all;
use serde_json::{Value, json};
use simulator::Endpoint;

use crate::{
    analytics::performance::{Asker, SMALL},
    support::app::TestApp,
};

async fn refused(filters: &Value) -> (String, String) {
    let asker = Asker::small().await;
    let answer = asker.ask(&[("filters", &filters.to_string())]).await.expect(400);
    (answer.code().to_owned(), answer.hint().to_owned())
}

fn condition(dimension: &str, operator: &str, value: &str) -> Value {
    json!({ "dimension": dimension, "operator": operator, "value": value })
}

fn or(mut condition: Value) -> Value {
    condition["logic"] = "or".into();
    condition
}

#[tokio::test]
async fn what_means_nothing_is_refused_by_its_place() {
    let meaningless = [
        condition("country", "equals", "us"),
        condition("device", "or_list", "mobile,watch"),
        condition("query", "or_list", " , ,"),
        condition("query", "matches_regex", "("),
        condition("query", "matches_regex", "a(?=b)"),
        condition("searchAppearance", "matches_regex", "("),
        condition("searchAppearance", "equals", "two words"),
        condition("searchAppearance", "or_list", "VIDEO,größe"),
    ];
    for wrong in meaningless {
        let (code, hint) = refused(&json!([condition("query", "contains", "a"), wrong])).await;
        assert_eq!(code, "invalid_request", "{wrong}");
        assert!(hint.contains("condition 2"), "{wrong}: {hint}");
    }
}

#[tokio::test]
async fn an_expression_that_would_not_survive_being_joined_is_refused() {
    // Verbose mode turns the rest of a joined expression into a comment, and the search engine does not support it.
    for pattern in ["(?x)a # b", "(?x: a)b", "(?ix)a"] {
        for dimension in ["query", "page", "country"] {
            let filters =
                json!([condition(dimension, "matches_regex", pattern), or(condition(dimension, "contains", "e"))]);
            let (code, hint) = refused(&filters).await;
            assert!(code == "invalid_request" && hint.contains("condition 1"), "{pattern}: {code} {hint}");
        }
    }
}

#[tokio::test]
async fn a_refusal_names_the_requests_that_are_made_and_the_way_out() {
    let mixed = (0..40).map(|n| {
        let operator = if n % 2 == 0 { "not_contains" } else { "contains" };
        let plain = condition("page", operator, &format!("text {n}"));
        if n % 3 == 0 { or(plain) } else { plain }
    });
    let (code, hint) = refused(&mixed.collect()).await;
    assert_eq!(code, "filter_too_complex");
    for said in ["filters: ", "upstream requests", "at most 24", "or_list"] {
        assert!(hint.contains(said), "{said}: {hint}");
    }
}

#[tokio::test]
async fn many_alternatives_of_one_kind_are_answered() {
    let asker = Asker::small().await;
    let names: Vec<String> = (0..600).map(letters).collect();
    let alternatives = (0..50).map(|n| or(condition("query", "not_contains", &format!("text {n}"))));
    for filters in [json!([condition("searchAppearance", "or_list", &names.join(","))]), alternatives.collect()] {
        asker.window("2026-10-05", "2026-10-05", &[("filters", &filters.to_string())]).await;
    }
}

fn letters(n: usize) -> String {
    [n / 26 % 26, n % 26].iter().map(|n| char::from(b'A' + u8::try_from(*n).unwrap())).collect()
}

#[tokio::test]
async fn a_long_list_is_answered_also_beyond_the_length_of_an_expression() {
    let asker = Asker::small().await;
    let list = |count: usize| (0..count).map(|n| format!("word{n:04}")).collect::<Vec<_>>().join(",");
    let filters = |count| json!([condition("query", "or_list", &list(count))]).to_string();
    asker.window("2026-10-05", "2026-10-05", &[("filters", &filters(440))]).await;
    let doubled = json!([condition("query", "or_list", &list(440)), or(condition("query", "or_list", &list(441)))]);
    asker.window("2026-10-05", "2026-10-05", &[("filters", &doubled.to_string())]).await;
    // Escaped, it is longer than one expression may be.
    let escaped = (0..500).map(|n| format!("a.{n}.b")).collect::<Vec<_>>().join(",");
    let filters = json!([condition("query", "or_list", &escaped)]).to_string();
    asker.window("2026-10-05", "2026-10-05", &[("filters", &filters)]).await;
}

#[tokio::test]
async fn fifty_conditions_are_the_most() {
    let asker = Asker::small().await;
    let list = |count: usize| Value::from(vec![condition("query", "contains", "e"); count]).to_string();
    asker.window("2026-10-05", "2026-10-05", &[("filters", &list(50))]).await;
    asker.ask(&[("filters", &list(51))]).await.expect(400);
    for malformed in
        [" ", "{}", "[1]", r#"[{"dimension":"query"}]"#, r#"[{"dimension":"query","operator":"contains","value":""}]"#]
    {
        let answer = asker.ask(&[("filters", malformed)]).await.expect(400);
        assert!(answer.hint().contains("filters"), "{malformed}: {}", answer.hint());
    }
    asker.window("2026-10-05", "2026-10-05", &[("filters", "[]")]).await;
}

#[tokio::test]
async fn a_list_that_is_too_long_is_answered_in_parts_as_its_hint_says() {
    let asker = Asker::small().await;
    let window = [("startDate", "2026-10-05"), ("endDate", "2026-10-11"), ("pageLimit", "5000")];
    let ask = async |filters: &Value| {
        let filters = filters.to_string();
        asker.ask(&[&window[..], &[("scope", "tables"), ("filters", &*filters)]].concat()).await
    };
    let country = condition("country", "equals", "aus");
    let all = ask(&json!([country])).await.expect(200).json["data"]["tables"]["pages"].clone();
    let sum = |name: &str| all.as_array().unwrap().iter().map(|row| row[name].as_u64().unwrap()).sum::<u64>();
    let known = all.as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap().to_owned());
    let unknown = (0..200).map(|number| format!("https://quietmeadow.test/nowhere/{number}"));
    let urls: Vec<String> = known.chain(unknown).collect();
    let list = |urls: &[String]| condition("page", "or_list", &urls.join(","));

    let long = ask(&json!([list(&urls), country])).await.expect(400);
    let way_out = "; divide a longer or_list between conditions: give each further one logic or, and repeat beside it what else must hold";
    assert!(
        long.hint().starts_with("filters: condition 1: value: ") && long.hint().ends_with(way_out),
        "{}",
        long.hint()
    );

    let parts = urls.chunks(50).enumerate().flat_map(|(index, part)| {
        let part = if index == 0 { list(part) } else { or(list(part)) };
        [part, country.clone()]
    });
    let divided = ask(&parts.collect::<Vec<_>>().into()).await.expect(200).json;
    let totals = &divided["data"]["totals"];
    assert_eq!((&totals["clicks"], &totals["impressions"]), (&json!(sum("clicks")), &json!(sum("impressions"))));
    assert!(sum("impressions") > 0 && divided["data"]["tables"]["pages"] == all);
}

/// Conditions multiply what a question asks the search engine, and the queries of each day take that for every week.
#[tokio::test]
async fn one_read_asks_at_most_sixty_times() {
    let app = TestApp::start(|_| {}).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let path = |operation: &str| format!("/api/properties/{}/{operation}", asker.property);
    let sent = || app.simulator().controls().requests(Endpoint::Query);
    let mixed = json!([
        condition("query", "contains", "a"),
        or(condition("country", "equals", "usa")),
        or(condition("device", "equals", "mobile")),
    ]);
    let (mixed, one) = (mixed.to_string(), json!([condition("query", "contains", "a")]).to_string());
    let months = [("startDate", "2026-04-01"), ("endDate", "2026-09-30"), ("compare", "previous_period")];
    asker.ask(&[("startDate", "2026-09-01"), ("endDate", "2026-09-01")]).await.expect(200);
    let before = sent();
    for operation in ["query-count", "query-insights", "query-count-raw"] {
        let mut query = months.to_vec();
        query.truncate(if operation == "query-count-raw" { 2 } else { 3 });
        query.push(("filters", &mixed));
        let answer = asker.actor.ask(&path(operation), &query).await.expect(400);
        assert_eq!(answer.code(), "filter_too_complex", "{operation}");
        for said in ["at most 60 are made; ask for ", " days at most"] {
            assert!(answer.hint().contains(said), "{operation}: {}", answer.hint());
        }
    }
    assert_eq!(sent(), before, "refused before the first request");
    let weeks = [("startDate", "2026-09-01"), ("endDate", "2026-09-14"), ("compare", "previous_period")];
    let few = [&weeks[..], &[("filters", &one)]].concat();
    asker.actor.ask(&path("query-count"), &few).await.expect(200);
    assert_eq!(sent() - before, 4, "a week of each window at a time");
}

/// Expressions that take time or memory without an end in some engines.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expressions_that_grow_are_answered_or_refused_and_hold_nobody_up() {
    let app = TestApp::start(|_| {}).await;
    let asker = Asker::of(&app, "stranger", SMALL).await;
    let path = format!("/api/properties/{}/performance", asker.property);
    let long =
        ["(a|a?)+".repeat(100), "(".repeat(1_000) + &")".repeat(1_000), "a|".repeat(1_000) + "a", ".*".repeat(500)];
    let short = [
        "(a+)+$",
        "(a|aa)+$",
        "(.*a){30}",
        "((a{100}){100}){100}",
        "(?:a?){1000}a{1000}",
        "(x+x+)+y",
        "^(([a-z])+.)+[A-Z]([a-z])+$",
        r"(\p{L}{500}){500}",
        "[^a]*[^b]*[^c]*$",
        "((((((((((a*)*)*)*)*)*)*)*)*)*)*$",
    ];
    let ask = async |expression: &str| {
        let filters = json!([condition("query", "matches_regex", expression)]).to_string();
        let answer = asker.actor.ask(&path, &[("scope", "all"), ("filters", &filters)]).await;
        assert!([200, 400].contains(&answer.status.as_u16()), "{expression:.60}: {}", answer.status);
        answer.status
    };
    let expressions = short.into_iter().chain(long.iter().map(String::as_str));
    let other = app.actor("owner").await;
    let honest = async {
        for _ in 0..20 {
            other.get("/api/tags").await.expect(200);
        }
    };
    let (answered, ()) = tokio::join!(join_all(expressions.map(ask)), honest);
    assert!(
        answered.iter().any(|status| *status == 400) && answered.iter().any(|status| *status == 200),
        "{answered:?}"
    );
}
