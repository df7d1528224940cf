//! Tests of the page of activity: what people allow applications, and what they track.

use chrono::TimeDelta;
use serde_json::json;

use crate::support::{
    app::TestApp,
    application::Application,
    browser::{Browser, Page},
};

/// The events of the page, the latest first: the action and what it is about.
fn events(page: &Page) -> Vec<String> {
    let cards = page.html.split("<li class=\"card\"><p>").skip(1);
    cards.map(|card| card.split("</p>").next().unwrap().replace("<strong>", "").replace("</strong>", "")).collect()
}

#[tokio::test]
async fn a_person_reads_what_they_allowed_an_application_even_after_its_end() {
    let app = TestApp::start(|_| {}).await;
    let base = &app.service.base_url;
    let (application, person) = (Application::register(base).await, Browser::signed_in(base, "owner").await);
    let before = events(&person.get("/account/activity").await).len();
    let later = || app.hand.advance(TimeDelta::seconds(1));
    later();
    let scope = "openid email search:read records:write account";
    application.allowed(&person, "owner", scope, None, Some("read")).await;
    later();
    let id = ("client_id", application.id.as_str());
    person.post("/account/applications/limit", &[id, ("allowance", "records")]).await.expect(303, &[]);
    later();
    person.post("/account/applications/revoke", &[id]).await.expect(303, &[]);
    let page = person.get("/account/activity").await.expect(200, &[]);
    let found = events(&page);
    assert_eq!(
        found[..found.len() - before],
        [
            "Application revoked: Probe",
            "Application allowed more or less: Probe: openid email offline_access search:read records:write",
            "Application allowed: Probe: openid email offline_access search:read",
        ]
    );
    assert!(!page.html.contains(&application.id), "{}", page.html);

    application.allowed(&person, "owner", "openid search:read", None, None).await;
    application.allowed(&person, "owner", "openid search:read", None, None).await;
    let after = events(&person.get("/account/activity").await);
    assert_eq!(after.len(), found.len() + 1, "what is remembered is asked and noted once: {after:?}");
}

#[tokio::test]
async fn a_person_reads_what_they_began_and_ceased_to_track() {
    let app = TestApp::start(|_| {}).await;
    let (person, actor) = (Browser::signed_in(&app.service.base_url, "owner").await, app.actor("owner").await);
    let before = events(&person.get("/account/activity").await).len();
    let all = actor.get("/api/properties/tracking").await.expect(200).json["data"]["properties"].clone();
    let (tracked, others): (Vec<_>, Vec<_>) =
        all.as_array().unwrap().iter().partition(|property| property["tracked"] == true);
    app.hand.advance(TimeDelta::seconds(1));
    let change = json!({ "add": [others[0]["id"]], "remove": [tracked[0]["id"], tracked[1]["id"]] });
    for _ in 0..2 {
        actor.put("/api/properties/tracking", &change).await.expect(200);
    }
    let found = events(&person.get("/account/activity").await);
    let name = |property: &serde_json::Value| property["name"].as_str().unwrap().to_owned();
    let mut new = found[..found.len() - before].to_vec();
    new.sort();
    assert_eq!(
        new,
        [
            format!("Tracking begun: {}", name(others[0])),
            format!("Tracking ended: {}, {}", name(tracked[0]), name(tracked[1])),
        ],
        "what changes nothing is no event"
    );
}
