//! Tests of forms that a page cannot take: what was written is not lost.

use serde_json::json;

use super::{holds, holds_none, json, path};
use crate::support::{
    app::{TestApp, shared},
    signed_in::{Browser, Page},
};

const TEXT: &str = "\nA <relaunch> & \"more\"\r\nבשורה שנייה";

fn note(text: &str) -> [(&str, &str); 4] {
    [("do", "add_note"), ("key", "unsent"), ("date", "2026-02-03"), ("text", text)]
}

/// Fails unless the page holds the text of the note.
#[track_caller]
fn keeps(page: &Page) {
    let body = page.body.replace("\r\n", "\n");
    assert!(body.contains("A &lt;relaunch&gt; &amp; &quot;more&quot;\nבשורה שנייה"), "{body}");
}

#[tokio::test]
async fn a_note_that_is_written_when_the_session_ends_is_given_back() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let notes = format!("{}/notes?period=last_7_days", path(&browser, "northmoor").await);
    let page = browser.signed_out().post(&notes, &note(TEXT)).await.expect(401);
    keeps(&page);
    let to_sign_in = format!("/auth/login?return_to={}", notes.replace('?', "%3F").replace('=', "%3D"));
    holds(
        &page,
        &[
            format!("<a class=\"button\" href=\"{to_sign_in}\" target=\"_blank\" rel=\"noopener\">"),
            format!("<form method=\"post\" action=\"{notes}\">"),
            // A browser leaves the first line break of a text out.
            "<textarea name=\"text\" rows=\"3\">\n\nA &lt;relaunch".to_owned(),
            "name=\"key\" value=\"unsent\"".to_owned(),
        ],
    );
    browser.post(&notes, &note(TEXT)).await.leads_to(&format!("{notes}&done=added"));
    // A program gets the refusal of the API.
    let headers = [("origin", app.service.base_url.as_str()), ("accept", "application/json")];
    let program = browser.signed_out().send(poem::http::Method::POST, &notes, &note(TEXT), &headers).await;
    assert_eq!((program.status.as_u16(), program.body.contains("\"unauthorized\"")), (401, true), "{}", program.body);
}

#[tokio::test]
async fn a_form_with_a_secret_or_of_another_site_is_not_given_back() {
    let browser = Browser::anonymous(shared());
    for form in [&[("text", TEXT), ("password", "hunter2")][..], &[("text", TEXT), ("csrf", "x")]] {
        let page = browser.post("/p/x/notes", form).await;
        assert!([303, 400].contains(&page.status.as_u16()), "{}", page.status);
        holds_none(&page, &["hunter2", "relaunch"]);
    }
    let foreign = browser.post_from("https://elsewhere.example", "/p/x/notes", &note(TEXT)).await;
    holds_none(&foreign, &["relaunch"]);
}

#[tokio::test]
async fn a_note_beyond_the_rate_is_given_back() {
    let app = TestApp::start(|config| {
        config.rate_limit.enabled = true;
        (config.rate_limit.per_minute, config.rate_limit.burst) = (60, 20);
    })
    .await;
    let browser = Browser::signed_in(&app, "owner").await;
    while browser.get("/p/x/notes").await.status != 429 {}
    let page = browser.post("/p/x/notes?offset=50", &note(TEXT)).await.expect(429);
    keeps(&page);
    holds(&page, &["Send it again".to_owned(), "action=\"/p/x/notes?offset=50\"".to_owned()]);
    assert!(!page.header("retry-after").is_empty());
}

#[tokio::test]
async fn a_note_of_somebody_who_may_no_longer_write_is_shown() {
    let app = TestApp::start(|_| {}).await;
    let (owner, editor) = (app.actor("owner").await, Browser::signed_in(&app, "editor").await);
    let notes = format!("{}/notes", path(&editor, "northmoor").await);
    let grants = owner.listed("/api/team").await;
    let grant = grants.iter().find(|grant| grant["email"] == "editor@demo.test").unwrap();
    let grant = format!("/api/team/{}", grant["id"].as_str().unwrap());
    owner.put(&grant, &json!({ "role": "viewer" })).await.expect(200);
    let lesser = editor.post(&notes, &note(TEXT)).await.expect(403);
    keeps(&lesser);
    holds(&lesser, &["Nothing was changed.".to_owned(), "This is what you wrote:".to_owned()]);
    owner.delete(&grant).await.expect(204);
    keeps(&editor.post(&notes, &note(TEXT)).await.expect(404));
    let owner = Browser::signed_in(&app, "owner").await;
    let all =
        json(&owner, &format!("/api{}", notes.replace("/p/", "/properties/").replace("notes", "annotations"))).await;
    assert!(!all.to_string().contains("relaunch"), "{all}");
}
