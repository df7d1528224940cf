//! Tests of what a share link binds its readers to, and what it hides from them.

mod bound;
mod canary;

use serde_json::{Value, json};

use crate::support::{
    actor::{Actor, Answer},
    app::TestApp,
};

/// A property, its owner, and links to it.
pub struct Board {
    pub app: TestApp,
    pub owner: Actor,
    pub property: String,
}

/// A link, as its readers use it.
pub struct Link<'a> {
    board: &'a Board,
    pub made: Value,
}

impl Board {
    pub async fn new() -> Self {
        let app = TestApp::start(|_| {}).await;
        let owner = app.actor("owner").await;
        let property = owner.property("northmoor").await;
        Self { app, owner, property }
    }

    pub fn of(&self, part: &str) -> String {
        format!("/api/properties/{}/{part}", self.property)
    }

    pub async fn link(&self, body: Value) -> Link<'_> {
        let made = self.owner.post(&self.of("share-links"), &body).await.expect(201).json["data"].clone();
        Link { board: self, made }
    }

    pub async fn private(&self, question: &[(&str, &str)]) -> Value {
        self.owner.ask(&self.of("performance"), question).await.expect(200).json
    }

    /// The queries with the most clicks that consist of several words.
    pub async fn queries(&self) -> Vec<String> {
        let tables = self.private(&[("scope", "tables"), ("queryLimit", "5000")]).await;
        let keys =
            tables["data"]["tables"]["queries"].as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap());
        keys.filter(|key| key.contains(' ')).map(str::to_owned).collect()
    }
}

impl Link<'_> {
    pub fn token(&self) -> &str {
        self.made["token"].as_str().unwrap()
    }

    pub async fn ask(&self, question: &[(&str, &str)]) -> Answer {
        self.board.app.anonymous().ask(&format!("/api/share/{}/performance", self.token()), question).await
    }

    /// Opens a page or a file of the link.
    pub async fn open(&self, part: &str) -> Answer {
        self.board.app.anonymous().get(&format!("/share/{}{part}", self.token())).await
    }
}

pub fn text(answer: &Answer) -> String {
    String::from_utf8(answer.bytes.clone()).unwrap()
}

pub fn condition(dimension: &str, operator: &str, value: &str) -> Value {
    json!({ "dimension": dimension, "operator": operator, "value": value })
}

/// A condition that is joined by `or`.
pub fn or(mut condition: Value) -> Value {
    condition["logic"] = json!("or");
    condition
}
