//! Tests of query analyses: every number of every response is compared with the generator's cells.

mod branded;
mod cannibalization;
mod case;
mod checks;
mod curve;
mod explanation;
mod growth;
mod honesty;
mod insights;
mod places;
mod query_count;

use std::collections::HashMap;

use serde_json::Value;

use self::case::Case;
use super::performance::Asker;
use crate::support::app::{TestApp, shared};

/// Sends each case to `app` and passes the response to `check`.
async fn each_in(app: &TestApp, operation: &str, cases: &[Case], check: impl Fn(&Case, &Value)) {
    let mut askers = HashMap::new();
    for case in cases {
        let place = case.place;
        if !askers.contains_key(place.url) {
            askers.insert(place.url, Asker::of(app, place.who, place.url).await);
        }
        println!("{operation} of {case:#?}");
        let answer = case.ask(&askers[place.url], operation).await.expect(200);
        checks::meta(case, &answer.json["meta"]);
        check(case, &answer.json);
    }
}

/// Does the same in the shared app.
async fn each(operation: &str, cases: &[Case], check: impl Fn(&Case, &Value)) {
    each_in(shared(), operation, cases, check).await;
}
