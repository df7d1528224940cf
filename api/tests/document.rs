//! The committed document is the one the traits make.

use std::{fs, path::Path};

fn committed() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../openapi.json")).unwrap_or_default()
}

#[test]
fn openapi_json_is_current() {
    assert!(
        committed() == api::document::committed_text(),
        "openapi.json is stale: run `make openapi` and review the difference"
    );
}

#[test]
fn the_patterns_of_short_texts_are_the_ones_that_refusals_explain() {
    use api::models::{COLOR_PATTERN, EMAIL_PATTERN, NAME_PATTERN, TEXT_PATTERN};
    let document = api::document::document(&api::document::Locations::relative());
    for (schema, field, pattern) in [
        ("TagInput", "name", NAME_PATTERN),
        ("SegmentInput", "name", NAME_PATTERN),
        ("SegmentInput", "color", COLOR_PATTERN),
        ("TopicClusterInput", "name", NAME_PATTERN),
        ("TopicClusterInput", "color", COLOR_PATTERN),
        ("FilterPresetInput", "name", NAME_PATTERN),
        ("ShareLinkInput", "name", NAME_PATTERN),
        ("AnnotationInput", "category", NAME_PATTERN),
        ("AnnotationInput", "text", TEXT_PATTERN),
        ("InviteInput", "email", EMAIL_PATTERN),
    ] {
        assert_eq!(
            document["components"]["schemas"][schema]["properties"][field]["pattern"], pattern,
            "{schema}.{field}"
        );
    }
}

#[test]
fn secrets_are_write_only_and_no_answer_holds_them() {
    let document = api::document::document(&api::document::Locations::relative());
    let schemas = &document["components"]["schemas"];
    for (schema, field) in [("ProviderACredentials", "password"), ("ProviderBCredentials", "apiKey")] {
        let secret = &schemas[schema]["properties"][field];
        assert_eq!((&secret["writeOnly"], &secret["format"]), (&true.into(), &"password".into()), "{schema}.{field}");
    }
    let answers = ["ProviderConnection", "IntegrationsStatus", "PersonalData"];
    for answer in answers {
        let text = schemas[answer].to_string();
        assert!(!text.contains("\"password\"") && !text.contains("apiKey"), "{answer}");
    }
}

#[test]
fn every_word_of_an_enumeration_has_a_name_that_a_generated_client_can_use() {
    let document = api::document::document(&api::document::Locations::relative());
    let starts_with_a_letter = |word: &serde_json::Value| {
        word.as_str().is_some_and(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()))
    };
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    for (name, schema) in schemas {
        let words = schema.get("x-enum-varnames").or_else(|| schema.get("enum"));
        for word in words.and_then(serde_json::Value::as_array).into_iter().flatten() {
            assert!(starts_with_a_letter(word), "{name}: {word}");
        }
    }
    let names = &schemas["PositionBucket"]["x-enum-varnames"];
    assert_eq!(*names, serde_json::json!(["From1To3", "From4To10", "From11To20", "From21"]));
}
