//! Analyses of queries: every figure of every answer, held against what the generator's cells say by themselves.

mod branded;
mod cannibalization;
mod case;
mod checks;
mod curve;
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

/// Asks each case in `app` and hands its answer to `check`.
async fn each_in(app: &TestApp, operation: &str, cases: &[Case], check: impl Fn(&Case, &Value)) {
    let mut askers = HashMap::new();
    for case in cases {
        let place = case.place;
        if !askers.contains_key(place.url) {
            askers.insert(place.url, Asker::of(app, place.who, place.url).await);
        }
        println!("{operation} of {case:#?}");
        let answer = case.ask(app, &askers[place.url], operation).await.expect(200);
        checks::meta(case, &answer.json["meta"]);
        check(case, &answer.json);
    }
}

/// The same in the app that tests share.
async fn each(operation: &str, cases: &[Case], check: impl Fn(&Case, &Value)) {
    each_in(shared(), operation, cases, check).await;
}
