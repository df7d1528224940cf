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
