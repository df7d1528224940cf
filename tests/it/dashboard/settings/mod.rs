//! Tests of the page of settings: each form writes once through its operation, refusals lose nothing, and roles are kept.

mod brand;
mod links;
mod plans;
mod roles;
mod saved;
mod site;
mod team;

use serde_json::Value;

use super::{hidden, json, path};
use crate::support::{
    app::TestApp,
    signed_in::{Browser, Page},
};

/// Names that a page must show as text. The second one is too long for every name, and has a mark that turns the direction of text.
fn hostile() -> [String; 2] {
    ["<script>alert(1)</script>\"'&".to_owned(), format!("\u{202e}<b>{}", "x".repeat(2_000))]
}

/// A text as a page has it.
fn escaped(text: &str) -> String {
    maud::html! { (text) }.into_string()
}

/// A person at the settings of a site.
struct Desk {
    browser: Browser,
    /// The path of the site's pages.
    at: String,
}

impl Desk {
    async fn of(app: &TestApp, who: &str) -> Self {
        let browser = Browser::signed_in(app, who).await;
        let at = path(&browser, "northmoor").await;
        Self { browser, at }
    }

    /// The id of the site.
    fn id(&self) -> &str {
        &self.at[3..]
    }

    fn path(&self) -> String {
        format!("{}/settings", self.at)
    }

    async fn page(&self) -> Page {
        self.browser.get(&self.path()).await.expect(200)
    }

    /// Sends a form of the page.
    async fn send(&self, form: &[(&str, &str)]) -> Page {
        self.browser.post(&self.path(), form).await
    }

    /// Sends a form of the page. Fails unless it is taken, and the browser sent back to its section.
    async fn does(&self, form: &[(&str, &str)], done: &str) {
        let section = done.split_once('.').unwrap().0;
        self.send(form).await.leads_to(&format!("{}?done={done}#{section}", self.path()));
    }

    /// Sends a form of the page twice, as a double click does.
    async fn does_once(&self, form: &[(&str, &str)], done: &str) {
        let key = hidden(&self.page().await, form[0].1, "key");
        let form = [form, &[("key", &key)]].concat();
        for _ in 0..2 {
            self.does(&form, done).await;
        }
    }

    /// Sends a form that is refused, and returns the page that it is on again.
    async fn refused(&self, status: u16, form: &[(&str, &str)]) -> Page {
        let page = self.send(form).await.expect(status);
        assert!(page.body.contains("Nothing was changed."), "{form:?}: {}", page.body);
        page
    }

    /// The records of an operation of the site.
    async fn records(&self, operation: &str) -> Vec<Value> {
        let list = json(&self.browser, &format!("/api/properties/{}/{operation}", self.id())).await;
        list["data"].as_array().unwrap().clone()
    }

    /// The answer of a preview.
    async fn preview(&self, app: &TestApp, who: &str, operation: &str, body: &Value) -> Value {
        let path = format!("/api/properties/{}/{operation}/preview", self.id());
        app.actor(who).await.post(&path, body).await.expect(200).json["data"].clone()
    }
}

/// The section of a page.
fn section<'p>(page: &'p Page, id: &str) -> &'p str {
    let (_, rest) = page.body.split_once(&format!("<section class=\"card\" id=\"{id}\"")).unwrap();
    rest.split_once("</section>").unwrap().0
}

/// Returns the texts of a field of the records.
fn field<'r>(records: &'r [Value], name: &str) -> Vec<&'r str> {
    records.iter().filter_map(|record| record[name].as_str()).collect()
}
