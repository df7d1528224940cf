//! Tests of the first request of somebody who knows nothing but the id of a property. Pages that try an operation out fill in the
//! `example` of a parameter, else the `example` or the `default` of its schema, and the example of the body.

use poem::http::Method;
use serde_json::{Value, json};

use crate::{
    coverage::{Documented, documented},
    support::{
        actor::{Actor, Answer},
        app::TestApp,
        contract::DOCUMENT,
    },
};

/// An operation as a page fills it in.
struct Filled {
    operation: Documented,
    query: Vec<(String, String)>,
    headers: Vec<(String, String)>,
}

impl Filled {
    /// Returns the operation if it needs no other id than that of a property.
    fn of(operation: Documented) -> Option<Self> {
        let parameters: Vec<&Value> = operation.says["parameters"].as_array().unwrap().iter().map(resolved).collect();
        let mut ids = parameters.iter().filter(|parameter| parameter["in"] == "path");
        if !ids.all(|parameter| *parameter == &DOCUMENT["components"]["parameters"]["PropertyId"]) {
            return None;
        }
        let filled_in = |place: &str| {
            let here = parameters.iter().filter(|parameter| parameter["in"] == place);
            here.filter_map(|parameter| Some((text(&parameter["name"]), text(filled_in(parameter)?)))).collect()
        };
        Some(Self { query: filled_in("query"), headers: filled_in("header"), operation })
    }

    async fn send(&self, actor: &Actor, property: &str, body: Option<&Value>) -> Answer {
        let query = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(&self.query).finish();
        let mut headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        headers.extend(body.map(|_| ("content-type", "application/json")));
        let path = format!("{}?{query}", self.operation.at(property));
        actor.send(self.operation.method.clone(), &path, body.map(Value::to_string), &headers).await
    }
}

fn resolved(parameter: &Value) -> &Value {
    parameter["$ref"].as_str().map_or(parameter, |at| DOCUMENT.pointer(at.trim_start_matches('#')).unwrap())
}

fn filled_in(parameter: &Value) -> Option<&Value> {
    ["/example", "/schema/example", "/schema/default"].iter().find_map(|at| parameter.pointer(at))
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn filled(method: &Method) -> Vec<Filled> {
    documented().into_iter().filter(|operation| operation.method == method).filter_map(Filled::of).collect()
}

#[tokio::test]
async fn every_read_without_another_id_is_answered_with_its_example() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let reads = filled(&Method::GET);
    assert!(reads.len() > 25, "{}", reads.len());
    for read in reads {
        let answer = read.send(&owner, &property, None).await;
        let is_paid = answer.code() == "provider_not_connected";
        assert!(answer.status == 200 || is_paid, "{}: {}", read.operation.id(), answer.json);
    }
}

#[tokio::test]
async fn every_record_is_created_from_its_example_and_again_with_another_name() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let property = owner.property("northmoor").await;
    let creates = filled(&Method::POST).into_iter().filter(|one| !one.operation.says["responses"]["201"].is_null());
    let mut named = Vec::new();
    for create in creates {
        let id = create.operation.id().to_owned();
        let mut body: Value = serde_json::from_str(&create.operation.body().unwrap()).unwrap();
        let first = create.send(&owner, &property, Some(&body)).await;
        assert_eq!(first.status, 201, "{id}: {}", first.json);
        match ["name", "email", "keywords"].into_iter().find(|field| body.get(*field).is_some()) {
            Some(field @ "keywords") => body[field] = json!(["another"]),
            Some(field) => body[field] = json!(format!("another-{}", body[field].as_str().unwrap())),
            None => {}
        }
        let again = create.send(&owner, &property, Some(&body)).await;
        assert_eq!(again.status, 201, "{id}: {}", again.json);
        named.push(id);
    }
    assert_eq!(named.len(), 8, "{named:?}");
}
