//! Tests of the pages of growth, cannibalization, insights and countries.

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

#[tokio::test]
async fn insights_show_visibility_positions_brand_and_movers() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    let page = browser.get(&format!("{at}/insights?minImpressions=5")).await.expect(200);
    let asked =
        format!("/api/properties/{}/query-insights?limit=10&minImpressions=5&compare=previous_period", &at[3..]);
    let data = json(&browser, &asked).await["data"].clone();
    let index = data["visibility"]["index"].as_f64().unwrap();
    holds(&page, &[format!("Visibility <span class=\"number\">{index:.1}</span> of 100")]);
    for point in data["visibility"]["series"].as_array().unwrap() {
        holds(&page, &[format!("<td>{:.1}</td>", point["index"].as_f64().unwrap())]);
        for bucket in point["buckets"].as_array().unwrap() {
            holds(&page, &[format!("<td>{}</td>", grouped(&bucket["queries"]))]);
        }
    }
    for row in
        [&data["distribution"], &data["previousDistribution"]].into_iter().flat_map(|rows| rows.as_array().unwrap())
    {
        holds(&page, &[format!("<td>{}</td>", grouped(&row["queries"]))]);
    }
    for part in ["branded", "nonBranded", "anonymised"] {
        let part = &data["brandedSplit"][part];
        let share = 100.0 * part["clicksShare"].as_f64().unwrap();
        holds(&page, &[format!("<td>{}</td><td>{share:.1} %</td>", grouped(&part["clicks"]))]);
    }
    for row in data["movers"]["moving"].as_array().unwrap() {
        let query = maud::html! { (row["key"].as_str().unwrap()) }.into_string();
        holds(&page, &[format!("title=\"{query}\""), format!("<td>{}</td>", grouped(&row["clicks"]))]);
    }
    for rate in data["ctrByPosition"].as_array().unwrap().iter().filter(|rate| !rate["ctr"].is_null()) {
        let share = 100.0 * rate["ctr"].as_f64().unwrap();
        holds(&page, &[format!("<td>{share:.1} %</td><td>{}</td>", grouped(&rate["queries"]))]);
    }
}

#[tokio::test]
async fn countries_show_the_trends_of_the_largest() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let at = path(&browser, "northmoor").await;
    let page = browser.get(&format!("{at}/countries?compare=none")).await.expect(200);
    let data =
        json(&browser, &format!("/api/properties/{}/countries-timeseries?top=5", &at[3..])).await["data"].clone();
    let trends = data["countries"].as_array().unwrap();
    assert_eq!(trends.len(), 5);
    for trend in trends {
        holds(&page, &[format!("<th scope=\"col\"><bdi>{}</bdi></th>", trend["label"].as_str().unwrap())]);
        for day in trend["series"].as_array().unwrap() {
            holds(&page, &[format!("<td>{}</td>", grouped(&day["clicks"]))]);
        }
    }
    holds(&page, &["<bdi>All others</bdi>".to_owned()]);
}
