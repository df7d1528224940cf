//! Tests of the methods of paths, and of writes that take no body.

use std::collections::BTreeSet;

use poem::http::Method;

use crate::{
    coverage::{Documented, documented},
    support::{
        actor::{Actor, Answer},
        app::{TestApp, shared},
    },
};

const METHODS: [&str; 6] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

#[tokio::test]
async fn a_method_that_a_path_lacks_is_refused_before_anything_else() {
    let owner = shared().actor("owner").await;
    let property = owner.property("northmoor").await;
    let nobody = Actor::with_token(&shared().service.base_url, "x");
    let paths: BTreeSet<String> = documented().into_iter().map(|operation| operation.path).collect();
    let mut refused = 0;
    for path in &paths {
        let url = path.replace("{id}", &property).replace(['{', '}'], "");
        let allow = shared().anonymous().send(Method::OPTIONS, &url, None, &[]).await.expect(204);
        let allow = allow.header("allow").to_owned();
        for method in METHODS.into_iter().filter(|method| !allow.split(", ").any(|allowed| allowed == *method)) {
            for caller in [&owner, &shared().anonymous(), &nobody] {
                for version in ["2026-09-14", "2020-01-01"] {
                    let headers = [("x-api-version", version), ("content-type", "application/json")];
                    let body = (method != "HEAD").then(|| "[".to_owned());
                    let url = format!("{url}?nonsense=1");
                    let answer = caller.send(method.parse().unwrap(), &url, body, &headers).await.expect(405);
                    assert_eq!(answer.header("allow"), allow, "{method} {path}");
                    assert!(method == "HEAD" || answer.code() == "method_not_allowed", "{method} {path}");
                    refused += 1;
                }
            }
        }
    }
    assert!(refused > 500, "{refused}");
}

async fn write(owner: &Actor, operation: &Documented, property: &str, body: &str, is_json: bool) -> Answer {
    let path = operation.at(property) + &operation.query();
    let json = if is_json { vec![("content-type", "application/json")] } else { vec![] };
    owner.send(operation.method.clone(), &path, Some(body.to_owned()), &json).await
}

#[tokio::test]
async fn writes_that_take_no_body_accept_an_empty_one_and_refuse_any_field() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let is_bodiless =
        |operation: &Documented| operation.method != Method::GET && operation.says["requestBody"].is_null();
    let mut writes: Vec<Documented> = documented().into_iter().filter(is_bodiless).collect();
    assert!(writes.len() >= 12, "{}", writes.len());
    let refusals = [
        ("{\"dryRun\":true}", "dryRun: "),
        ("{\"a b\":null,\"z\":1}", "a b: "),
        ("{\"twice\":1,\"twice\":2}", "twice: "),
        ("[]", "body: "),
        ("dryRun=true", "body: "),
        ("{", "body: "),
    ];
    for operation in &writes {
        for (body, name) in refusals {
            for is_json in [true, false] {
                let answer = write(&owner, operation, &property, body, is_json).await;
                let said = format!("{} {body}: {}", operation.id(), String::from_utf8_lossy(&answer.bytes));
                assert_eq!((answer.status.as_u16(), answer.code()), (400, "invalid_request"), "{said}");
                assert!(answer.hint().starts_with(name), "{said}");
            }
        }
    }
    owner.get(&format!("/api/properties/{property}?headline=false")).await.expect(200);
    // The last one ends the sign-in.
    writes.sort_by_key(|operation| operation.id() == "deletePersonalData");
    let deletion = writes.pop().unwrap();
    for operation in &writes {
        for body in ["", "{}", " { }\n", "\n", "null"] {
            for is_json in [true, false] {
                let answer = write(&owner, operation, &property, body, is_json).await;
                let said = format!("{} {body:?}: {}", operation.id(), String::from_utf8_lossy(&answer.bytes));
                assert!(![400, 415].contains(&answer.status.as_u16()), "{said}");
            }
        }
    }
    write(&owner, &deletion, &property, "{}", false).await.expect(204);
    owner.get("/api").await.expect(401);
}
