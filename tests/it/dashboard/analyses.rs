//! Tests of the pages of growth and cannibalization.

use super::{grouped, holds, json, path};
use crate::support::{app::shared, signed_in::Browser};

#[tokio::test]
async fn growth_shows_the_opportunities_of_the_operation() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (of_page, of_api) in [
        ("", "compare=previous_period"),
        ("?kind=snippet&compare=none", "kind=snippet"),
        (
            "?minPosition=2&maxPosition=8.5&minImpressions=500&targetPosition=1&offset=1",
            "compare=previous_period&minPosition=2&maxPosition=8.5&minImpressions=500&targetPosition=1&offset=1",
        ),
    ] {
        let page = browser.get(&format!("{at}/growth{of_page}")).await.expect(200);
        let answer =
            json(&browser, &format!("/api/properties/{}/growth-opportunities?limit=50&{of_api}", &at[3..])).await;
        let found = answer["data"]["opportunities"].as_array().unwrap();
        assert!(!found.is_empty(), "{of_page}");
        for one in found {
            let query = maud::html! { (one["query"].as_str().unwrap()) }.into_string();
            holds(
                &page,
                &[
                    format!("title=\"{query}\""),
                    format!("<td>{}</td>", grouped(&one["potentialClicks"])),
                    format!("<td>{}</td>", grouped(&one["clicks"])),
                    format!("<td class=\"second\">{}</td>", grouped(&one["impressions"])),
                ],
            );
        }
        let matched = &answer["meta"]["coverage"]["queries"]["rowsMatched"];
        holds(&page, &[format!("{} of {} opportunities", found.len(), grouped(matched))]);
    }
}

#[tokio::test]
async fn cannibalization_shows_the_candidates_of_the_operation() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    let page = browser.get(&format!("{at}/cannibalization")).await.expect(200);
    let asked = format!("/api/properties/{}/cannibalization?limit=20&compare=previous_period", &at[3..]);
    let answer = json(&browser, &asked).await;
    let found = answer["data"]["queries"].as_array().unwrap();
    assert!(!found.is_empty());
    for query in found {
        let name = maud::html! { (query["query"].as_str().unwrap()) }.into_string();
        let sums = format!("{} clicks, {} impressions", grouped(&query["clicks"]), grouped(&query["impressions"]));
        holds(&page, &[format!("title=\"{name}\""), sums]);
        for competing in query["pages"].as_array().unwrap() {
            holds(&page, &[format!("<td>{}</td>", grouped(&competing["clicks"]))]);
        }
    }
}

#[tokio::test]
async fn a_threshold_that_is_not_allowed_is_named() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    for (part, name) in [
        ("growth?minPosition=x", "minPosition: "),
        ("growth?kind=x", "kind: "),
        ("growth?minPosition=9&maxPosition=5", "Position"),
        ("cannibalization?minPageShare=2", "minPageShare: "),
        ("cannibalization?kind=rank", "kind: not a parameter here"),
    ] {
        let page = browser.get(&format!("{at}/{part}")).await.expect(400);
        assert!(page.body.contains(name), "{part}: {}", page.body);
    }
}
