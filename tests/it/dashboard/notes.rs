//! Tests of the page of notes, and of forms in general.

use super::{hidden, holds, json, path};
use crate::support::{
    app::{TestApp, shared},
    signed_in::Browser,
};

async fn texts(browser: &Browser, at: &str) -> Vec<String> {
    let notes = json(browser, &format!("/api/properties/{}/annotations", &at[3..])).await;
    notes["data"].as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_note_is_added_once_changed_and_deleted() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    let notes = format!("{at}/notes");
    let page = browser.get(&format!("{notes}?day=2026-02-03&period=last_7_days")).await.expect(200);
    holds(&page, &["value=\"2026-02-03\"".to_owned()]);
    let key = hidden(&page, "add_note", "key");
    let form =
        [("do", "add_note"), ("key", &key), ("date", "2026-02-03"), ("endDate", ""), ("text", "A <b>relaunch</b>")];
    for _ in 0..2 {
        let sent = browser.post(&format!("{notes}?day=2026-02-03&period=last_7_days"), &form).await;
        sent.leads_to(&format!("{notes}?period=last_7_days&done=added"));
    }
    let found = texts(&browser, &at).await;
    assert_eq!(found.iter().filter(|text| *text == "A <b>relaunch</b>").count(), 1, "{found:?}");
    let page = browser.get(&format!("{notes}?done=added")).await.expect(200);
    holds(&page, &["Added.".to_owned(), "A &lt;b&gt;relaunch&lt;/b&gt;".to_owned(), "Tue 3 Feb 2026".to_owned()]);

    let (_, note) = page.body.split_once("A &lt;b&gt;relaunch").unwrap();
    let id = note.split_once("?edit=").unwrap().1.split_once('#').unwrap().0;
    let page = browser.get(&format!("{notes}?edit={id}")).await.expect(200);
    let etag = hidden(&page, "change_note", "etag");
    let change = |text| [("do", "change_note"), ("id", id), ("etag", &*etag), ("date", "2026-02-04"), ("text", text)];
    browser.post(&notes, &change("Relaunch")).await.leads_to(&format!("{notes}?done=saved"));
    let late = browser.post(&format!("{notes}?edit={id}"), &change("Too late")).await.expect(412);
    holds(&late, &["Nothing was changed.".to_owned(), "Too late".to_owned()]);
    assert!(texts(&browser, &at).await.contains(&"Relaunch".to_owned()));

    let delete = [("do", "delete_note"), ("id", id)];
    browser.post(&notes, &delete).await.leads_to(&format!("{notes}?done=deleted"));
    let gone = browser.post(&format!("{notes}?edit={id}"), &change("Written for nothing")).await.expect(404);
    holds(&gone, &["It is not there any more.".to_owned(), "<bdi>Written for nothing</bdi>".to_owned()]);
    assert!(!texts(&browser, &at).await.contains(&"Relaunch".to_owned()));
}

#[tokio::test]
async fn a_form_that_is_refused_keeps_what_was_written() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    let form = [("do", "add_note"), ("key", "refused.add_note"), ("date", "tomorrow"), ("text", "Written with <care>")];
    let page = browser.post(&format!("{at}/notes"), &form).await.expect(400);
    holds(&page, &["Day: ".to_owned(), "Written with &lt;care&gt;".to_owned(), "value=\"tomorrow\"".to_owned()]);
    assert_ne!(hidden(&page, "add_note", "key"), "refused.add_note", "the same key would bring the same refusal again");
    let unknown = browser.post(&format!("{at}/notes"), &[("do", "x")]).await.expect(400);
    assert!(unknown.body.contains("do: names no form of this page"), "{}", unknown.body);
    assert!(!texts(&browser, &at).await.iter().any(|text| text.contains("<care>")));
}

#[tokio::test]
async fn only_editors_and_their_own_pages_write() {
    let (owner, viewer) = (Browser::signed_in(shared(), "owner").await, Browser::signed_in(shared(), "viewer").await);
    let at = path(&viewer, "northmoor").await;
    let notes = format!("{at}/notes");
    let page = viewer.get(&notes).await.expect(200);
    assert!(!page.body.contains("add_note") && !page.body.contains("?edit="), "{}", page.body);
    let form = [("do", "add_note"), ("date", "2026-02-03"), ("text", "Not allowed")];
    let refused = viewer.post(&notes, &form).await.expect(403);
    assert!(refused.body.contains("Nothing was changed."), "{}", refused.body);
    owner.post_from("https://elsewhere.example", &notes, &form).await.expect(403);
    Browser::signed_in(shared(), "stranger").await.post(&notes, &form).await.expect(404);
    assert!(!texts(&owner, &at).await.contains(&"Not allowed".to_owned()));
}

#[tokio::test]
async fn a_line_break_of_a_form_counts_as_one_character() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let at = path(&browser, "northmoor").await;
    let notes = format!("{at}/notes");
    let page = browser.get(&notes).await.expect(200);
    let key = hidden(&page, "add_note", "key");
    let lines = vec!["x".repeat(99); 20];
    // A browser sends a line break as two characters, and its field counts it as one.
    let sent = lines.join("\r\n");
    let form = [("do", "add_note"), ("key", &*key), ("date", "2026-02-03"), ("endDate", ""), ("text", &*sent)];
    browser.post(&notes, &form).await.leads_to(&format!("{notes}?done=added"));
    assert!(texts(&browser, &at).await.contains(&lines.join("\n")));
}
