//! Tests of refused filters, and of their cost.

use serde_json::{Value, json};

use crate::analytics::performance::Asker;

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
        condition("searchAppearance", "contains", "VIDEO"),
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
async fn too_many_alternatives_are_refused_at_once() {
    let long: Vec<String> = (0..900).map(|n| format!("A{}", "B".repeat(n % 3 + 1)) + &letters(n)).collect();
    let names = condition("searchAppearance", "or_list", &long.join(",")[..4000]);
    for count in [1, 2, 3, 10] {
        let (code, hint) = refused(&Value::from(vec![names.clone(); count])).await;
        assert_eq!(code, "filter_too_complex", "{count}");
        assert!(hint.contains("filters"), "{hint}");
    }
    let alternatives: Vec<Value> =
        (0..50).map(|n| or(condition("query", "not_contains", &format!("text {n}")))).collect();
    assert_eq!(refused(&Value::from(alternatives)).await.0, "filter_too_complex");
}

fn letters(n: usize) -> String {
    [n / 26 % 26, n % 26].iter().map(|n| char::from(b'A' + u8::try_from(*n).unwrap())).collect()
}

#[tokio::test]
async fn a_long_list_on_one_dimension_is_one_expression_up_to_the_engines_limit() {
    let asker = Asker::small().await;
    let list = |count: usize| (0..count).map(|n| format!("word{n:04}")).collect::<Vec<_>>().join(",");
    let filters = |count| json!([condition("query", "or_list", &list(count))]).to_string();
    asker.window("2026-10-05", "2026-10-05", &[("filters", &filters(440))]).await;
    let doubled = json!([condition("query", "or_list", &list(440)), or(condition("query", "or_list", &list(441)))]);
    asker.window("2026-10-05", "2026-10-05", &[("filters", &doubled.to_string())]).await;
    let escaped = vec!["a.b"; 900].join(",");
    let (code, hint) = refused(&json!([condition("query", "or_list", &escaped)])).await;
    assert_eq!(code, "filter_too_complex");
    assert!(hint.contains("4096"), "{hint}");
}

#[tokio::test]
async fn fifty_conditions_are_the_most() {
    let asker = Asker::small().await;
    let list = |count: usize| Value::from(vec![condition("query", "contains", "e"); count]).to_string();
    asker.window("2026-10-05", "2026-10-05", &[("filters", &list(50))]).await;
    asker.ask(&[("filters", &list(51))]).await.expect(400);
    for malformed in
        ["", "{}", "[1]", r#"[{"dimension":"query"}]"#, r#"[{"dimension":"query","operator":"contains","value":""}]"#]
    {
        let answer = asker.ask(&[("filters", malformed)]).await.expect(400);
        assert!(answer.hint().contains("filters"), "{malformed}: {}", answer.hint());
    }
    asker.window("2026-10-05", "2026-10-05", &[("filters", "[]")]).await;
}
