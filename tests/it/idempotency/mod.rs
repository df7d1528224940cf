//! Writes that happen once: what an `Idempotency-Key` promises, on every operation that enforces it.

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

/// What a replay repeats; everything else is of the request that asks.
const REPEATED: [&str; 3] = ["content-type", "location", "etag"];

/// An operation that enforces keys, on a property of the owner's where it is about one.
struct Write {
    id: String,
    path: String,
    /// A body that it takes.
    body: Value,
}

/// Every operation that enforces keys.
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
    /// The body with another name in it: what it makes is another record.
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

    /// What the caller's list of these records holds.
    async fn list(&self, actor: &Actor) -> Vec<Value> {
        actor.listed(&self.path).await
    }
}

/// `POST path` with a key.
async fn keyed(actor: &Actor, path: &str, key: &str, body: &Value) -> Answer {
    sent(actor, path, &body.to_string(), &[("idempotency-key", key)]).await
}

/// `POST path` with a body as it stands.
async fn sent(actor: &Actor, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
    let headers = [headers, &[("content-type", "application/json")]].concat();
    actor.send(Method::POST, path, Some(body.to_owned()), &headers).await
}

/// `Idempotency-Replayed`; empty where it was not sent.
fn replayed(answer: &Answer) -> &str {
    answer.header("idempotency-replayed")
}

/// Fails the test unless `again` repeats `first` and says so.
#[track_caller]
fn assert_replay(again: &Answer, first: &Answer, what: &str) {
    assert_eq!(replayed(again), "true", "{what}: {} {}", again.status, again.json);
    assert_eq!((again.status, &again.bytes), (first.status, &first.bytes), "{what}");
    for name in REPEATED {
        assert_eq!(again.headers.get(name), first.headers.get(name), "{what}: {name}");
    }
}
