//! The service's own records: annotations, classifications, tags, share links, grants and presets.

mod lifecycle;
mod limits;
mod links;
mod others;
mod places;
mod questions;
mod roles;
mod team;

use poem::http::Method;
use serde_json::{Value, json};

use crate::actor::{Actor, Answer};

/// `POST path` with a JSON body.
pub async fn post(actor: &Actor, path: &str, body: &Value) -> Answer {
    actor.send_json(Method::POST, path, body).await
}

/// `PUT path` with a JSON body.
pub async fn put(actor: &Actor, path: &str, body: &Value) -> Answer {
    actor.send_json(Method::PUT, path, body).await
}

/// `DELETE path`.
pub async fn delete(actor: &Actor, path: &str) -> Answer {
    actor.send(Method::DELETE, path, None, &[]).await
}

/// Makes a record and answers its id.
pub async fn made(actor: &Actor, path: &str, body: &Value) -> String {
    post(actor, path, body).await.expect(201).json["data"]["id"].as_str().unwrap().to_owned()
}

/// What `GET path` lists.
pub async fn listed(actor: &Actor, path: &str) -> Vec<Value> {
    actor.get(path).await.expect(200).json["data"].as_array().unwrap().clone()
}

/// One field of everything that is listed.
pub fn column(listed: &[Value], name: &str) -> Vec<String> {
    listed.iter().map(|entry| entry[name].as_str().unwrap().to_owned()).collect()
}

/// The condition that a text holds `value`, for segments and clusters.
pub fn contains(value: &str) -> Value {
    json!({ "operator": "contains", "value": value })
}

/// The grant that `owner` made to `email`.
pub async fn grant_of(owner: &Actor, email: &str) -> Value {
    let found = listed(owner, "/api/team").await.into_iter().find(|grant| grant["email"] == email);
    found.unwrap_or_else(|| panic!("no grant to {email}"))
}
