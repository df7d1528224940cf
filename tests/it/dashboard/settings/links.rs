//! Tests of share links on the page.

use serde_json::{Value, json as object};
use url::form_urlencoded::byte_serialize;

use super::{Desk, escaped, field, hostile, section};
use crate::{
    dashboard::holds,
    support::app::{TestApp, shared},
};

const USA: &str = r#"[{"dimension":"country","operator":"equals","value":"usa"}]"#;
const FORM: [(&str, &str); 4] = [("do", "links.make"), ("days", "choice"), ("show", "queries"), ("show", "notes")];

#[tokio::test]
async fn a_link_is_made_once_shown_with_its_address_and_revoked() {
    let app = TestApp::start(|_| {}).await;
    let desk = Desk::of(&app, "owner").await;
    let [name, _] = hostile();
    desk.does_once(&[&FORM[..], &[("name", &name), ("ends", "2026-12-24")]].concat(), "links.made").await;
    let links = desk.records("share-links").await;
    assert_eq!(links.len(), 1);
    let link = &links[0];
    let (url, id) = (link["url"].as_str().unwrap(), link["id"].as_str().unwrap());
    assert_eq!((&link["name"], &link["expiresAt"]), (&object!(name), &object!("2026-12-24T23:59:59.000Z")));
    assert_eq!((&link["show"], link.get("window"), link.get("filters")), (&object!(["queries", "notes"]), None, None));
    let page = desk.browser.get(&format!("{}?done=links.made", desk.path())).await.expect(200);
    let part = section(&page, "links");
    for words in [
        "The link is made.",
        &format!("<input type=\"text\" readonly value=\"{url}\""),
        &format!("<a href=\"{url}\">"),
        &format!("<bdi>{}</bdi>", escaped(&name)),
        "All traffic, on days that readers choose",
        "queries and notes, but not pages",
        "24 December 2026, 23:59 UTC",
    ] {
        assert!(part.contains(words), "{words}: {part}");
    }
    assert!(!page.body.contains(&name), "{}", page.body);
    let open = url.split_once("/share/").unwrap().1;
    desk.browser.get(&format!("/share/{open}")).await.expect(200);
    desk.does(&[("do", "links.revoke"), ("id", id)], "links.revoked").await;
    assert!(desk.records("share-links").await.is_empty());
    desk.browser.get(&format!("/share/{open}")).await.expect(404);
}

#[tokio::test]
async fn a_link_takes_the_days_the_traffic_and_the_conditions_of_the_view() {
    let app = TestApp::start(|_| {}).await;
    let desk = Desk::of(&app, "owner").await;
    let segment = desk.records("segments").await[0].clone();
    let classification = format!("segment:{}", segment["id"].as_str().unwrap());
    let filters: String = byte_serialize(USA.as_bytes()).collect();
    let encoded: String = byte_serialize(classification.as_bytes()).collect();
    let view =
        format!("{}?startDate=2026-10-01&endDate=2026-10-28&classification={encoded}&filters={filters}", desk.path());
    let page = desk.browser.follow(&view).await.expect(200);
    let part = section(&page, "links");
    for offered in [
        "name=\"startDate\" value=\"2026-10-01\"".to_owned(),
        "name=\"endDate\" value=\"2026-10-28\"".to_owned(),
        format!("<option value=\"{classification}\" selected>"),
        format!("name=\"filters\" value=\"{}\" checked", escaped(USA)),
        "Only what this view shows: where the country is exactly <bdi class=\"quoted\">usa</bdi>".to_owned(),
    ] {
        assert!(part.contains(&offered), "{offered}: {part}");
    }
    let form = [
        ("do", "links.make"),
        ("days", "fixed"),
        ("startDate", "2026-10-01"),
        ("endDate", "2026-10-28"),
        ("classification", &classification),
        ("filters", USA),
    ];
    let words = format!(
        "Pages of the segment <bdi class=\"quoted\">{}</bdi>, where the country is exactly <bdi class=\"quoted\">usa</bdi>, on 1 Oct – 28 \
         Oct 2026, without a comparison. Totals, the chart, countries, devices and search appearance, but not queries, pages and notes. \
         It opens until it is revoked.",
        escaped(segment["name"].as_str().unwrap())
    );
    let said = desk.browser.post(&view, &[&form[..], &[("button", "again")]].concat()).await.expect(200);
    assert!(section(&said, "links").contains(&format!("<strong>It would open: </strong>{words}")), "{}", said.body);
    assert!(desk.records("share-links").await.is_empty(), "it was only asked");
    let made = desk.browser.post(&view, &form).await;
    assert!(made.header("location").ends_with("&done=links.made#links"), "{}", made.header("location"));
    let links = desk.records("share-links").await;
    let expected = object!({ "startDate": "2026-10-01", "endDate": "2026-10-28" });
    assert_eq!((&links[0]["window"], &links[0]["show"]), (&expected, &object!([])));
    assert_eq!(links[0]["classification"], classification);
    assert_eq!(links[0]["filters"], serde_json::from_str::<Value>(USA).unwrap());
    assert!(section(&desk.page().await, "links").contains(&words));
    desk.does(&[("do", "segments.delete"), ("id", segment["id"].as_str().unwrap())], "segments.deleted").await;
    let kept = "The link keeps the segment of the moment when it was made: Pages whose address contains <bdi class=\"quoted\" dir=\"ltr\">/products/</bdi>. \
                Later changes do not touch it.";
    holds(&desk.page().await, &["Pages of a segment that is gone, where the country".to_owned(), kept.to_owned()]);
    desk.does(&[("do", "links.make"), ("classification", "nonBranded")], "links.made").await;
    holds(&desk.page().await, &["The link keeps the branded keywords of the moment when it was made: ".to_owned()]);
}

#[tokio::test]
async fn a_link_that_is_refused_keeps_its_fields() {
    let desk = Desk::of(shared(), "owner").await;
    let [_, long] = hostile();
    let fixed = [("days", "fixed"), ("startDate", "2026-10-28"), ("endDate", "2026-10-01")];
    for (changed, field) in [
        (&[][..], "name: "),
        (&[("ends", "2026-01-01")], "Open until: must be in the future"),
        (&[("ends", "tomorrow")], "Open until: "),
        (&fixed, "First day: must not be after Last day"),
        (&[("days", "fixed")], "First day: "),
        (&[("filters", "no json")], "filters: "),
        (&[("classification", "x")], "classification: "),
    ] {
        let name = if field == "name: " { &*long } else { "Kept name" };
        let form = [&[("do", "links.make"), ("show", "pages"), ("name", name)], changed].concat();
        let page = desk.refused(400, &form).await;
        let part = section(&page, "links");
        for kept in [field.to_owned(), format!("value=\"{}\"", escaped(name)), "value=\"pages\" checked".to_owned()] {
            assert!(part.contains(&kept), "{kept}: {part}");
        }
        assert!(!part.contains("value=\"queries\" checked"), "{part}");
        for (name, value) in changed.iter().filter(|(name, _)| ["ends", "startDate", "endDate"].contains(name)) {
            assert!(part.contains(&format!("name=\"{name}\" value=\"{value}\"")), "{name}: {part}");
        }
    }
    assert!(field(&desk.records("share-links").await, "name").is_empty());
}

#[tokio::test]
async fn members_see_links_without_their_addresses() {
    let app = TestApp::start(|_| {}).await;
    let owner = Desk::of(&app, "owner").await;
    owner.does(&[&FORM[..], &[("name", "Board")]].concat(), "links.made").await;
    for who in ["viewer", "editor"] {
        let page = Desk::of(&app, who).await.page().await;
        let part = section(&page, "links");
        assert!(part.contains("<bdi>Board</bdi>") && part.contains("by <bdi>Demo Owner</bdi>"), "{part}");
        assert!(!part.contains("/share/") && !part.contains("<form"), "{part}");
    }
}
