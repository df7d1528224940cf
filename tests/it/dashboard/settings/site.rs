//! Tests of a person's own marks and tags.

use super::{Desk, escaped, hostile, json, section};
use crate::{
    dashboard::holds,
    support::app::{TestApp, shared},
};

#[tokio::test]
async fn a_favourite_and_a_hidden_site_are_the_visitors_own() {
    let app = TestApp::start(|_| {}).await;
    let (viewer, owner) = (Desk::of(&app, "viewer").await, Desk::of(&app, "owner").await);
    for (mark, words, undone) in [
        ("favorite", "Mark as a favourite", "No longer a favourite"),
        ("hidden", "Hide it from your sites", "Show it among your sites again"),
    ] {
        let marked = async |desk: &Desk| {
            json(&desk.browser, &format!("/api/properties/{}?headline=false", desk.id())).await["data"][mark].clone()
        };
        let action = format!("site.{mark}");
        holds(&viewer.page().await, &[words.to_owned()]);
        viewer.does_once(&[("do", &action), ("marked", "true")], "site.saved").await;
        assert_eq!((marked(&viewer).await, marked(&owner).await), (true.into(), false.into()), "{mark}");
        holds(&viewer.page().await, &[undone.to_owned()]);
        viewer.does(&[("do", &action), ("marked", "false")], "site.saved").await;
        assert_eq!(marked(&viewer).await, false, "{mark}");
    }
}

#[tokio::test]
async fn a_tag_is_made_put_on_the_site_renamed_and_deleted() {
    let app = TestApp::start(|_| {}).await;
    let desk = Desk::of(&app, "viewer").await;
    let tags = async || json(&desk.browser, "/api/tags").await["data"].as_array().unwrap().clone();
    let [name, too_long] = hostile();
    desk.does_once(&[("do", "site.add_tag"), ("name", &name)], "site.added").await;
    let made = tags().await;
    assert_eq!((made.len(), &made[0]["name"]), (1, &name.clone().into()));
    let (id, etag) = (made[0]["id"].as_str().unwrap(), made[0]["etag"].as_str().unwrap());
    let page = desk.page().await;
    holds(&page, &[format!("<bdi>{}</bdi>", escaped(&name))]);
    assert!(!page.body.contains(&name) && page.body.matches("<script").count() == 1, "{}", page.body);

    desk.does_once(&[("do", "site.tags"), ("tag", id)], "site.saved").await;
    assert_eq!(tags().await[0]["rowsMatched"], 1);
    holds(&desk.page().await, &[format!("name=\"tag\" value=\"{id}\" checked")]);
    desk.does(&[("do", "site.tags")], "site.saved").await;
    assert_eq!(tags().await[0]["rowsMatched"], 0, "no box is ticked");

    let again = desk.refused(400, &[("do", "site.add_tag"), ("name", &too_long)]).await;
    holds(&again, &["name: ".to_owned(), format!("value=\"{}\"", escaped(&too_long))]);
    let taken = desk.refused(400, &[("do", "site.add_tag"), ("name", &name)]).await;
    assert!(section(&taken, "site").contains("is taken"), "{}", taken.body);

    let rename = |name| [("do", "site.rename_tag"), ("id", id), ("etag", etag), ("name", name)];
    desk.does(&rename("Clients"), "site.saved").await;
    let late = desk.refused(412, &rename("Too late")).await;
    holds(&late, &["It has changed since".to_owned(), "value=\"Too late\"".to_owned()]);
    assert_eq!(tags().await[0]["name"], "Clients");
    desk.does(&[("do", "site.delete_tag"), ("id", id)], "site.deleted").await;
    assert!(tags().await.is_empty());
    let gone = desk.refused(404, &[("do", "site.delete_tag"), ("id", id)]).await;
    assert!(section(&gone, "site").contains("It is not there any more."), "{}", gone.body);
}

#[tokio::test]
async fn tags_that_are_no_tags_are_refused_and_ticks_are_kept() {
    let app = TestApp::start(|_| {}).await;
    let desk = Desk::of(&app, "editor").await;
    desk.does(&[("do", "site.add_tag"), ("name", "One")], "site.added").await;
    let one = json(&desk.browser, "/api/tags").await["data"][0]["id"].as_str().unwrap().to_owned();
    let unknown = "0199d5c8-5c2a-7f43-8d4e-3f6b8c1a2d5e";
    let page = desk.refused(404, &[("do", "site.tags"), ("tag", &one), ("tag", unknown)]).await;
    holds(&page, &["tagIds[1]: ".to_owned(), format!("name=\"tag\" value=\"{one}\" checked")]);
}

#[tokio::test]
async fn every_section_has_an_anchor_that_its_forms_come_back_to() {
    let desk = Desk::of(shared(), "owner").await;
    let page = desk.page().await;
    for id in ["site", "links", "team", "brand", "segments", "clusters"] {
        holds(&page, &[format!("<a href=\"#{id}\">")]);
        let part = section(&page, id);
        let forms =
            part.matches("<form method=\"post\"").count() + part.matches("<form class=\"row\" method=\"post\"").count();
        assert!(forms > 0 && part.matches(&format!("action=\"#{id}\"")).count() == forms, "{id}: {part}");
    }
    for stray in ["site.x", "brand.x", "x.add", "add", "", "segments.change"] {
        let page = desk.refused(400, &[("do", stray), ("button", "again")]).await;
        holds(&page, &["do: names no form of this page".to_owned()]);
    }
}
