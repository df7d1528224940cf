//! The registry of versions: what it refuses, and the order in which transforms apply.

use api::{
    VERSION,
    versions::{Change, RELEASES, Release, Versions},
};
use serde_json::{Value, json};

fn note(value: &mut Value, what: &str) {
    if let Value::Array(items) = value {
        items.push(json!(what));
    }
}

const fn renamed(operations: &'static [&'static str]) -> Change {
    Change { refusal: Some(|_| {}), ..Change::of(operations, "Something has another name.") }
}

const FIRST: Release = Release { date: "2026-01-01", sunset: Some("2026-06-01"), changes: &[] };
const SECOND: Release = Release {
    date: "2026-02-01",
    sunset: Some("2026-06-01"),
    changes: &[
        Change {
            request: Some(|body| note(body, "a")),
            response: Some(|body| note(body, "undo a")),
            ..Change::of(&["createTag"], "A.")
        },
        Change { request: Some(|body| note(body, "b")), ..Change::of(&["updateTag", "createTag"], "B.") },
    ],
};
const THIRD: Release = Release {
    date: "2026-03-01",
    sunset: None,
    changes: &[Change {
        request: Some(|body| note(body, "c")),
        response: Some(|body| note(body, "undo c")),
        refusal: Some(|body| note(body, "reword c")),
        ..Change::of(&["createTag"], "C.")
    }],
};

#[test]
fn the_published_releases_are_valid_and_end_with_the_version_of_the_document() {
    let versions = Versions::new(RELEASES).expect("the releases are valid");
    assert_eq!(versions.newest(), VERSION);
}

#[test]
fn a_version_is_served_for_at_least_ninety_days_after_it_is_replaced() {
    let with_sunset = |sunset| Versions::new(&[Release { sunset, ..FIRST }, Release { sunset: None, ..SECOND }]);
    for (sunset, problem) in [
        (Some("2026-05-02"), None),
        (Some("2027-01-01"), None),
        (
            Some("2026-05-01"),
            Some("version 2026-01-01: its sunset must be 2026-05-02 or later, 90 days after its deprecation"),
        ),
        (
            Some("2026-02-01"),
            Some("version 2026-01-01: its sunset must be 2026-05-02 or later, 90 days after its deprecation"),
        ),
        (Some("soon"), Some("version soon: must be a date such as 2026-09-14")),
        (None, Some("version 2026-01-01: a version that is replaced needs a sunset")),
    ] {
        let refused = with_sunset(sunset).err().map(|error| error.to_string());
        assert_eq!(refused.as_deref(), problem, "{sunset:?}");
    }
    let found = with_sunset(Some("2026-05-02")).expect("it is valid");
    let end = found.all()[0].end.expect("it is replaced");
    assert_eq!(
        (end.successor, end.deprecation.to_string(), end.sunset.to_string()),
        ("2026-02-01", "2026-02-01".into(), "2026-05-02".into())
    );
    assert_eq!((found.newest(), found.all()[1].end), ("2026-02-01", None));
}

#[test]
fn mistakes_in_releases_are_refused() {
    let newest = Release { changes: &[], ..THIRD };
    let with = |change: &'static [Change]| vec![FIRST, Release { changes: change, ..THIRD }];
    for (releases, problem) in [
        (vec![], "there must be a version"),
        (vec![Release { date: "2026-1-1", ..newest }], "version 2026-1-1: must be a date"),
        (vec![Release { sunset: Some("2027-01-01"), ..newest }], "the newest version has no sunset"),
        (vec![Release { date: "2026-03-01", ..FIRST }, newest], "must be older than the version after it"),
        (vec![THIRD], "the first version has no version before it"),
        (with(const { &[renamed(&["createLabel"])] }), "no operation is called createLabel"),
        (with(const { &[renamed(&[])] }), "transforms nothing"),
        (with(const { &[Change::of(&["createTag"], "Nothing.")] }), "`Nothing.` transforms nothing"),
        (
            with(const { &[Change { request: Some(|_| {}), ..renamed(&["listTags"]) }] }),
            "listTags reads and has no body",
        ),
        (
            with(const { &[Change { response: Some(|_| {}), ..renamed(&["exportPersonalData"]) }] }),
            "the answer of exportPersonalData is streamed",
        ),
        (
            with(const { &[Change { response: Some(|_| {}), ..renamed(&["exportPropertyPerformanceCsv"]) }] }),
            "the answer of exportPropertyPerformanceCsv is streamed",
        ),
    ] {
        let refused = Versions::new(&releases).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(refused.contains(problem), "{problem}: {refused:?}");
    }
    let whole = with(const { &[Change { response: Some(|_| {}), ..renamed(&["listTags", "getHealth"]) }] });
    assert!(Versions::new(&whole).is_ok());
}

#[test]
fn requests_pass_changes_in_order_and_answers_in_reverse() {
    let versions = Versions::new(&[FIRST, SECOND, THIRD]).expect("the releases are valid");
    for (pin, operation, up, down) in [
        (0, "createTag", json!(["a", "b", "c"]), json!(["undo c", "undo a"])),
        (1, "createTag", json!(["c"]), json!(["undo c"])),
        (2, "createTag", json!([]), json!([])),
        (0, "updateTag", json!(["b"]), json!([])),
        (0, "deleteTag", json!([]), json!([])),
    ] {
        let (mut request, mut steps) = (json!([]), Vec::new());
        versions.upgrade(pin, operation, &mut request, |body| steps.push(body.clone()));
        assert_eq!(request, up, "{pin} {operation}");
        assert_eq!(steps.len(), up.as_array().map_or(0, Vec::len), "{pin} {operation}");
        assert_eq!(versions.changes_requests(pin, operation), !steps.is_empty(), "{pin} {operation}");
        let mut response = json!([]);
        for edit in versions.response_edits(2, pin, operation) {
            edit(&mut response);
        }
        assert_eq!(response, down, "{pin} {operation}");
    }
    // An answer that was stored by an older version comes down from there.
    assert_eq!(versions.response_edits(1, 0, "createTag").len(), 1);
    assert_eq!(versions.response_edits(0, 1, "createTag").len(), 0, "no answer goes up");
    assert_eq!(
        (versions.refusal_edits(2, 0, "createTag").len(), versions.refusal_edits(1, 0, "createTag").len()),
        (1, 0)
    );
}

#[test]
fn an_unknown_version_is_told_the_known_ones() {
    for (releases, hint) in [
        (vec![Release { changes: &[], ..THIRD }], "X-API-Version: the only supported version is 2026-03-01"),
        (vec![FIRST, THIRD], "X-API-Version: must be one of 2026-01-01, 2026-03-01; without it, the newest answers"),
    ] {
        assert_eq!(Versions::new(&releases).expect("the releases are valid").hint(), hint);
    }
}
