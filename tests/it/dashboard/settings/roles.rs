//! Tests of the rights of roles on the page.

use serde_json::json as object;

use super::{Desk, json};
use crate::support::{
    app::{TestApp, shared},
    signed_in::Browser,
};

/// The forms that a role is needed for, with fields that are allowed.
const OF_EDITORS: [(&str, &[(&str, &str)]); 4] = [
    ("brand.add", &[("keywords", "not allowed")]),
    ("brand.delete", &[("keyword", "northmoor")]),
    ("segments.add", &[("name", "Not allowed"), ("logic", "and"), ("operator", "contains"), ("value", "x")]),
    ("clusters.add", &[("name", "Not allowed"), ("logic", "and"), ("operator", "contains"), ("value", "x")]),
];
const OF_ADMINS: [(&str, &[(&str, &str)]); 1] = [("links.make", &[("days", "choice")])];
const OF_OWNERS: [(&str, &[(&str, &str)]); 1] =
    [("team.invite", &[("email", "eve@example.com"), ("role", "admin"), ("sites", "this")])];

/// Everything that the forms could change.
async fn state(owner: &Desk) -> Vec<serde_json::Value> {
    let mut found = Vec::new();
    for operation in ["branded-keywords", "segments", "topic-clusters", "share-links"] {
        found.extend(owner.records(operation).await);
    }
    found.extend(json(&owner.browser, "/api/team").await["data"].as_array().unwrap().clone());
    found
}

#[tokio::test]
async fn each_role_writes_what_it_may_and_is_shown_no_other_form() {
    let app = TestApp::start(|_| {}).await;
    let owner = Desk::of(&app, "owner").await;
    let grants = json(&owner.browser, "/api/team").await;
    let grant = |email: &str| {
        let found = grants["data"].as_array().unwrap().iter().find(|grant| grant["email"] == email);
        found.unwrap()["id"].as_str().unwrap().to_owned()
    };
    let (of_viewer, of_editor) = (grant("viewer@demo.test"), grant("editor@demo.test"));
    owner.does(&[("do", "links.make"), ("days", "choice")], "links.made").await;
    let link = owner.records("share-links").await[0]["id"].as_str().unwrap().to_owned();
    let segment = owner.records("segments").await[0]["id"].as_str().unwrap().to_owned();
    let cluster = owner.records("topic-clusters").await[0]["id"].as_str().unwrap().to_owned();
    let by_id = [("segments.delete", &segment), ("clusters.delete", &cluster), ("links.revoke", &link)];

    for (who, role) in [("viewer", "viewer"), ("editor", "editor"), ("editor", "admin")] {
        app.actor("owner")
            .await
            .put(
                &format!("/api/team/{of_editor}"),
                &object!({ "role": if role == "admin" { "admin" } else { "editor" } }),
            )
            .await
            .expect(200);
        let (desk, before) = (Desk::of(&app, who).await, state(&owner).await);
        let page = desk.page().await;
        let offers = |action: &str| page.body.contains(&format!("value=\"{action}\""));
        for (least, forms) in [("editor", &OF_EDITORS[..]), ("admin", &OF_ADMINS), ("owner", &OF_OWNERS)] {
            let may = match least {
                "editor" => role != "viewer",
                "admin" => role == "admin",
                _ => false,
            };
            for (action, fields) in forms {
                assert_eq!(offers(action), may, "{role}: {action}");
                if !may {
                    let form = [&[("do", *action)], *fields].concat();
                    let refused = desk.refused(403, &form).await;
                    assert!(
                        refused.body.contains(&format!("needs the role {least}")),
                        "{role} {action}: {}",
                        refused.body
                    );
                }
            }
        }
        for (action, id) in by_id {
            let may = if action == "links.revoke" { role == "admin" } else { role != "viewer" };
            assert_eq!(offers(action), may, "{role}: {action}");
            if !may {
                desk.refused(403, &[("do", action), ("id", id)]).await;
            }
        }
        let other = if who == "viewer" { &of_editor } else { &of_viewer };
        for (action, field) in
            [("team.role", ("role", "admin")), ("team.sites", ("property", desk.id())), ("team.remove", ("x", ""))]
        {
            assert!(!offers(action), "{role}: {action}");
            let status = if action == "team.sites" { 404 } else { 404 };
            desk.refused(status, &[("do", action), ("id", other), field]).await;
        }
        assert_eq!(state(&owner).await, before, "{role}");
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
        let to_sign_in = format!("/auth/login?return_to={path}");
        owner.browser.signed_out().post(&path, &form).await.leads_to(&to_sign_in);
        let status = owner.browser.post_from("https://elsewhere.example", &path, &form).await.status.as_u16();
        assert!([303, 403].contains(&status), "{button}: {status}");
        Browser::signed_in(shared(), "stranger").await.post(&path, &form).await.expect(404);
    }
    assert_eq!(state(&owner).await, before);
}
