//! Tests of brand keywords on the page.

use serde_json::json as object;

use super::{Desk, escaped, field, hidden, hostile, json, section};
use crate::{
    dashboard::{grouped, holds},
    faults,
    support::app::{TestApp, shared},
};

const KEYWORDS: &str = "branded-keywords";

#[tokio::test]
async fn keywords_are_added_once_and_deleted() {
    let app = TestApp::start(|_| {}).await;
    let desk = Desk::of(&app, "editor").await;
    let [name, _] = hostile();
    desk.does_once(&[("do", "brand.add"), ("keywords", &format!("Acme, acme inc\r\n{name}\r\n"))], "brand.added").await;
    let found = desk.records(KEYWORDS).await;
    let words = field(&found, "keyword");
    for word in ["Acme", "acme inc", &*name] {
        assert_eq!(words.iter().filter(|one| **one == word).count(), 1, "{words:?}");
    }
    let page = desk.page().await;
    holds(&page, &[format!("<bdi>{}</bdi>", escaped(&name)), "Delete Acme".to_owned()]);
    assert!(!page.body.contains(&name), "{}", page.body);
    for word in ["Acme", &*name] {
        desk.does(&[("do", "brand.delete"), ("keyword", word)], "brand.deleted").await;
    }
    let left = desk.records(KEYWORDS).await;
    assert!(!field(&left, "keyword").contains(&"Acme") && left.len() == found.len() - 2, "{left:?}");
    let gone = desk.refused(404, &[("do", "brand.delete"), ("keyword", "Acme")]).await;
    assert!(section(&gone, "brand").contains("It is not there any more."), "{}", gone.body);
}

#[tokio::test]
async fn keywords_that_are_refused_stay_in_the_form() {
    let desk = Desk::of(shared(), "owner").await;
    let [_, too_long] = hostile();
    for (written, field) in [(&*too_long, "keywords[0]"), ("fine\n***", "keywords[1]"), ("", "keywords")] {
        for button in ["", "preview"] {
            let page = desk.refused(400, &[("do", "brand.add"), ("button", button), ("keywords", written)]).await;
            holds(&page, &[format!("{field}: "), format!("{}</textarea>", escaped(written))]);
        }
    }
    let page = desk.page().await;
    assert_ne!(hidden(&page, "brand.add", "key"), hidden(&desk.page().await, "brand.add", "key"));
}

#[tokio::test]
async fn a_preview_shows_the_numbers_of_the_operation_and_adds_nothing() {
    let desk = Desk::of(shared(), "owner").await;
    let before = desk.records(KEYWORDS).await;
    let form = [("do", "brand.add"), ("button", "preview"), ("keywords", "jacket\nwaterproof")];
    let page = desk.send(&form).await.expect(200);
    let answer = desk.preview(shared(), "owner", KEYWORDS, &object!({ "keywords": ["jacket", "waterproof"] })).await;
    let part = section(&page, "brand");
    let matched = &answer["matched"];
    for number in [
        format!("{} queries", grouped(&answer["rows"])),
        format!("{} clicks", grouped(&matched["clicks"])),
        format!("{} impressions", grouped(&matched["impressions"])),
        format!("{:.1} %", matched["clicksShare"].as_f64().unwrap() * 100.0),
        format!("{:.1} %", matched["impressionsShare"].as_f64().unwrap() * 100.0),
        format!("{} clicks would not match", grouped(&answer["unmatched"]["clicks"])),
        format!("{} are of queries", grouped(&answer["anonymised"]["clicks"])),
        "jacket\nwaterproof</textarea>".to_owned(),
    ] {
        assert!(part.contains(&number), "{number}: {part}");
    }
    let largest = answer["largest"].as_array().unwrap();
    assert_eq!((largest.len(), part.matches("<th scope=\"row\">").count()), (10, 10));
    for row in largest {
        let cells =
            format!("<td>{}</td><td class=\"second\">{}</td>", grouped(&row["clicks"]), grouped(&row["impressions"]));
        assert!(part.contains(&format!("title=\"{}\"", escaped(row["key"].as_str().unwrap()))), "{row}");
        assert!(part.contains(&cells), "{row}: {part}");
    }
    assert_eq!(desk.records(KEYWORDS).await, before);
}

#[tokio::test]
async fn suggestions_come_when_they_are_asked_for_and_are_ticked() {
    let app = TestApp::start(|_| {}).await;
    let desk = Desk::of(&app, "owner").await;
    for one in field(&desk.records(KEYWORDS).await, "keyword") {
        desk.does(&[("do", "brand.delete"), ("keyword", one)], "brand.deleted").await;
    }
    assert!(!desk.page().await.body.contains("<legend>Suggestions"));
    let asked = format!("{}?suggest=true", desk.path());
    let page = desk.browser.get(&asked).await.expect(200);
    let list = json(&desk.browser, &format!("/api/properties/{}/{KEYWORDS}?suggest=true", desk.id())).await;
    let suggested = list["meta"]["suggestions"].as_array().unwrap();
    assert!(!suggested.is_empty());
    for one in suggested {
        let word = one["keyword"].as_str().unwrap();
        holds(
            &page,
            &[
                format!("name=\"keyword\" value=\"{word}\""),
                format!("{} clicks of", grouped(&one["evidence"]["clicks"])),
            ],
        );
    }
    let word = suggested[0]["keyword"].as_str().unwrap();
    let form = [("do", "brand.add"), ("keyword", word), ("keywords", "more")];
    let preview = desk.browser.post(&asked, &[&form[..], &[("button", "preview")]].concat()).await.expect(200);
    holds(&preview, &[format!("value=\"{word}\" checked"), "would match".to_owned(), "more</textarea>".to_owned()]);
    desk.browser.post(&asked, &form).await.leads_to(&format!("{}?done=brand.added#brand", desk.path()));
    assert_eq!(field(&desk.records(KEYWORDS).await, "keyword").len(), 2);
}

#[tokio::test]
async fn while_the_search_engine_is_away_the_page_works_and_only_previews_fail() {
    let app = TestApp::start(faults::impatient).await;
    let desk = Desk::of(&app, "owner").await;
    faults::trouble(&app, &["error500:1"]);
    let page = desk.page().await;
    assert!(!page.body.contains("Reading from the search engine"), "{}", page.body);
    let form = [("do", "brand.add"), ("button", "preview"), ("keywords", "kept text")];
    let failed = desk.refused(503, &form).await;
    holds(&failed, &["The search engine does not answer".to_owned(), "kept text</textarea>".to_owned()]);
    desk.does(&form[..1].iter().chain(&form[2..]).copied().collect::<Vec<_>>(), "brand.added").await;
    faults::trouble(&app, &["invalid_grant:1"]);
    app.hand.advance(chrono::TimeDelta::hours(2));
    desk.page().await;
    let failed = desk.refused(409, &form).await;
    holds(&failed, &["Reconnect your search account".to_owned(), "kept text</textarea>".to_owned()]);
    faults::trouble(&app, &[]);
}
