//! A refused body names the field and says what is allowed.

use api::{
    analytics::PerformanceQueryInput,
    annotations::AnnotationInput,
    body::Body,
    classifications::{BrandedKeywordsInput, SegmentInput},
    error::{ApiError, Code},
    filters::FilterPresetInput,
    properties::TrackingSelection,
    sharing::ShareLinkInput,
    tags::TagInput,
    team::InviteInput,
};
use poem::http::{HeaderMap, HeaderValue, header};
use poem_openapi::types::ParseFromJSON;

/// The headers of a body with these content types.
fn sent_as(types: &[&'static str]) -> HeaderMap {
    types.iter().map(|text| (header::CONTENT_TYPE, HeaderValue::from_static(text))).collect()
}

fn read<T: ParseFromJSON + 'static>(text: &str) -> Result<Body<T>, ApiError> {
    Body::read(&sent_as(&["application/json"]), text.as_bytes())
}

fn hint<T: ParseFromJSON + 'static>(text: &str) -> String {
    match read::<T>(text) {
        Ok(_) => "accepted".to_owned(),
        Err(error) => {
            assert_eq!(error.code, Code::InvalidRequest);
            error.hint.unwrap_or_default()
        }
    }
}

#[test]
fn scalar_fields() {
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(101));
    for (body, expected) in [
        (r#"{"name":"Shops"}"#, "accepted"),
        (r#"{"name":"Läden 🛍"}"#, "accepted"),
        (r#"{"name":"Shops","order":3}"#, "accepted"),
        (r#"{"name":"Shops","order":3.0}"#, "accepted"),
        (r#"{"name":"Shops","order":3e2}"#, "accepted"),
        ("{}", "name: is required"),
        (r#"{"Name":"Shops"}"#, "Name: is not a field here; allowed are name, order"),
        (r#"{"name":null}"#, "name: must be a string"),
        (r#"{"name":7}"#, "name: must be a string"),
        (r#"{"name":""}"#, "name: must be 1 to 100 characters long, and is 0"),
        (long.as_str(), "name: must be 1 to 100 characters long, and is 101"),
        (
            r#"{"name":"   "}"#,
            "name: must hold a visible character, no control characters and none that turn the direction of text",
        ),
        (
            r#"{"name":"a\nb"}"#,
            "name: must hold a visible character, no control characters and none that turn the direction of text",
        ),
        (r#"{"name":"a\u0000b"}"#, "name: must not contain the NUL character"),
        (r#"{"name":"Shops","order":"3"}"#, "order: must be an integer"),
        (r#"{"name":"Shops","order":1.5}"#, "order: must be an integer"),
        (r#"{"name":"Shops","order":null}"#, "accepted"),
        (r#"{"name":"Shops","colour":null}"#, "colour: is not a field here; allowed are name, order"),
        (r#"{"name":"Shops","order":-1}"#, "order: must be from 0 to 1000000"),
        (r#"{"name":"Shops","order":1000001}"#, "order: must be from 0 to 1000000"),
        (r#"{"name":"Shops","colour":"red"}"#, "colour: is not a field here; allowed are name, order"),
        ("[]", "body: must be an object"),
        ("null", "body: must be an object"),
        ("", "body: is required; send a JSON object"),
        ("{", "body: ends too early at line 1, column 1"),
        ("{\"name\":\n nope}", "body: is not JSON in UTF-8 at line 2, column 3"),
        (r#"{"name":"a"} x"#, "body: is not JSON in UTF-8 at line 1, column 14"),
        (r#"{"name":"a","name":"b"}"#, "name: is given twice; send it once"),
        (r#"{"name":"a","order":1,"order":1}"#, "order: is given twice; send it once"),
    ] {
        assert_eq!(hint::<TagInput>(body), expected, "{body}");
    }
}

/// Displayed text must not contain invisible characters, least of all those that change its direction.
#[test]
fn names_and_texts_are_what_they_look_like() {
    let texts = |name: &str| {
        let text = serde_json::to_string(name).unwrap();
        let name = hint::<TagInput>(&format!(r#"{{"name":{text}}}"#));
        (name, hint::<AnnotationInput>(&format!(r#"{{"date":"2026-02-28","text":{text}}}"#)))
    };
    for good in ["Läden 🛍", "👩‍👩‍👧 ❤️", "نرگس", "שלום", "a\u{200d}b", "می‌خواهم", "日本語"]
    {
        assert_eq!(texts(good), ("accepted".to_owned(), "accepted".to_owned()), "{good:?}");
    }
    for turned in
        ["a\u{202e}b", "a\u{202a}b", "a\u{2066}b", "a\u{2069}b", "a\u{85}b", "a\u{9b}b", "a\u{7f}b", "a\u{1b}[31mb"]
    {
        let (name, text) = texts(turned);
        assert!(name.starts_with("name: must hold a visible character"), "{turned:?}: {name}");
        assert!(text.starts_with("text: must hold a visible character"), "{turned:?}: {text}");
    }
    for invisible in [
        "\u{200b}",
        "\u{200b} \u{2060}\u{feff}",
        "\u{ad}",
        "\u{200e}\u{200f}",
        "\u{3164}",
        "\u{2800}",
        "\u{e0041}\u{e0001}",
        "\u{1d173}\u{1d17a}",
        "\u{fff9}\u{fffb}",
    ] {
        let (name, text) = texts(invisible);
        assert!(name != "accepted" && text != "accepted", "{invisible:?}");
    }
    assert_eq!(texts("two\r\nlines\tand a tab").1, "accepted");
}

#[test]
fn an_address_has_nothing_around_it_and_no_invisible_character() {
    let invited =
        |email: &str| hint::<InviteInput>(&serde_json::json!({ "email": email, "role": "viewer" }).to_string());
    for address in ["ann@example.org", "änn@bücher.example", "ann@日本語.example"] {
        assert_eq!(invited(address), "accepted", "{address}");
    }
    for around in [
        "mailto:ann@example.org",
        "https://ann@example.org",
        "ann@example.org,",
        "ann@example.org;",
        "ann,bob@example.org",
        "<ann@example.org>",
        "ann@example.org>",
        "ann@example.org.",
        "\"ann\"@example.org",
        "Ann (work)@example.org",
    ] {
        assert!(invited(around).starts_with("email: must be one e-mail address"), "{around}");
    }
    let unseen = "\u{200b}\u{ad}\u{feff}\u{2060}\u{e0041}\u{200f}\u{3164}\u{180e}\u{fe0f}\u{34f}\u{2800}\u{202e}\u{80}";
    for letter in unseen.chars() {
        for address in
            [format!("an{letter}n@example.org"), format!("ann@exam{letter}ple.org"), format!("ann@example.org{letter}")]
        {
            let said = invited(&address);
            assert_eq!(
                said,
                "email: must be one e-mail address, such as ann@example.org, without characters that cannot be seen",
                "{address:?}"
            );
        }
    }
}

#[test]
fn a_keyword_holds_a_letter_of_any_script_and_nothing_that_turns_it() {
    let added = |word: &str| hint::<BrandedKeywordsInput>(&serde_json::json!({ "keywords": [word] }).to_string());
    for word in ["acme", "𝒜𝒷", "𐐀", "日本", "می\u{200c}خواهم", "4 u", "ⅷ"] {
        assert_eq!(added(word), "accepted", "{word}");
    }
    for word in ["\u{202e}north", "x\u{2066}y", "a\u{85}b", "a\u{9b}", "a\nb", "!!", "😀", "\u{2800}"] {
        let said = added(word);
        assert!(said.starts_with("keywords[0]: must hold a letter or a digit, no control"), "{word:?}: {said}");
    }
}

#[test]
fn nested_fields() {
    for (body, expected) in [
        (r#"{"name":"x","filters":[]}"#, "filters: must have 1 to 50 items, and has 0"),
        (r#"{"name":"x","filters":[7]}"#, "filters[0]: must be an object"),
        (r#"{"name":"x","filters":[{"dimension":"query","operator":"equals"}]}"#, "filters[0].value: is required"),
        (
            r#"{"name":"x","filters":[{"dimension":"query","operator":"equals","value":"a"},{"dimension":"query","operator":"is","value":"a"}]}"#,
            "filters[1].operator: must be one of contains, not_contains, equals, matches_regex, or_list",
        ),
        (
            r#"{"name":"x","filters":[{"dimension":"query","operator":"equals","value":"a","not":true}]}"#,
            "filters[0].not: is not a field here; allowed are dimension, operator, value, logic",
        ),
        (
            r#"{"name":"x","filters":[{"dimension":"query","operator":"equals","value":"a","logic":"AND"}]}"#,
            "filters[0].logic: must be one of and, or",
        ),
    ] {
        assert_eq!(hint::<FilterPresetInput>(body), expected, "{body}");
    }
    let twice = r#"{"name":"x","filters":[{"dimension":"query","operator":"equals","value":"a","value":"b"}]}"#;
    assert_eq!(hint::<FilterPresetInput>(twice), "filters[0].value: is given twice; send it once");
    let urls = vec!["https://a.test/a-page"; 200].join(",");
    let long = format!(r#"{{"name":"x","filters":[{{"dimension":"page","operator":"or_list","value":"{urls}"}}]}}"#);
    assert_eq!(
        hint::<FilterPresetInput>(&long),
        "filters[0].value: must be 1 to 4096 characters long, and is 4399; divide a longer or_list between conditions: give each \
         further one logic or, and repeat beside it what else must hold"
    );
    let segment = r#"{"name":"x","color":"red","conditions":[{"operator":"equals","value":"a"}]}"#;
    assert_eq!(hint::<SegmentInput>(segment), "color: must be a colour, # and six hexadecimal digits");
    assert_eq!(
        hint::<BrandedKeywordsInput>(r#"{"keywords":["acme",""]}"#),
        "keywords[1]: must be 1 to 100 characters long, and is 0"
    );
}

#[test]
fn formats() {
    let id = "01937f5e-8a7b-7c3d-9e4f-0a1b2c3d4e5f";
    assert_eq!(hint::<TrackingSelection>(&format!(r#"{{"propertyIds":["{id}"]}}"#)), "accepted");
    assert_eq!(
        hint::<TrackingSelection>(&format!(r#"{{"propertyIds":["{id}","{id}"]}}"#)),
        format!("propertyIds: must not hold \"{id}\" twice")
    );
    let compact = id.replace('-', "");
    for wrong in ["", "x", compact.as_str(), "urn:uuid:01937f5e-8a7b-7c3d-9e4f-0a1b2c3d4e5f"] {
        let body = format!(r#"{{"propertyIds":["{wrong}"]}}"#);
        assert_eq!(hint::<TrackingSelection>(&body), "propertyIds[0]: must be a UUID");
    }
    assert_eq!(hint::<AnnotationInput>(r#"{"date":"2026-02-28","text":"x"}"#), "accepted");
    for date in ["2026-02-30", "2026-2-1", "20260201", "+2026-2-01", "2026-02-01T00:00:00Z"] {
        let body = format!(r#"{{"date":"{date}","text":"x"}}"#);
        assert_eq!(
            hint::<AnnotationInput>(&body),
            "date: must be a calendar date, YYYY-MM-DD, from 1900-01-01 to 2200-12-31",
            "{date}"
        );
    }
    assert_eq!(hint::<ShareLinkInput>("{}"), "accepted");
    assert_eq!(hint::<ShareLinkInput>(r#"{"expiresAt":"2030-01-01T00:00:00+02:00"}"#), "accepted");
    assert_eq!(
        hint::<ShareLinkInput>(r#"{"expiresAt":"2030-01-01"}"#),
        "expiresAt: must be an RFC 3339 timestamp from 1900-01-01 to 2200-12-31 in UTC"
    );
    assert_eq!(
        hint::<InviteInput>(r#"{"email":"nobody","role":"viewer"}"#),
        "email: must be one e-mail address, such as ann@example.org, without characters that cannot be seen"
    );
    assert_eq!(
        hint::<InviteInput>(r#"{"email":"a@b.test","role":"owner"}"#),
        "role: must be one of viewer, editor, admin"
    );
}

#[test]
fn content_types() {
    let refused = |types: &[&'static str]| {
        let read = Body::<TagInput>::read(&sent_as(types), br#"{"name":"Shops"}"#);
        read.err().map(|error| (error.code, error.hint.unwrap()))
    };
    for accepted in ["application/json", "Application/JSON; charset=utf-8"] {
        assert_eq!(refused(&[accepted]), None, "{accepted}");
    }
    for (types, what) in [
        (&["text/plain"][..], "is text/plain"),
        (&["application/jsonp"], "is application/jsonp"),
        (&["application/json, text/plain"], "is application/json, text/plain"),
        (&[""], "is missing"),
        (&[], "is missing"),
    ] {
        let hint = format!("Content-Type: {what}; send application/json");
        assert_eq!(refused(types), Some((Code::UnsupportedMediaType, hint)));
    }
    for twice in [["application/json", "text/plain"], ["text/plain", "application/json"]] {
        let hint = "Content-Type: was sent twice; send one".to_owned();
        assert_eq!(refused(&twice), Some((Code::InvalidRequest, hint)));
    }
}

proptest::proptest! {
    #[test]
    fn no_input_panics(text in "\\PC*") {
        let _ = read::<FilterPresetInput>(&text);
    }
}

#[test]
fn a_question_for_rows_is_checked_field_by_field() {
    let said = |body: &str| {
        read::<PerformanceQueryInput>(body)
            .and_then(|Body(body)| body.asked())
            .map_or_else(|error| error.hint.unwrap(), |_| "accepted".to_owned())
    };
    for (body, expected) in [
        (r#"{"dimensions":[]}"#, "accepted"),
        (
            r#"{"dimensions":["date","query","page"],"limit":25000,"offset":0,"sort":null,"limit2":1}"#,
            "limit2: is not a field here; allowed are dimensions, startDate",
        ),
        (r#"{"dimensions":["device"],"limit":null,"offset":null,"compare":null,"filters":[]}"#, "accepted"),
        (r#"{"dimensions":["searchAppearance"],"compare":"previous_year","sort":"-change.clicks"}"#, "accepted"),
        ("{}", "dimensions: is required"),
        (r#"{"dimensions":"query"}"#, "dimensions: must be an array"),
        (
            r#"{"dimensions":["hour"]}"#,
            "dimensions[0]: must be one of date, query, page, country, device, searchAppearance",
        ),
        (r#"{"dimensions":["date","query","page","device"]}"#, "dimensions: must have 0 to 3 items, and has 4"),
        (r#"{"dimensions":["query","page","query"]}"#, "dimensions: must not hold \"query\" twice"),
        (r#"{"dimensions":["query","searchAppearance"]}"#, "dimensions: searchAppearance stands alone"),
        (
            r#"{"dimensions":["date"],"compareStart":"2026-01-01","compareEnd":"2026-01-02"}"#,
            "dimensions: date goes with no comparison",
        ),
        (r#"{"dimensions":[],"startDate":"2026-01-01"}"#, "endDate: is required beside startDate"),
        (r#"{"dimensions":[],"startDate":"2026-02-30","endDate":"2026-03-01"}"#, "startDate: must be a calendar date"),
        (
            r#"{"dimensions":[],"compare":"previous_year","compareStart":"2026-02-01","compareEnd":"2026-03-01"}"#,
            "compare: give either compare or",
        ),
        (
            r#"{"dimensions":[],"filters":[{"dimension":"query","operator":"is","value":"a"}]}"#,
            "filters[0].operator: must be one of",
        ),
        (
            r#"{"dimensions":[],"classification":"brand"}"#,
            "classification: must be branded, nonBranded, segment:<uuid>",
        ),
        (r#"{"dimensions":[],"sort":"change.ctr.percent"}"#, "sort: must be clicks, impressions, ctr or position"),
        (r#"{"dimensions":[],"metricFilters":"clicks=>1"}"#, "metricFilters: must be conditions such as"),
        (
            r#"{"dimensions":[],"metricFilters":"countries.clicks>1"}"#,
            "metricFilters: countries.clicks>1 names a table, and this answer is one list; use clicks>1",
        ),
        (r#"{"dimensions":[],"limit":25001}"#, "limit: must be from 1 to 25000"),
        (r#"{"dimensions":[],"limit":99999999999999999999}"#, "limit: must be from 1 to 25000"),
        (r#"{"dimensions":[],"limit":-1e300}"#, "limit: must be from 1 to 25000"),
        (r#"{"dimensions":[],"limit":1.5}"#, "limit: must be an integer"),
        (r#"{"dimensions":[],"offset":-1}"#, "offset: must be from 0 to 100000"),
    ] {
        let said = said(body);
        assert!(said.starts_with(expected), "{body}: {said}");
    }
    let long = format!(r#"{{"dimension":"query","operator":"equals","value":"{}"}}"#, "x".repeat(4000));
    let body = format!(r#"{{"dimensions":[],"filters":[{}]}}"#, [&*long; 16].join(","));
    assert!(said(&body).starts_with("filters: at most 60,000 bytes as JSON are allowed"), "{}", said(&body));
}
