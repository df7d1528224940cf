//! Tests of segments and topic clusters on the page.

use serde_json::{Value, json as object};

use super::{Desk, escaped, field, hidden, hostile, section};
use crate::{
    dashboard::{grouped, holds},
    support::{
        app::{TestApp, shared},
        signed_in::Page,
    },
};

/// Both kinds: the section, the operation, the beginning of the words, and a text that some of the traffic holds.
const KINDS: [(&str, &str, &str, &str); 2] = [
    ("segments", "segments", "Pages whose address ", "/products/"),
    ("clusters", "topic-clusters", "Queries whose text ", "jacket"),
];

/// The fields of a condition.
fn condition<'t>(logic: &'t str, operator: &'t str, value: &'t str) -> [(&'t str, &'t str); 3] {
    [("logic", logic), ("operator", operator), ("value", value)]
}

/// The values of the rows of the open form of a section.
fn values<'p>(page: &'p Page, id: &str) -> Vec<&'p str> {
    let rows = section(page, id).split("name=\"value\"").skip(1);
    rows.map(|row| row.split_once("value=\"").unwrap().1.split_once('"').unwrap().0).collect()
}

#[tokio::test]
async fn one_is_added_once_changed_and_deleted() {
    let app = TestApp::start(|_| {}).await;
    let desk = Desk::of(&app, "editor").await;
    let [name, _] = hostile();
    for (id, operation, subject, text) in KINDS {
        let [add, change, delete] = ["add", "change", "delete"].map(|verb| format!("{id}.{verb}"));
        let rows = [
            condition("and", "contains", ""),
            condition("or", "contains", text),
            condition("or", "equals", "<i>\u{202e}x"),
            condition("and", "not_contains", "draft"),
        ];
        let form = [&[("do", &*add), ("name", &name), ("colored", "true"), ("color", "#12ab9f")], rows.as_flattened()];
        desk.does_once(&form.concat(), &format!("{id}.added")).await;
        let found = desk.records(operation).await;
        let made: Vec<&Value> = found.iter().filter(|one| one["name"] == name).collect();
        assert_eq!((made.len(), &made[0]["color"]), (1, &object!("#12ab9f")));
        let expected = object!([
            { "operator": "contains", "value": text },
            { "operator": "equals", "value": "<i>\u{202e}x", "logic": "or" },
            { "operator": "not_contains", "value": "draft", "logic": "and" },
        ]);
        assert_eq!(made[0]["conditions"], expected, "an empty row is none, and the first one joins nothing");
        let page = desk.page().await;
        let (direction, other) =
            if subject.starts_with("Pages") { (" dir=\"ltr\"", "<i>%E2%80%AEx") } else { ("", "<i>\u{202e}x") };
        let quoted = |value: &str| format!("<bdi class=\"quoted\"{direction}>{value}</bdi>");
        let words = format!(
            "{subject}contains {}, or is exactly {} and does not contain {}.",
            quoted(text),
            quoted(&escaped(other)),
            quoted("draft")
        );
        holds(&page, &[words, format!("<bdi>{}</bdi>", escaped(&name)), "fill=\"#12ab9f\"".to_owned()]);
        assert!(!page.body.contains(&name), "{}", page.body);

        let one = made[0]["id"].as_str().unwrap();
        let edit = format!("{}?edit={one}", desk.path());
        let page = desk.browser.get(&edit).await.expect(200);
        assert_eq!(values(&page, id)[..3], [text, &escaped("<i>\u{202e}x"), "draft"]);
        let etag = hidden(&page, &change, "etag");
        let change = |name| {
            [
                &[("do", &*change), ("id", one), ("etag", &etag), ("name", name)],
                condition("and", "contains", "a").as_slice(),
            ]
            .concat()
        };
        desk.browser.post(&edit, &change("Renamed")).await.leads_to(&format!("{}?done={id}.saved#{id}", desk.path()));
        let late = desk.browser.post(&edit, &change("Too late")).await.expect(412);
        holds(&late, &["It has changed since".to_owned(), "value=\"Too late\"".to_owned()]);
        let found = desk.records(operation).await;
        let renamed = found.iter().find(|record| record["id"] == one).unwrap();
        assert_eq!((&renamed["name"], renamed.get("color")), (&object!("Renamed"), None));

        desk.does(&[("do", &delete), ("id", one)], &format!("{id}.deleted")).await;
        assert!(!field(&desk.records(operation).await, "id").contains(&one));
    }
}

#[tokio::test]
async fn a_form_that_is_refused_or_wants_a_row_keeps_every_field() {
    let desk = Desk::of(shared(), "owner").await;
    let [_, name] = hostile();
    for (id, operation, ..) in KINDS {
        let add = format!("{id}.add");
        let (before, long) = (desk.records(operation).await, "y".repeat(2_000));
        let rows = [
            condition("and", "equals", "one"),
            condition("or", "or_list", ""),
            condition("or", "matches_regex", &long),
        ];
        let form = [&[("do", &*add), ("name", &name), ("colored", "true"), ("color", "#12ab9f")], rows.as_flattened()]
            .concat();
        let refused = desk.refused(400, &form).await;
        let more = desk.send(&[&form[..], &[("button", "again")]].concat()).await.expect(200);
        for (page, rows) in [(&refused, 3), (&more, 4)] {
            let expected = ["one", "", &long, ""];
            assert_eq!(values(page, id), expected[..rows]);
            let part = section(page, id);
            for kept in [
                format!("name=\"name\" required maxlength=\"100\" value=\"{}\"", escaped(&name)),
                "value=\"true\" checked".to_owned(),
                "value=\"#12ab9f\"".to_owned(),
                "<option value=\"or\" selected>".to_owned(),
                "<option value=\"equals\" selected>".to_owned(),
                "<option value=\"or_list\" selected>".to_owned(),
                "<option value=\"matches_regex\" selected>".to_owned(),
            ] {
                assert!(part.contains(&kept), "{kept}: {part}");
            }
        }
        assert!(!more.body.contains("Nothing was changed.") && section(&refused, id).contains("name: "));
        let empty = desk.refused(400, &[("do", &add), ("name", "None")]).await;
        assert!(section(&empty, id).contains("conditions: "), "{}", empty.body);
        assert_eq!(desk.records(operation).await, before);
    }
}

/// However many rows are sent, a form comes back with as many as a record has conditions.
#[tokio::test]
async fn a_form_that_is_shown_again_does_not_grow() {
    let desk = Desk::of(shared(), "owner").await;
    for (id, ..) in KINDS {
        let add = format!("{id}.add");
        for (value, shown) in [("", 2), ("x", 50)] {
            let rows = vec![condition("and", "contains", value); 3_000];
            let form = [&[("do", &*add), ("button", "again")], rows.as_flattened()].concat();
            let page = desk.send(&form).await.expect(200);
            assert_eq!(values(&page, id).len(), shown, "{value:?}");
            assert!(page.body.len() < 200_000, "{} bytes", page.body.len());
        }
    }
}

#[tokio::test]
async fn a_preview_shows_the_numbers_of_the_operation_and_saves_nothing() {
    let desk = Desk::of(shared(), "owner").await;
    for (id, operation, _, text) in KINDS {
        let add = format!("{id}.add");
        let before = desk.records(operation).await;
        let rows = [condition("and", "contains", text), condition("and", "not_contains", "boots")];
        let form = [&[("do", &*add), ("button", "preview")], rows.as_flattened()].concat();
        let page = desk.send(&form).await.expect(200);
        let body = object!({ "conditions": [
            { "operator": "contains", "value": text }, { "operator": "not_contains", "value": "boots" },
        ] });
        let answer = desk.preview(shared(), "owner", operation, &body).await;
        let (part, matched) = (section(&page, id), &answer["matched"]);
        let rows = if id == "segments" { "pages" } else { "queries" };
        for number in [
            format!("{} {rows}", grouped(&answer["rows"])),
            format!("{} clicks", grouped(&matched["clicks"])),
            format!("{} impressions", grouped(&matched["impressions"])),
            format!("{:.1} %", matched["clicksShare"].as_f64().unwrap() * 100.0),
            format!("{:.1} %", matched["impressionsShare"].as_f64().unwrap() * 100.0),
            format!("{} clicks would not match", grouped(&answer["unmatched"]["clicks"])),
        ] {
            assert!(part.contains(&number), "{number}: {part}");
        }
        assert_eq!(part.contains("that the search engine does not name"), id == "clusters");
        for row in answer["largest"].as_array().unwrap() {
            assert!(part.contains(&format!("<td>{}</td>", grouped(&row["clicks"]))), "{row}");
        }
        assert_eq!(values(&page, id), [text, "boots"]);
        let none = [&form[..], &condition("and", "equals", "no such thing")].concat();
        let none = desk.send(&none).await.expect(200);
        let words = if id == "segments" { "No page would match." } else { "No query would match." };
        assert!(section(&none, id).contains(words), "{}", none.body);
        assert_eq!(desk.records(operation).await, before);
    }
}

#[tokio::test]
async fn a_change_is_previewed_in_its_own_form() {
    let desk = Desk::of(shared(), "owner").await;
    let one = desk.records("segments").await[0]["id"].as_str().unwrap().to_owned();
    let edit = format!("{}?edit={one}", desk.path());
    let etag = hidden(&desk.browser.get(&edit).await.expect(200), "segments.change", "etag");
    let head = [("do", "segments.change"), ("id", &*one), ("etag", &etag), ("button", "preview"), ("name", "Kept")];
    let page =
        desk.browser.post(&edit, &[&head[..], &condition("and", "contains", "/guides/")].concat()).await.expect(200);
    let (before, after) = section(&page, "segments").split_once("Add a segment").unwrap();
    assert!(before.contains("would match") && before.contains("value=\"Kept\""), "{before}");
    assert!(!after.contains("would match") && !after.contains("Kept"), "{after}");
}
