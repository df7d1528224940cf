//! The committed document is the one that the traits produce.

use std::{fs, path::Path};

use api::document::{Locations, document};
use serde_json::Value;

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
    use api::models::{COLOR_PATTERN, EMAIL_PATTERN, TEXT_PATTERN};
    let document = document(&Locations::relative());
    for (schema, field, pattern) in [
        ("SegmentInput", "color", COLOR_PATTERN),
        ("TopicClusterInput", "color", COLOR_PATTERN),
        ("AnnotationInput", "text", TEXT_PATTERN),
        ("InviteInput", "email", EMAIL_PATTERN),
    ] {
        let field_schema = &document["components"]["schemas"][schema]["properties"][field];
        let exact = field_schema.get("x-pattern").unwrap_or(&field_schema["pattern"]);
        assert_eq!(exact, pattern, "{schema}.{field}");
    }
    let keywords = &document["components"]["schemas"]["BrandedKeywordsInput"]["properties"]["keywords"];
    assert_eq!(keywords["items"]["x-pattern"], r"^[^\x00-\x1F\x7F]*[0-9A-Za-z\u00AA-\uFFFF][^\x00-\x1F\x7F]*$");
}

/// In a schema that answers share with bodies, too.
#[test]
fn optional_fields_of_bodies_may_be_null_and_required_ones_may_not() {
    let document = document(&Locations::relative());
    let may_be_null = |schema: &str, field: &str| {
        let field = &document["components"]["schemas"][schema]["properties"][field];
        assert!(field.is_object(), "{schema} has no such field");
        let null = Value::from("null");
        let kinds = field["oneOf"].as_array().map(|parts| parts.iter().any(|part| part["type"] == null));
        kinds.unwrap_or_else(|| field["type"].as_array().is_some_and(|kinds| kinds.contains(&null)))
    };
    for (schema, field) in [
        ("AnnotationInput", "endDate"),
        ("ShareLinkInput", "expiresAt"),
        ("InviteInput", "propertyIds"),
        ("InviteInput", "allProperties"),
        ("SegmentInput", "color"),
        ("ClassificationCondition", "logic"),
        ("FilterCondition", "logic"),
    ] {
        assert!(may_be_null(schema, field), "{schema}.{field}");
    }
    for (schema, field) in [("AnnotationInput", "date"), ("InviteInput", "role"), ("FilterCondition", "operator")] {
        assert!(!may_be_null(schema, field), "{schema}.{field}");
    }
}

#[test]
fn secrets_are_write_only_and_no_answer_holds_them() {
    let document = document(&Locations::relative());
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
    let document = document(&Locations::relative());
    let starts_with_a_letter =
        |word: &Value| word.as_str().is_some_and(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()));
    let schemas = document["components"]["schemas"].as_object().expect("schemas");
    for (name, schema) in schemas {
        let words = schema.get("x-enum-varnames").or_else(|| schema.get("enum"));
        for word in words.and_then(Value::as_array).into_iter().flatten() {
            assert!(starts_with_a_letter(word), "{name}: {word}");
        }
    }
    let names = &schemas["PositionBucket"]["x-enum-varnames"];
    assert_eq!(*names, serde_json::json!(["From1To3", "From4To10", "From11To20", "From21"]));
}

#[test]
fn every_query_parameter_has_a_description_an_example_and_a_default() {
    let document = document(&Locations::relative());
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let parameters: Vec<&Value> = operations
        .filter_map(|operation| operation["parameters"].as_array())
        .flatten()
        .filter(|parameter| parameter["in"] == "query")
        .collect();
    assert!(parameters.len() > 100, "only {} parameters were looked at", parameters.len());
    for parameter in parameters {
        let (name, description) = (&parameter["name"], parameter["description"].as_str().unwrap_or_default());
        let example =
            if parameter["required"] == true { &parameter["example"] } else { &parameter["schema"]["examples"][0] };
        assert!(!description.is_empty() && !example.is_null(), "{name}");
        let told = !parameter["schema"]["default"].is_null() || parameter["required"] == true;
        assert!(told || description.to_lowercase().contains("without "), "{name} has no default and does not say so");
    }
}

#[test]
fn names_of_components_are_short() {
    let document = document(&Locations::relative());
    for (name, _) in document["components"]["responses"].as_object().unwrap() {
        assert!(name.len() <= 40, "{name} has {} characters", name.len());
    }
}

#[test]
fn no_answer_is_one_of_several_shapes() {
    let document = document(&Locations::relative());
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    for operation in operations {
        for (status, response) in operation["responses"].as_object().unwrap() {
            let schema = &response["content"]["application/json"]["schema"];
            assert!(schema["oneOf"].is_null() && schema["anyOf"].is_null(), "{} {status}", operation["operationId"]);
        }
    }
}

/// `docs/API-DESIGN.md`, "Words", has the rule.
#[test]
fn words_of_enumerations_are_spelt_alike() {
    let document = document(&Locations::relative());
    let is_snake_case = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_lowercase())
            && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    // Names of dimensions, tables and search types, which the specification has so; the engine's own words; ranges.
    let others = ["searchAppearance", "searchAppearances", "googleNews", "nonBranded", "byProperty", "byPage"];
    let is_range = |word: &str| word.starts_with(|first: char| first.is_ascii_digit());
    let mut seen = 0;
    visit(&document, &mut |object| {
        for word in object.get("enum").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str) {
            seen += 1;
            assert!(is_snake_case(word) || others.contains(&word) || is_range(word), "{word}");
        }
    });
    assert!(seen > 100, "only {seen} words were looked at");
}

fn visit(value: &Value, see: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            see(object);
            object.values().for_each(|value| visit(value, see));
        }
        Value::Array(items) => items.iter().for_each(|value| visit(value, see)),
        _ => {}
    }
}

/// A client that is made from the committed document must not call an address that nobody has.
#[test]
fn the_committed_document_leaves_its_host_to_whoever_takes_it() {
    let document = document(&Locations::relative());
    let server = &document["servers"][0];
    assert_eq!(server["url"], "{baseUrl}");
    for (part, start) in [("default", "http://127.0.0.1:8080"), ("description", "The setting `base_url`")] {
        let text = server["variables"]["baseUrl"][part].as_str().unwrap();
        assert!(text.starts_with(start), "{part}: {text}");
    }
    let flow = &document["components"]["securitySchemes"]["oauth2"]["flows"]["authorizationCode"];
    for name in ["authorizationUrl", "tokenUrl", "refreshUrl"] {
        assert!(flow[name].as_str().unwrap().starts_with("/oauth/"), "{}", flow[name]);
    }
    assert_eq!((document.get("externalDocs"), document["info"].get("contact")), (None, None));
}

/// Pages that try an operation out fill in `example` and, in schemas of the 3.0 dialect, theirs.
#[test]
fn only_what_a_request_needs_is_filled_in() {
    let document = document(&Locations::relative());
    let shared = document["components"]["parameters"].as_object().unwrap();
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|item| item.as_object().unwrap().values());
    let own = operations.flat_map(|operation| operation["parameters"].as_array().unwrap());
    let all: Vec<&Value> = own.filter(|parameter| parameter["$ref"].is_null()).chain(shared.values()).collect();
    assert!(all.iter().any(|parameter| parameter["required"] == true) && all.len() > 100);
    for parameter in all {
        let filled_in = ["/example", "/examples", "/schema/example"].iter().any(|at| parameter.pointer(at).is_some());
        assert_eq!(filled_in, parameter["required"] == true, "{}", parameter["name"]);
    }
}

#[test]
fn every_error_code_is_listed_and_more_may_be_added() {
    let document = document(&Locations::relative());
    let code = &document["components"]["schemas"]["ErrorBody"]["properties"]["code"];
    let all: Vec<Value> = api::error::Code::ALL.iter().map(|code| code.as_str().into()).collect();
    assert_eq!((&code["x-extensible-enum"], &code["enum"]), (&Value::Array(all), &Value::Null));
    assert!(document["info"]["description"].as_str().unwrap().contains("](/docs/errors)"));
}

#[test]
fn the_tags_that_people_come_for_stand_first() {
    let document = document(&Locations::relative());
    let names: Vec<&str> =
        document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    assert_eq!(names[..2], ["Properties", "Analytics"]);
    assert_eq!(names.last(), Some(&"System"));
}

/// The dependency that reads XML is outdated; `deny.toml` accepts it because nothing calls it.
#[test]
fn no_operation_takes_or_gives_xml() {
    let text = document(&Locations::relative()).to_string().to_lowercase();
    assert!(!text.contains("xml"), "the document names XML");
}
