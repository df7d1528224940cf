//! The page that lists every operation is current, so that a review sees changes of access, role or idempotency.

use std::{collections::BTreeSet, fs, path::Path};

use api::operation::{self, Idempotency};

#[test]
fn operations_txt_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("operations.txt");
    let reviewed = fs::read_to_string(path).unwrap_or_default();
    assert!(
        reviewed == operation::listing(),
        "api/operations.txt is stale: run `make openapi` and review the difference"
    );
}

#[test]
fn no_two_operations_are_alike() {
    let all = operation::all();
    assert!(all.len() >= 70, "only {} operations", all.len());
    assert_eq!(all.iter().map(|o| o.id).collect::<BTreeSet<_>>().len(), all.len());
    assert_eq!(all.iter().map(|o| (o.method.as_str(), o.path)).collect::<BTreeSet<_>>().len(), all.len());
}

#[test]
fn a_literal_segment_wins_over_a_name() {
    let found = |method: &str, path| operation::find(&method.parse().unwrap(), path).map(|o| o.id);
    assert_eq!(found("PUT", "/api/properties/tracking"), Some("replacePropertyTracking"));
    assert_eq!(found("PUT", "/api/properties/x/favorite"), Some("setPropertyFavorite"));
    assert_eq!(found("HEAD", "/api/tags"), Some("listTags"));
    assert_eq!(found("GET", "/api/properties/x"), Some("getProperty"));
    assert_eq!(found("GET", "/api/properties/tracking"), Some("getPropertyTracking"));
    assert_eq!(found("POST", "/api/properties/x/segments/preview"), Some("previewPropertySegment"));
    // The router looks at the path before the method, so a literal path has its own methods only.
    assert_eq!(found("GET", "/api/properties/sync"), None);
    assert_eq!(found("PUT", "/api/properties/x/segments/preview"), None);
    assert_eq!(found("PATCH", "/api/tags"), None);
    assert_eq!(found("GET", "/api/tags/"), None);
}

/// A keyed request with query parameters is refused without using its key.
#[test]
fn no_write_with_an_enforced_key_takes_query_parameters() {
    for operation in operation::all().iter().filter(|o| o.idempotency == Some(Idempotency::Enforced)) {
        assert!(operation.parameters().is_empty(), "{}", operation.id);
    }
}

#[test]
fn every_operation_has_a_title() {
    for operation in operation::all() {
        assert!(!operation.docs.is_empty(), "{} says nothing", operation.id);
        let summary = operation.docs.lines().next().unwrap_or_default();
        assert!(!summary.ends_with('.') && summary.len() <= 60, "{}: the summary is a title", operation.id);
    }
}
