//! Tests of the rights of roles on the page.

use api::models::Role;
use serde_json::json as object;

use super::{Desk, json};
use crate::support::{
    app::{TestApp, shared},
    signed_in::{Browser, Page},
};

/// A form, fields of it that are allowed, and the role that it needs.
type Form = (&'static str, &'static [(&'static str, &'static str)], Role);

const FORMS: [Form; 6] = [
    ("brand.add", &[("keywords", "not allowed")], Role::Editor),
    ("brand.delete", &[("keyword", "northmoor")], Role::Editor),
    ("segments.add", &CONTENT, Role::Editor),
    ("clusters.add", &CONTENT, Role::Editor),
    ("links.make", &[("days", "choice")], Role::Admin),
    ("team.invite", &[("email", "eve@example.com"), ("role", "admin"), ("sites", "this")], Role::Owner),
];
const CONTENT: [(&str, &str); 4] =
    [("name", "Not allowed"), ("logic", "and"), ("operator", "contains"), ("value", "x")];

fn name(role: Role) -> &'static str {
    match role {
        Role::Viewer => "viewer",
        Role::Editor => "editor",
        Role::Admin => "admin",
        Role::Owner => "owner",
    }
}

/// Everything that the forms could change.
async fn state(owner: &Desk) -> Vec<serde_json::Value> {
    let mut found = Vec::new();
    for operation in ["branded-keywords", "segments", "topic-clusters", "share-links"] {
        found.extend(owner.records(operation).await);
    }
    found.extend(json(&owner.browser, "/api/team").await["data"].as_array().unwrap().clone());
    found
}

/// Fails unless the page offers a form to those who may send it, and the form of all others is refused.
async fn check(desk: &Desk, page: &Page, form: &[(&str, &str)], may: bool, needed: &str) {
    let action = form[0].1;
    assert_eq!(page.body.contains(&format!("value=\"{action}\"")), may, "{action}: {}", page.body);
    if !may {
        let refused = desk.refused(403, form).await;
        assert!(refused.body.contains(&format!("needs the role {needed}")), "{action}: {}", refused.body);
    }
}

#[tokio::test]
async fn each_role_writes_what_it_may_and_is_shown_no_other_form() {
    let app = TestApp::start(|_| {}).await;
    let owner = Desk::of(&app, "owner").await;
    owner.does(&[("do", "links.make"), ("days", "choice")], "links.made").await;
    let mut by_id = Vec::new();
    for (operation, action, needed) in [
        ("segments", "segments.delete", Role::Editor),
        ("topic-clusters", "clusters.delete", Role::Editor),
        ("share-links", "links.revoke", Role::Admin),
    ] {
        by_id.push((action, owner.records(operation).await[0]["id"].as_str().unwrap().to_owned(), needed));
    }
    let grants = json(&owner.browser, "/api/team").await["data"].as_array().unwrap().clone();
    let grant = |email: &str| grants.iter().find(|grant| grant["email"] == email).unwrap()["id"].as_str().unwrap();
    let (of_viewer, of_editor) = (grant("viewer@demo.test"), grant("editor@demo.test"));

    for (who, role) in [("viewer", Role::Viewer), ("editor", Role::Editor), ("editor", Role::Admin)] {
        if role == Role::Admin {
            let admin = object!({ "role": "admin" });
            app.actor("owner").await.put(&format!("/api/team/{of_editor}"), &admin).await.expect(200);
        }
        let desk = Desk::of(&app, who).await;
        let page = desk.page().await;
        let before = state(&owner).await;
        for (action, fields, needed) in FORMS {
            let form = [&[("do", action)], fields].concat();
            check(&desk, &page, &form, role >= needed, name(needed)).await;
        }
        for (action, id, needed) in &by_id {
            check(&desk, &page, &[("do", action), ("id", id)], role >= *needed, name(*needed)).await;
        }
        let other = if who == "viewer" { of_editor } else { of_viewer };
        for (action, field) in [("role", ("role", "admin")), ("sites", ("property", desk.id())), ("remove", ("x", ""))]
        {
            let action = format!("team.{action}");
            assert!(!page.body.contains(&action), "{action}");
            desk.refused(404, &[("do", &action), ("id", other), field]).await;
        }
        assert_eq!(state(&owner).await, before, "{role:?}");
    }
}

#[tokio::test]
async fn forms_of_other_pages_and_of_strangers_change_nothing() {
    let owner = Desk::of(shared(), "owner").await;
    let (before, path) = (state(&owner).await, owner.path());
    let form = [("do", "brand.add"), ("keywords", "not allowed")];
    owner.browser.post_from("https://elsewhere.example", &path, &form).await.expect(403);
    for button in ["", "preview", "again"] {
        let form = [&form[..], &[("button", button)]].concat();
        owner.browser.signed_out().post(&path, &form).await.expect(401);
        let status = owner.browser.post_from("https://elsewhere.example", &path, &form).await.status.as_u16();
        assert!([303, 403].contains(&status), "{button}: {status}");
        Browser::signed_in(shared(), "stranger").await.post(&path, &form).await.expect(404);
    }
    assert_eq!(state(&owner).await, before);
}
