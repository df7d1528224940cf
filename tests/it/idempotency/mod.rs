//! Tests of writes with an `Idempotency-Key`, on every operation that supports it.

mod budget;
mod crash;
mod expiry;
mod faults;
mod keys;
mod race;
mod refusals;
mod replays;

use api::operation::{self, Idempotency};
use poem::http::Method;
use serde_json::{Value, json};

use crate::{
    coverage::documented,
    support::actor::{Actor, Answer},
};

/// The headers that a replay repeats. All others belong to the new request.
const REPEATED: [&str; 3] = ["content-type", "location", "etag"];

/// An operation that supports keys, on a property of the owner if its path has one.
struct Write {
    id: String,
    path: String,
    /// A valid body.
    body: Value,
}

/// Every operation that supports keys.
fn enforced(property: &str) -> Vec<Write> {
    let table: Vec<&str> = operation::all()
        .iter()
        .filter(|operation| operation.idempotency == Some(Idempotency::Enforced))
        .map(|operation| operation.id)
        .collect();
    assert_eq!(table.len(), 8, "{table:?}");
    let found: Vec<Write> = documented()
        .iter()
        .filter(|operation| table.contains(&operation.id()))
        .map(|operation| {
            assert_eq!((&operation.method, &operation.says["x-idempotency"]), (&Method::POST, &json!("enforced")));
            let body = serde_json::from_str(&operation.body().unwrap()).unwrap();
            Write { id: operation.id().to_owned(), path: operation.at(property), body }
        })
        .collect();
    assert_eq!(found.len(), table.len());
    found
}

impl Write {
    /// The body with another name, which creates another record.
    fn named(&self, name: &str) -> Value {
        let mut body = self.body.clone();
        let fields = body.as_object_mut().unwrap();
        for (field, value) in [
            ("name", json!(name)),
            ("text", json!(name)),
            ("email", json!(format!("{name}@acme.example"))),
            ("keywords", json!([name])),
        ] {
            if fields.contains_key(field) {
                fields.insert(field.to_owned(), value);
            }
        }
        body
    }

    /// The caller's list of these records.
    async fn list(&self, actor: &Actor) -> Vec<Value> {
        actor.listed(&self.path).await
    }
}

/// `POST path` with a key.
pub async fn keyed(actor: &Actor, path: &str, key: &str, body: &Value) -> Answer {
    sent(actor, path, &body.to_string(), &[("idempotency-key", key)]).await
}

/// `POST path` with an unmodified body.
async fn sent(actor: &Actor, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
    let headers = [headers, &[("content-type", "application/json")]].concat();
    actor.send(Method::POST, path, Some(body.to_owned()), &headers).await
}

/// `Idempotency-Replayed`. Empty if absent.
pub fn replayed(answer: &Answer) -> &str {
    answer.header("idempotency-replayed")
}

/// Asserts that `again` is a replay of `first`.
#[track_caller]
fn assert_replay(again: &Answer, first: &Answer, what: &str) {
    assert_eq!(replayed(again), "true", "{what}: {} {}", again.status, again.json);
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes), "{what}");
    for name in REPEATED {
        assert_eq!(again.headers.get(name), first.headers.get(name), "{what}: {name}");
    }
}
