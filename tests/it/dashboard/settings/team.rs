//! Tests of the team on the page.

use serde_json::{Value, json as object};

use super::{Desk, escaped, field, json, section};
use crate::{
    dashboard::holds,
    support::{
        app::{TestApp, shared},
        signed_in::Browser,
    },
};

async fn grants(browser: &Browser) -> Vec<Value> {
    json(browser, "/api/team").await["data"].as_array().unwrap().clone()
}

async fn grant(browser: &Browser, email: &str) -> Value {
    let found = grants(browser).await;
    found.into_iter().find(|grant| grant["email"] == email).unwrap_or_else(|| panic!("no grant to {email}"))
}

#[tokio::test]
async fn somebody_is_invited_once_to_this_site_or_to_all() {
    let app = TestApp::start(|_| {}).await;
    let desk = Desk::of(&app, "owner").await;
    for (email, sites, all) in [("ann@example.com", "this", false), ("bob@example.com", "all", true)] {
        let form = [("do", "team.invite"), ("email", email), ("role", "admin"), ("sites", sites)];
        desk.does_once(&form, "team.invited").await;
        let made = grant(&desk.browser, email).await;
        let ids = if all { object!([]) } else { object!([desk.id()]) };
        assert_eq!(
            (&made["role"], &made["allProperties"], &made["propertyIds"]),
            (&object!("admin"), &object!(all), &ids)
        );
        assert_eq!(grants(&desk.browser).await.iter().filter(|grant| grant["email"] == email).count(), 1);
    }
    let page = desk.browser.get(&format!("{}?done=team.invited", desk.path())).await.expect(200);
    let part = section(&page, "team");
    for words in
        ["No e-mail is sent", "<bdi>ann@example.com</bdi>", "Sees this site.", "Sees all your sites, later ones too."]
    {
        assert!(part.contains(words), "{words}: {part}");
    }
}

#[tokio::test]
async fn an_invitation_that_is_refused_keeps_its_fields() {
    let desk = Desk::of(shared(), "owner").await;
    let before = grants(&desk.browser).await;
    for (email, words) in [
        ("nobody", "email: "),
        ("<b>\u{202e}@example.com", "email: "),
        ("owner@demo.test", "email: is your own address"),
        ("editor@demo.test", "email: has a grant already"),
    ] {
        let form = [("do", "team.invite"), ("email", email), ("role", "editor"), ("sites", "all")];
        let page = desk.refused(400, &form).await;
        let part = section(&page, "team");
        let email = format!("name=\"email\" required maxlength=\"320\" value=\"{}\"", escaped(email));
        for kept in [words, &email, "value=\"editor\" checked", "value=\"all\" checked"] {
            assert!(part.contains(kept), "{kept}: {part}");
        }
    }
    let form = [("do", "team.invite"), ("email", "new@example.com"), ("role", "owner"), ("sites", "this")];
    assert!(section(&desk.refused(400, &form).await, "team").contains("role: "));
    assert_eq!(grants(&desk.browser).await, before);
}

#[tokio::test]
async fn a_role_is_changed_and_a_stale_change_is_refused() {
    let app = TestApp::start(|_| {}).await;
    let desk = Desk::of(&app, "owner").await;
    let before = grant(&desk.browser, "editor@demo.test").await;
    let (id, etag) = (before["id"].as_str().unwrap(), before["etag"].as_str().unwrap());
    let form = |role| [("do", "team.role"), ("id", id), ("etag", etag), ("role", role)];
    desk.does(&form("admin"), "team.saved").await;
    assert_eq!(grant(&desk.browser, "editor@demo.test").await["role"], "admin");
    let late = desk.refused(412, &form("viewer")).await;
    let part = section(&late, "team");
    assert!(part.contains("It has changed since") && part.contains("<option value=\"viewer\" selected>"), "{part}");
    assert_eq!(grant(&desk.browser, "editor@demo.test").await["role"], "admin");
}

#[tokio::test]
async fn somebody_loses_this_site_gets_it_back_and_is_removed() {
    let app = TestApp::start(|_| {}).await;
    let desk = Desk::of(&app, "owner").await;
    let id = grant(&desk.browser, "viewer@demo.test").await["id"].as_str().unwrap().to_owned();
    let sites = async || grant(&desk.browser, "viewer@demo.test").await["propertyIds"].as_array().unwrap().clone();
    let all = sites().await;
    assert_eq!(all.len(), 2);
    let mut form = vec![("do", "team.sites"), ("id", &*id)];
    let others: Vec<&str> = all.iter().filter_map(Value::as_str).filter(|one| *one != desk.id()).collect();
    form.extend(others.iter().map(|id| ("property", *id)));
    let page = desk.page().await;
    assert!(section(&page, "team").contains("Sees this site and 1 other."), "{}", page.body);
    desk.does(&form, "team.saved").await;
    assert_eq!(sites().await, others);
    let page = desk.page().await;
    let part = section(&page, "team");
    assert!(part.contains("1 who see other sites of yours") && part.contains("Share this site, too"), "{part}");
    form.push(("property", desk.id()));
    desk.does(&form, "team.saved").await;
    assert_eq!(sites().await.len(), 2);
    desk.does(&[("do", "team.remove"), ("id", &id)], "team.removed").await;
    assert!(!field(&grants(&desk.browser).await, "email").contains(&"viewer@demo.test"));
}

#[tokio::test]
async fn a_member_sees_who_shared_the_site_and_leaves() {
    let app = TestApp::start(|_| {}).await;
    let (owner, member) = (Desk::of(&app, "owner").await, Desk::of(&app, "viewer").await);
    let page = member.page().await;
    let part = section(&page, "team");
    for words in [
        "<bdi>Demo Owner</bdi> shared this site with you",
        "You are a viewer, who reads",
        "on 2 sites",
        "Leave for good",
    ] {
        assert!(part.contains(words), "{words}: {part}");
    }
    assert!(!part.contains("editor@demo.test") && !part.contains("team.invite"), "{part}");
    let id = grant(&owner.browser, "viewer@demo.test").await["id"].as_str().unwrap().to_owned();
    let etag = super::hidden(&page, "team.leave", "etag");
    let left = member.send(&[("do", "team.leave"), ("id", &id), ("etag", &etag)]).await;
    left.leads_to("/?done=left");
    holds(&member.browser.get("/?done=left").await.expect(200), &["You have left.".to_owned()]);
    member.browser.get(&member.path()).await.expect(404);
    assert!(!field(&grants(&owner.browser).await, "email").contains(&"viewer@demo.test"));
}

#[tokio::test]
async fn a_member_of_all_sites_finds_the_grant_of_its_owner() {
    let app = TestApp::start(|_| {}).await;
    let owner = app.actor("owner").await;
    let granted = object!({ "email": "stranger@demo.test", "role": "editor", "allProperties": true });
    owner.post("/api/team", &granted).await.expect(201);
    let page = Desk::of(&app, "stranger").await.page().await;
    let part = section(&page, "team");
    assert!(
        part.contains("You are an editor, who also writes") && part.contains("on all sites of this owner"),
        "{part}"
    );
    assert!(part.contains("team.leave"), "{part}");
}
