//! Bodies with a good status that are no answers: an error, no result, or something else in its place. They are trouble of the provider, and
//! neither an empty list nor paid for.

use api::integrations::BacklinkStatus;

use super::*;

/// Bodies that neither provider sends with a good status.
const FOREIGN: [&str; 11] = [
    "",
    "<html>",
    "{",
    "null",
    "[]",
    "[[]]",
    "\"ok\"",
    "{}",
    r#"{"error":"no upstream"}"#,
    r#"{"error":{"code":500,"message":"Internal error encountered."}}"#,
    r#"["Error","Unauthorized"]"#,
];

fn questions() -> [Question; 5] {
    let target = || Target { host: "a.example".to_owned(), subdomains: true };
    let page = || Page { target: target(), status: BacklinkStatus::Live, offset: 0, limit: 2 };
    [
        figures(&["x"]),
        Question::Ideas { seeds: vec!["x".to_owned()], place: place(), limit: 2 },
        Question::Links(page()),
        Question::Domains(page()),
        Question::Summary { target: target(), day: "2026-11-21".parse().unwrap() },
    ]
}

/// Bodies of provider A with results that are none. Without links a summary is null, which is an answer.
fn of_a(question: Option<&Question>) -> Vec<String> {
    let mut results = vec![
        json!("?"),
        json!({}),
        json!([]),
        json!([null]),
        json!([[]]),
        json!(["?"]),
        json!([{ "items": {} }]),
        json!([{ "items": "none" }]),
        json!([{ "items": [null] }]),
        json!([{ "items": [{}, { "keyword": null, "url_from": null, "domain": null }] }]),
        json!([{ "items": [{ "keyword": 7, "url_from": 7, "domain": 7 }] }]),
        json!([{ "backlinks": null, "referring_domains": null }]),
        json!([{ "backlinks": 7 }]),
        json!([{ "referring_domains": 7 }]),
        json!([{ "backlinks": -1, "referring_domains": 7 }]),
        json!([{ "error": "x" }]),
    ];
    match question {
        Some(Question::Summary { .. }) => {}
        Some(_) => results.push(Value::Null),
        // The account's figures may all be unknown.
        None => results.retain(|result| !result[0].is_object()),
    }
    let mut bodies: Vec<String> = results.iter().map(|result| done(0.01, result).to_string()).collect();
    for tasks in [json!(null), json!([]), json!([null]), json!([{ "status_code": 20000 }])] {
        bodies.push(json!({ "status_code": 20000, "cost": 0.01, "tasks": tasks }).to_string());
    }
    bodies.push(json!({ "status_code": 20000, "cost": 0.01 }).to_string());
    bodies
}

/// Bodies of provider B with something else under their key.
fn of_b(key: &str) -> Vec<String> {
    let mut values = vec![json!(null), json!("?"), json!(7), json!(true)];
    if ["metrics", "limits_and_usage"].contains(&key) {
        values.push(json!([]));
    } else {
        values.extend([
            json!({}),
            json!([null]),
            json!([{}]),
            json!([{ "keyword": null, "url_from": 7, "domain": "" }]),
        ]);
    }
    if key == "metrics" {
        let counts = [json!({}), json!({ "live": null }), json!({ "live": 7 }), json!({ "live_refdomains": 7 })];
        values.extend(counts);
    }
    let mut bodies: Vec<String> = values.iter().map(|value| json!({ key: value }).to_string()).collect();
    bodies.push(json!({ key: [], "error": "x" }).to_string());
    bodies.push(json!({ "other": [] }).to_string());
    bodies
}

fn key_of(question: &Question) -> &'static str {
    match question {
        Question::Figures { .. } | Question::Ideas { .. } => "keywords",
        Question::Links(_) => "backlinks",
        Question::Domains(_) => "refdomains",
        Question::Summary { .. } => "metrics",
    }
}

#[tokio::test]
async fn a_body_without_its_result_answers_no_question() {
    let (upstream, a, b) = providers().await;
    for question in questions() {
        let of_a = of_a(Some(&question)).into_iter().map(|body| (true, body));
        let of_b = of_b(key_of(&question)).into_iter().map(|body| (false, body));
        let foreign = FOREIGN.iter().flat_map(|body| [true, false].map(|is_a| (is_a, (*body).to_owned())));
        for (is_a, body) in of_a.chain(of_b).chain(foreign) {
            upstream.reply(Reply::Text(body.clone()));
            let before = upstream.arrived().len();
            let outcome = if is_a { a.answer(&login(), &question).await } else { b.answer(&key(), &question).await };
            assert!(matches!(outcome, Err(SeoError::Unavailable(_))), "{question:?} {body}: {outcome:?}");
            assert_eq!(upstream.arrived().len(), before + 1, "it may have been charged, so it is not asked again");
        }
    }
}

#[tokio::test]
async fn a_body_without_an_account_says_nothing_about_credentials() {
    let (upstream, a, b) = providers().await;
    let of_a = of_a(None).into_iter().map(|body| (true, body));
    let of_b = of_b("limits_and_usage").into_iter().map(|body| (false, body));
    let foreign = FOREIGN.iter().flat_map(|body| [true, false].map(|is_a| (is_a, (*body).to_owned())));
    for (is_a, body) in of_a.chain(of_b).chain(foreign) {
        for _ in 0..3 {
            upstream.reply(Reply::Text(body.clone()));
        }
        let outcome = if is_a { a.account(&login()).await } else { b.account(&key()).await };
        assert!(matches!(outcome, Err(SeoError::Unavailable(_))), "{body}: {outcome:?}");
        assert!(upstream.next().is_none(), "it is free, so it is asked again: {body}");
    }
}

#[tokio::test]
async fn an_unknown_rating_is_not_paid_for() {
    let (upstream, _, b) = providers().await;
    let [.., summary] = questions();
    for rating in [r#"{"domain_rating":null}"#, r#"{"domain_rating":{}}"#, "{}", r#"{"error":"x"}"#] {
        let cost = vec![("x-api-units-cost-total", "50")];
        let counts = json!({ "metrics": { "live": 7, "live_refdomains": 3 } });
        upstream.reply(Reply::Said(200, cost, counts));
        upstream.reply(Reply::Text(rating.to_owned()));
        let paid = b.answer(&key(), &summary).await.unwrap();
        assert_eq!(paid.found, Findings::Summary(Summary { backlinks: 7, domains: 3, rank: None }), "{rating}");
        assert_eq!(paid.cost, Some(Amount(50_000_000)), "{rating}");
    }
}
