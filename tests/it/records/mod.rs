//! Tests of the service's own records: annotations, classifications, tags, share links, grants and presets.

mod authors;
mod budgets;
mod downgrade;
mod lifecycle;
mod limits;
mod maximums;
mod members;
mod nulls;
mod one;
mod others;
mod pages;
mod parts;
mod previews;
mod questions;
mod roles;
mod share_files;
mod share_page;
pub mod share_views;
mod sharing;
mod suggestions;
mod tags;
mod team;
mod tracking;

use serde_json::{Value, json};

use crate::support::actor::Actor;

/// One field of every listed record.
pub fn column(listed: &[Value], name: &str) -> Vec<String> {
    listed.iter().map(|entry| entry[name].as_str().unwrap().to_owned()).collect()
}

/// A condition for segments and clusters: the text contains `value`.
pub fn contains(value: &str) -> Value {
    json!({ "operator": "contains", "value": value })
}

/// The grant that `owner` made to `email`.
pub async fn grant_of(owner: &Actor, email: &str) -> Value {
    let found = owner.listed("/api/team").await.into_iter().find(|grant| grant["email"] == email);
    found.unwrap_or_else(|| panic!("no grant to {email}"))
}
