//! Tests of query analyses: every number of every response is compared with the generator's cells.

mod branded;
mod cannibalization;
mod cases;
mod checks;
mod curve;
mod explanation;
mod growth;
mod honesty;
mod insights;
mod query_count;

use serde_json::Value;

use super::case::{Case, People};

/// One of `people` asks each case. Passes the answers to `check`.
async fn each_of(people: &People, operation: &str, cases: &[Case], check: impl Fn(&Case, &Value)) {
    for case in cases {
        println!("{operation} of {case:#?}");
        let answer = case.ask(people, operation, &[]).await.expect(200);
        checks::meta(case, &answer.json["meta"]);
        check(case, &answer.json);
    }
}

/// Does the same with the people of the shared app.
async fn each(operation: &str, cases: &[Case], check: impl Fn(&Case, &Value)) {
    each_of(&People::new().await, operation, cases, check).await;
}
