//! Tests of forms that are sent twice, one after the other and at once: the second answer is the result of the first.

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::json;

use crate::support::{
    actor::Actor,
    app::TestApp,
    signed_in::{Browser, Page},
};

/// Sends a form twice at once, and once more. Returns the three answers, those at once by their status.
async fn thrice(browser: &Browser, path: &str, form: &[(&str, &str)]) -> [Page; 3] {
    let (left, right) = tokio::join!(browser.post(path, form), browser.post(path, form));
    let after = browser.post(path, form).await;
    if left.status <= right.status { [left, right, after] } else { [right, left, after] }
}

async fn record(owner: &Actor, path: &str, body: serde_json::Value) -> (String, String) {
    let made = owner.post(path, &body).await.expect(201).json["data"].clone();
    (made["id"].as_str().unwrap().to_owned(), made["etag"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_record_that_is_removed_twice_is_removed_once() {
    let app = TestApp::start(|_| {}).await;
    let (owner, browser) = (app.actor("owner").await, Browser::signed_in(&app, "owner").await);
    let property = owner.property("northmoor").await;
    let invitation = json!({ "email": "bob@corp.test", "role": "viewer", "propertyIds": [property] });
    let of = |part: &str| format!("/api/properties/{property}/{part}");
    for (api, body, page, action, done) in [
        (of("share-links"), json!({ "name": "Twice" }), "settings", "links.revoke", "links.revoked"),
        (of("annotations"), json!({ "date": "2026-11-01", "text": "Twice" }), "notes", "delete_note", "deleted"),
        ("/api/team".to_owned(), invitation, "settings", "team.remove", "team.removed"),
    ] {
        let (id, etag) = record(&owner, &api, body).await;
        let page = format!("/p/{property}/{page}");
        for answer in thrice(&browser, &page, &[("do", action), ("id", &id), ("etag", &etag)]).await {
            assert!(answer.header("location").contains(&format!("done={done}")), "{action}: {}", answer.body);
        }
        assert!(owner.listed(&api).await.iter().all(|one| one["id"] != *id), "{action}");
    }
}

#[tokio::test]
async fn a_form_that_is_sent_many_times_at_once_writes_once_and_says_so_each_time() {
    let app = TestApp::start(|_| {}).await;
    let (owner, browser) = (app.actor("owner").await, Browser::signed_in(&app, "owner").await);
    let property = owner.property("northmoor").await;
    let (notes, settings) = (format!("/p/{property}/notes"), format!("/p/{property}/settings"));
    let of = |part: &str| format!("/api/properties/{property}/{part}");
    let condition = [("logic", "and"), ("operator", "contains"), ("value", "/a/")];
    let segment = [&[("do", "segments.add"), ("key", "b"), ("name", "Often")][..], &condition].concat();
    for (page, form, api, done) in [
        (
            &notes,
            vec![("do", "add_note"), ("key", "a"), ("date", "2026-11-01"), ("text", "Often")],
            of("annotations"),
            "added",
        ),
        (&settings, segment, of("segments"), "segments.added"),
        (&settings, vec![("do", "links.make"), ("key", "c"), ("name", "Often")], of("share-links"), "links.made"),
        (
            &settings,
            vec![("do", "site.add_tag"), ("key", "d"), ("name", "Often")],
            "/api/tags".to_owned(),
            "site.added",
        ),
    ] {
        let before = owner.listed(&api).await.len();
        for answer in join_all((0..8).map(|_| browser.post(page, &form))).await {
            assert!(answer.header("location").contains(&format!("done={done}")), "{form:?}: {}", answer.body);
        }
        assert_eq!(owner.listed(&api).await.len(), before + 1, "{form:?}");
    }
}

#[tokio::test]
async fn a_change_that_is_sent_twice_is_saved_and_another_one_is_not() {
    let app = TestApp::start(|_| {}).await;
    let (owner, browser) = (app.actor("owner").await, Browser::signed_in(&app, "owner").await);
    let property = owner.property("northmoor").await;
    let of = |part: &str| format!("/api/properties/{property}/{part}");
    let invitation = json!({ "email": "bob@corp.test", "role": "viewer", "propertyIds": [property] });
    let rule = json!({ "name": "Once", "conditions": [{ "operator": "contains", "value": "/a/" }] });
    let conditions = |value| [("logic", "and"), ("operator", "contains"), ("value", value)];
    for (api, body, page, action, fields, others, done) in [
        (
            of("annotations"),
            json!({ "date": "2026-11-01", "text": "Once" }),
            "notes",
            "change_note",
            vec![("date", "2026-11-02"), ("text", " Twice "), ("category", "x")],
            vec![("date", "2026-11-02"), ("text", "Twice")],
            "saved",
        ),
        (
            of("segments"),
            rule,
            "settings",
            "segments.change",
            [&[("name", "Twice")][..], &conditions("/b/")].concat(),
            [&[("name", "Twice")][..], &conditions("/c/")].concat(),
            "segments.saved",
        ),
        (
            "/api/tags".to_owned(),
            json!({ "name": "Once" }),
            "settings",
            "site.rename_tag",
            vec![("name", "Twice")],
            vec![("name", "Thrice")],
            "site.saved",
        ),
        (
            "/api/team".to_owned(),
            invitation,
            "settings",
            "team.role",
            vec![("role", "editor")],
            vec![("role", "admin")],
            "team.saved",
        ),
    ] {
        let (id, etag) = record(&owner, &api, body).await;
        let page = format!("/p/{property}/{page}");
        let named = [("do", action), ("id", &id), ("etag", &etag)];
        for answer in thrice(&browser, &page, &[&named[..], &fields].concat()).await {
            assert!(answer.header("location").contains(&format!("done={done}")), "{action}: {}", answer.body);
        }
        let other = browser.post(&page, &[&named[..], &others].concat()).await;
        assert_eq!(other.status.as_u16(), 412, "{action}: {}", other.body);
        assert!(other.body.contains("Nothing was changed. It has changed since"), "{action}: {}", other.body);
    }
}

#[tokio::test]
async fn an_invitation_that_is_sent_twice_is_one() {
    let app = TestApp::start(|_| {}).await;
    let (owner, browser) = (app.actor("owner").await, Browser::signed_in(&app, "owner").await);
    let property = owner.property("northmoor").await;
    let page = format!("/p/{property}/settings");
    let form =
        |key: &'static str| [("do", "team.invite"), ("key", key), ("email", "bob@corp.test"), ("role", "viewer")];
    let (one, other) = (form("one"), form("other"));
    let (left, right) = tokio::join!(browser.post(&page, &one), browser.post(&page, &other));
    let (won, lost) = if left.status <= right.status { (left, right) } else { (right, left) };
    assert!(won.header("location").contains("done=team.invited"), "{}", won.body);
    assert!(lost.status.is_client_error() && lost.body.contains("Nothing was changed. "), "{}", lost.body);
    let team = owner.listed("/api/team").await;
    assert_eq!(team.iter().filter(|one| one["email"] == "bob@corp.test").count(), 1, "{team:?}");
}

#[tokio::test]
async fn account_pages_say_what_was_done_and_show_what_holds() {
    let app = TestApp::start(|_| {}).await;
    let (owner, browser) = (app.actor("owner").await, Browser::signed_in(&app, "owner").await);
    owner.get("/api/tags").await.expect(200);
    let form = [("client_id", "sightline-cli")];
    for page in thrice(&browser, "/account/applications/revoke", &form).await {
        page.leads_to("/account?done=application-revoked");
    }
    owner.get("/api/tags").await.expect(401);
    let done = browser.get("/account?done=application-revoked").await.expect(200);
    assert!(
        done.body.contains("access was ended.") && !done.body.contains("client_id\" value=\"sightline-cli"),
        "{}",
        done.body
    );

    app.hand.advance(TimeDelta::minutes(1));
    let there = Browser::signed_in(&app, "owner").await;
    let sessions = browser.get("/account").await;
    let id = sessions.between("action=\"/account/sessions/", "/end\"")[0].to_owned();
    let [ended, _, after] = thrice(&browser, &format!("/account/sessions/{id}/end"), &[]).await;
    ended.leads_to("/account?done=session-ended");
    after.expect(404);
    assert_eq!(there.get("/account").await.status.as_u16(), 303);
    // Addresses of pages that are left after an end, opened by somebody who is signed in.
    for page in ["/account/deleted", "/account/signed-out"] {
        browser.get(page).await.leads_to("/account");
    }
}

#[tokio::test]
async fn data_that_is_deleted_twice_is_deleted() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "stranger").await;
    let [deleted, again, after] = thrice(&browser, "/account/delete", &[("confirm", "yes")]).await;
    let to = [deleted, again, after].map(|page| (page.status.as_u16(), page.header("location").to_owned()));
    assert_eq!(to[0], (303, "/account/deleted".to_owned()));
    for (status, to) in &to[1..] {
        assert!(*status == 303 && (to == "/account/deleted" || to.starts_with("/auth/login")), "{status} {to}");
    }
    assert!(browser.get("/account/deleted").await.expect(200).body.contains("Your data is deleted"));
}
