//! Tests that values which are too long, too many, taken or meaningless are refused, with a hint that names the field.

use serde_json::{Value, json};

use super::contains;
use crate::support::{actor::Actor, app::TestApp};

/// An owner of a property, and the paths of its records.
pub(super) struct Desk {
    pub app: TestApp,
    pub owner: Actor,
    pub property: String,
}

impl Desk {
    pub async fn new() -> Self {
        let app = TestApp::start(|_| {}).await;
        let owner = app.actor("owner").await;
        let property = owner.property("northmoor").await;
        Self { app, owner, property }
    }

    pub fn of(&self, part: &str) -> String {
        format!("/api/properties/{}/{part}", self.property)
    }

    /// The paths of all records with a unique name, and a body with `name`.
    pub fn named(&self, name: &str) -> [(String, Value); 4] {
        let rule = json!({ "name": name, "conditions": [contains("a")] });
        let filters = json!([{ "dimension": "query", "operator": "contains", "value": "a" }]);
        [
            (self.of("segments"), rule.clone()),
            (self.of("topic-clusters"), rule),
            ("/api/filter-presets".into(), json!({ "name": name, "filters": filters })),
            ("/api/tags".into(), json!({ "name": name })),
        ]
    }

    pub async fn refused(&self, path: &str, body: &Value, name: &str) {
        let answer = self.owner.post(path, body).await.expect(400);
        assert!(["invalid_request", "filter_too_complex"].contains(&answer.code()), "{path} {body}");
        assert_eq!(answer.hint().split(':').next(), Some(name), "{path} {body}: {}", answer.hint());
    }
}

#[tokio::test]
async fn a_name_is_taken_however_it_is_written() {
    let desk = Desk::new().await;
    for (path, body) in desk.named("Caf\u{e9} Z\u{fc}rich") {
        let id = desk.owner.made(&path, &body).await;
        let other = desk.owner.made(&path, &with(&body, "name", json!("other"))).await;
        for same in
            ["cafe\u{301} zu\u{308}rich", "  CAFÉ ZÜRICH ", "Caf\u{e9}\u{200b} Z\u{fc}\u{ad}rich", "Ｃafé zürich"]
        {
            let body = with(&body, "name", json!(same));
            desk.refused(&path, &body, "name").await;
            let answer = desk.owner.put(&format!("{path}/{other}"), &body).await.expect(400);
            assert!(answer.hint().starts_with("name"), "{}", answer.hint());
            desk.owner.put(&format!("{path}/{id}"), &body).await.expect(200);
        }
        let kept = desk.owner.listed(&path).await.into_iter().find(|record| record["id"] == *id).unwrap();
        assert_eq!(kept["name"], "Ｃafé zürich");
        desk.owner.delete(&format!("{path}/{id}")).await.expect(204);
        desk.owner.put(&format!("{path}/{other}"), &body).await.expect(200);
    }
}

fn with(body: &Value, name: &str, value: Value) -> Value {
    let mut body = body.clone();
    body[name] = value;
    body
}

#[tokio::test]
async fn names_have_1_to_100_characters() {
    let desk = Desk::new().await;
    let links = (desk.of("share-links"), json!({ "name": "x" }));
    for (path, body) in desk.named("x").into_iter().chain([links]) {
        for wrong in
            [json!(""), json!("  "), json!("\u{a0}"), json!("é".repeat(101)), json!("a\nb"), json!("a\0"), json!(7)]
        {
            desk.refused(&path, &with(&body, "name", wrong), "name").await;
        }
        // The maximum number of characters, in the largest encoding.
        desk.owner.post(&path, &with(&body, "name", json!("𝒳".repeat(100)))).await.expect(201);
        desk.refused(&path, &with(&body, "colour", json!("x")), "colour").await;
        desk.refused(&path, &json!([]), "body").await;
    }
}

#[tokio::test]
async fn annotations_say_1_to_2000_characters_of_days_that_every_field_takes() {
    let desk = Desk::new().await;
    let (path, body) = (desk.of("annotations"), json!({ "date": "2026-11-01", "text": "x" }));
    let cases = [
        ("text", json!("")),
        ("text", json!(" \n")),
        ("text", json!("é".repeat(2001))),
        ("text", json!("a\0")),
        ("category", json!("")),
        ("category", json!("é".repeat(51))),
        ("category", json!("a\nb")),
        ("date", json!("2026-02-30")),
        ("date", json!("1899-12-31")),
        ("date", json!("2201-01-01")),
        ("date", json!("9999-12-31")),
        ("date", json!("+12026-01-01")),
        ("date", json!("2026-11-01T00:00:00Z")),
        ("date", json!("2026-W01-1")),
        ("date", json!(20_261_101)),
        ("endDate", json!("2026-10-31")),
        ("endDate", json!("2201-01-01")),
        ("endDate", json!("")),
        ("source", json!("system")),
        ("id", json!("x")),
    ];
    for (name, wrong) in cases {
        desk.refused(&path, &with(&body, name, wrong), name).await;
    }
    desk.refused(&path, &json!({ "text": "x" }), "date").await;
    desk.refused(&path, &json!({ "date": "2026-11-01" }), "text").await;
    assert_eq!(desk.owner.listed(&path).await, [] as [Value; 0]);
    let longest = json!({ "date": "1900-01-01", "text": "𝒳".repeat(2000), "category": "𝒳".repeat(50) });
    desk.owner.post(&path, &longest).await.expect(201);
    let id = desk.owner.made(&path, &with(&body, "endDate", json!("2026-11-02"))).await;
    let answer =
        desk.owner.put(&format!("{path}/{id}"), &with(&body, "endDate", json!("2026-10-31"))).await.expect(400);
    assert!(answer.hint().starts_with("endDate"));
}

#[tokio::test]
async fn the_days_of_a_note_have_one_range() {
    let desk = Desk::new().await;
    let path = desk.of("annotations");
    for field in ["date", "endDate"] {
        for wrong in ["tomorrow", "2026-02-30", "1899-12-31", "2201-01-01", "9999-12-31"] {
            let body = with(&json!({ "date": "2026-11-01", "text": "x" }), field, json!(wrong));
            let hint = desk.owner.post(&path, &body).await.expect(400).hint().to_owned();
            let range = "must be a calendar date, YYYY-MM-DD, from 1900-01-01 to 2200-12-31";
            assert_eq!(hint, format!("{field}: {range}"), "{wrong}");
        }
    }
    for day in ["1900-01-01", "1999-12-31", "2099-01-01", "2200-12-31"] {
        desk.owner.post(&path, &json!({ "date": day, "text": "x" })).await.expect(201);
    }
}

#[tokio::test]
async fn conditions_that_no_question_could_be_asked_with_are_refused() {
    let desk = Desk::new().await;
    let condition = |operator: &str, value: &str| json!({ "operator": operator, "value": value });
    let mixed = (0..40).map(|n| {
        let operator = if n % 2 == 0 { "not_contains" } else { "contains" };
        let logic = if n % 3 == 0 { "or" } else { "and" };
        json!({ "operator": operator, "value": format!("text {n}"), "logic": logic })
    });
    let wrong = [
        (json!([]), "conditions"),
        (json!([condition("or_list", " , ,")]), "conditions[0]"),
        (json!([contains("a"), condition("matches_regex", "(")]), "conditions[1]"),
        (json!([condition("matches_regex", "a(?=b)")]), "conditions[0]"),
        (json!([condition("equals", "")]), "conditions[0].value"),
        (json!([condition("starts_with", "a")]), "conditions[0].operator"),
        (json!([with(&contains("a"), "dimension", json!("page"))]), "conditions[0].dimension"),
        (json!([with(&contains("a"), "logic", json!("xor"))]), "conditions[0].logic"),
        (Value::from(vec![contains("a"); 51]), "conditions"),
        (mixed.collect(), "conditions"),
    ];
    for part in ["segments", "topic-clusters"] {
        let path = desk.of(part);
        let id = desk.owner.made(&path, &json!({ "name": "kept", "conditions": [contains("a")] })).await;
        let before = desk.owner.listed(&path).await;
        for (conditions, name) in &wrong {
            let body = json!({ "name": "x", "conditions": conditions });
            desk.refused(&path, &body, name).await;
            let answer = desk.owner.put(&format!("{path}/{id}"), &body).await.expect(400);
            assert!(answer.hint().starts_with(name), "{}", answer.hint());
        }
        for color in ["red", "#12345", "#1234567", "#12345g", ""] {
            let body = json!({ "name": "x", "color": color, "conditions": [contains("a")] });
            desk.refused(&path, &body, "color").await;
        }
        assert_eq!(desk.owner.listed(&path).await, before);
    }
}

#[tokio::test]
async fn presets_are_checked_as_filters_are() {
    let desk = Desk::new().await;
    let condition = |dimension: &str, operator: &str, value: &str| json!({ "dimension": dimension, "operator": operator, "value": value, "logic": "or" });
    // Pairs on two dimensions, which only inclusion-exclusion can add up: 31 terms.
    let across: Vec<Value> = (0..10)
        .map(|n| {
            with(
                &condition(["query", "page"][n % 2], "contains", &format!("x{n}")),
                "logic",
                json!(["or", "and"][n % 2]),
            )
        })
        .collect();
    let wrong = [
        (json!([]), "filters"),
        (json!([condition("country", "equals", "us")]), "filters[0]"),
        (json!([condition("query", "contains", "a"), condition("device", "or_list", "watch")]), "filters[1]"),
        (json!([condition("query", "or_list", ",")]), "filters[0]"),
        (json!([condition("colour", "equals", "a")]), "filters[0].dimension"),
        (json!([condition("query", "contains", "")]), "filters[0].value"),
        (Value::from(vec![condition("query", "contains", "a"); 51]), "filters"),
        (across.into(), "filters"),
    ];
    for (filters, name) in wrong {
        desk.refused("/api/filter-presets", &json!({ "name": "x", "filters": filters }), name).await;
    }
    assert_eq!(desk.owner.listed("/api/filter-presets").await, [] as [Value; 0]);
}

#[tokio::test]
async fn branded_keywords_are_at_most_200_words_that_fit_one_expression() {
    let desk = Desk::new().await;
    let path = desk.of("branded-keywords");
    let before = desk.owner.listed(&path).await;
    let letters = |n: usize| format!("{}{}", letter(n / 26), letter(n % 26));
    let many = |range: std::ops::Range<usize>| json!({ "keywords": range.map(letters).collect::<Vec<_>>() });
    for wrong in ["", "!!", " ", "a\n", &"é".repeat(101)] {
        desk.refused(&path, &json!({ "keywords": ["fine", wrong] }), "keywords[1]").await;
    }
    desk.refused(&path, &json!({ "keywords": [] }), "keywords").await;
    desk.refused(&path, &json!({ "keywords": "acme" }), "keywords").await;
    desk.refused(&path, &json!({ "keyword": "acme" }), "keyword").await;
    desk.refused(&path, &many(0..201), "keywords").await;
    let long: Vec<String> = (0..60).map(|n| format!("{}{}", letters(n), "é".repeat(90))).collect();
    desk.refused(&path, &json!({ "keywords": long }), "keywords").await;
    assert_eq!(desk.owner.listed(&path).await, before);
    desk.owner.post(&path, &many(0..200 - before.len())).await.expect(201);
    desk.refused(&path, &json!({ "keywords": ["one too many"] }), "keywords").await;
    desk.owner.post(&path, &json!({ "keywords": ["AA"] })).await.expect(201);
    assert_eq!(desk.owner.listed(&path).await.len(), 200);
}

#[tokio::test]
async fn a_letter_is_a_letter_in_every_script() {
    let desk = Desk::new().await;
    let path = desk.of("branded-keywords");
    for keyword in ["日本", "Ωmega", "é", "7", "c++"] {
        desk.owner.post(&path, &json!({ "keywords": [keyword] })).await.expect(201);
    }
    // The length of an expression is counted in characters, as by the search engine.
    let long: Vec<String> = (0..24).map(|n| format!("{}{n}", "日".repeat(90))).collect();
    desk.owner.post(&path, &json!({ "keywords": long })).await.expect(201);
}

#[tokio::test]
async fn links_end_in_the_future_that_can_be_written() {
    let desk = Desk::new().await;
    let path = desk.of("share-links");
    for wrong in [
        "2026-11-21T12:00:00Z",
        "2026-11-21T12:59:59+01:00",
        "2001-01-01T00:00:00Z",
        "2027-01-01",
        "2027-13-01T00:00:00Z",
        "2200-12-31T23:59:59-01:00",
        "9999-12-31T23:59:59-12:00",
        "+12027-01-01T00:00:00Z",
        "tomorrow",
        "",
    ] {
        desk.refused(&path, &json!({ "expiresAt": wrong }), "expiresAt").await;
    }
    for right in ["2026-11-21T12:00:01Z", "2026-11-21T13:00:01+01:00", "2200-12-31T23:59:59.123456789Z"] {
        let made = desk.owner.post(&path, &json!({ "expiresAt": right })).await.expect(201);
        let listed = desk.owner.listed(&path).await;
        assert!(listed.contains(&made.json["data"]), "{right}");
    }
}

fn letter(n: usize) -> char {
    char::from(b'a' + u8::try_from(n).unwrap())
}
