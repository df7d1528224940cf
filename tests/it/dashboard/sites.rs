//! Tests of the page of all sites.

use serde_json::json as object;

use super::{grouped, holds, json};
use crate::support::{
    app::{TestApp, shared},
    signed_in::Browser,
};

#[tokio::test]
async fn people_see_their_sites_with_the_numbers_of_the_list() {
    for person in ["owner", "viewer"] {
        let browser = Browser::signed_in(shared(), person).await;
        let page = browser.get("/").await.expect(200);
        let list = json(&browser, "/api/properties?hidden=false").await;
        let sites = list["data"].as_array().unwrap();
        assert!(!sites.is_empty(), "{person}");
        for site in sites {
            let (id, name) = (site["id"].as_str().unwrap(), site["name"].as_str().unwrap());
            holds(&page, &[format!("<a href=\"/p/{id}\"><bdi>{name}</bdi></a>")]);
            if site["access"] == "ok" {
                holds(&page, &[format!("<strong>{}</strong>", grouped(&site["headline"]["current"]["clicks"]))]);
            }
        }
        let sums = json(&browser, "/api/portfolio").await;
        holds(&page, &[format!("<strong>{}</strong>", grouped(&sums["data"]["totals"]["impressions"]))]);
    }
}

#[tokio::test]
async fn a_search_leaves_the_sites_that_fit() {
    let browser = Browser::signed_in(shared(), "owner").await;
    let page = browser.get("/?search=northmoor&sort=-clicks").await.expect(200);
    assert_eq!(page.between("<h2>", "</h2>").len(), 1, "{}", page.body);
    let none = browser.get("/?search=no-such-site").await.expect(200);
    assert!(none.body.contains("No site fits."), "{}", none.body);
    let refused = browser.get("/?color=red").await.expect(400);
    assert!(refused.body.contains("color: not a parameter here"), "{}", refused.body);
}

#[tokio::test]
async fn a_person_without_sites_is_led_to_the_search_account() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "stranger").await;
    let none = object!({ "propertyIds": [] });
    let untracked = app.actor("stranger").await.put("/api/properties/tracking", &none).await;
    assert!(untracked.status.is_success(), "{}", untracked.json);
    let page = browser.get("/").await.expect(200);
    assert!(page.body.contains("Connect your search account"), "{}", page.body);
}
