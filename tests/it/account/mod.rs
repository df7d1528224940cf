//! Tests of the account page.

mod activity;
pub mod applications;
pub mod external;
mod home;
mod issuer_sessions;
mod sessions;

use chrono::TimeDelta;
use entity::user::{Plan, PlanState};
use sightline::services::users::subscriptions::{self, Wanted};

use crate::support::{
    app::{TestApp, start_of_test},
    cookies::cookie,
    signed_in::Browser,
};

#[tokio::test]
async fn a_person_sees_who_is_signed_in_and_how() {
    let app = TestApp::start(|_| {}).await;
    let page = Browser::signed_in(&app, "owner").await.get("/account").await.expect(200);
    for text in [
        "Demo Owner",
        "owner@demo.test",
        "<dd>as a demo person, without a password</dd>",
        "<html lang=\"en\">",
        "Sign out",
    ] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    assert!(!page.body.contains("/account/password"), "demo people have no password");
    assert!(!page.body.contains("<script"), "{}", page.body);
    assert_eq!(page.header("cache-control"), "no-store");
    assert_eq!(page.header("x-frame-options"), "DENY");
    assert!(page.header("content-security-policy").contains("default-src 'none'"));
    let main = &page.between("<main", "</main>")[0];
    let levels: Vec<u32> = main.split("<h").skip(1).map(|rest| rest[..1].parse().unwrap()).collect();
    assert_eq!(levels[0], 1);
    assert!(levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "a level is skipped: {levels:?}");
    assert!(levels.iter().filter(|level| **level == 2).count() >= 5, "{levels:?}");
}

#[tokio::test]
async fn an_anonymous_visitor_is_led_to_sign_in_and_back() {
    let app = TestApp::start(|_| {}).await;
    let nobody = Browser::signed_in(&app, "owner").await.signed_out();
    nobody.get("/account").await.leads_to("/auth/login?return_to=/account");
    for path in ["/account/sessions/end-others", "/account/applications/revoke"] {
        nobody.post(path, &[]).await.leads_to("/auth/login?return_to=/account");
    }
    let odd = nobody.get("/account/search/x&return_to=y%23z").await;
    odd.leads_to("/auth/login?return_to=/account/search/x%26return_to%3Dy%2523z");
    nobody.get("/account/signed-out").await.expect(200);
    for path in ["/account/nowhere", "/account/sessions/x", "/account/sessions/x/y/z"] {
        nobody.get(path).await.expect(404);
        nobody.post(path, &[]).await.expect(404);
    }
    let wrong = nobody.send("DELETE".parse().unwrap(), "/account/sessions/x/end", &[], &[]).await;
    assert_eq!((wrong.status.as_u16(), wrong.header("allow")), (405, "POST"));
}

#[tokio::test]
async fn a_failed_sign_in_is_a_page_that_leads_to_another_try() {
    let app = TestApp::start(|_| {}).await;
    let nobody = Browser::signed_in(&app, "owner").await.signed_out();
    let lost = nobody.get("/auth/callback?code=x&state=x").await.expect(400);
    assert!(lost.body.contains("href=\"/auth/login?return_to=%2Faccount\""), "{}", lost.body);
    assert_eq!((lost.header("referrer-policy"), lost.header("cache-control")), ("no-referrer", "no-store"));

    let leaving = nobody.get("/auth/login?return_to=/account%3Fdone=%22%3E%3Cb%3E").await;
    let question = url::Url::parse(leaving.header("location")).unwrap();
    let state = question.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
    let attempt = nobody.with_cookie(&cookie(&leaving.headers, "sightline_attempt"));
    let refused = attempt.get(&format!("/auth/callback?error=access_denied&state={state}")).await.expect(403);
    assert!(refused.body.contains("The sign-in was cancelled") && refused.body.contains("role=\"alert\""));
    assert!(refused.body.contains("return_to=%2Faccount%3Fdone%3D%22%3E%3Cb%3E"), "{}", refused.body);
    assert!(cookie(&refused.headers, "sightline_attempt").ends_with('='), "the attempt is over");
}

#[tokio::test]
async fn a_failing_database_gives_a_page() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    app.service.close_database().await;
    for page in [browser.get("/account").await, browser.post("/account/sessions/end-others", &[]).await] {
        assert_eq!(page.expect(503).header("retry-after"), "5");
    }
}

#[tokio::test]
async fn plan_and_usage_are_said_in_words() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    let says = async |texts: &[&str]| {
        let page = browser.get("/account").await.expect(200);
        let section = page.between("<h2 id=\"plan\">", "</section>")[0].to_owned();
        for text in texts {
            assert!(section.contains(text), "{text}: {section}");
        }
    };
    let plan = async |plan| {
        subscriptions::set(&app.service.db, "demo-owner", plan, start_of_test()).await.unwrap();
    };
    let tracked = app.actor("owner").await.listed("/api/properties").await.len();
    assert!(tracked > 1);
    let plans = format!("href=\"{}/subscribe\">Plans</a>", app.service.base_url);
    says(&["Pro", &format!("{tracked} of the 25 that the plan allows"), "Share links", &plans]).await;
    plan(Plan::Free).await;
    says(&["Free", &format!("{tracked}, but the plan opens 1 only"), "Not included", "Team members"]).await;
    says(&["those tracked longest stay open, the others are locked"]).await;
    plan(Plan::None).await;
    says(&["None.", &format!("{tracked}, locked until you have a plan"), &plans]).await;
    let end = start_of_test() + TimeDelta::days(3);
    let trial = Wanted { plan: Plan::Pro, state: PlanState::Trialing, until: Some(end) };
    subscriptions::set(&app.service.db, "demo-owner", trial, start_of_test()).await.unwrap();
    says(&["Pro", "as a trial until", "24 November 2026, 12:00 UTC", &plans]).await;
    app.hand.advance(TimeDelta::days(4));
    says(&["None.", "Your trial ended on"]).await;
}

#[tokio::test]
async fn without_billing_the_page_sells_nothing() {
    let app = TestApp::start(|config| config.billing.enabled = false).await;
    let page = Browser::signed_in(&app, "stranger").await.get("/account").await.expect(200);
    assert!(page.body.contains("Everything is included: billing is off."), "{}", page.body);
    assert!(page.body.contains("without a limit") && !page.body.contains("/subscribe"), "{}", page.body);
}

#[tokio::test]
async fn the_link_to_plans_says_subscribe_where_plans_are_sold() {
    let app = TestApp::start(|config| config.billing.checkout_url = "https://pay.example/".parse().ok()).await;
    for (name, words) in [("owner", ">Change the plan</a>"), ("lapsed", ">Subscribe</a>")] {
        let page = Browser::signed_in(&app, name).await.get("/account").await.expect(200);
        assert!(page.body.contains(words), "{name}: {}", page.body);
    }
}

#[tokio::test]
async fn the_page_begins_with_the_sites_of_the_person() {
    let app = TestApp::start(|_| {}).await;
    for (name, words) in [("owner", "Yours"), ("viewer", "You are a viewer · of <bdi>Demo Owner</bdi>")] {
        let page = Browser::signed_in(&app, name).await.get("/account").await.expect(200);
        let first = page.between("<section", "</section>")[0].to_owned();
        let sites = app.actor(name).await.listed("/api/properties").await;
        assert!(!sites.is_empty());
        for site in &sites {
            let (id, name) = (site["id"].as_str().unwrap(), site["name"].as_str().unwrap());
            assert!(
                first.contains(&format!("<a href=\"/p/{id}\"><bdi dir=\"ltr\">{name}</bdi></a>")),
                "{name}: {first}"
            );
        }
        assert_eq!(first.matches(words).count(), sites.len(), "{first}");
        let blue = page.body.matches("<button>").count();
        assert_eq!(blue, 0, "nothing asks for attention: {}", page.body);
    }
    let lapsed = Browser::signed_in(&app, "lapsed").await.get("/account").await.expect(200);
    assert!(lapsed.between("<section", "</section>")[0].contains("Locked"), "{}", lapsed.body);
    let stranger = app.actor("stranger").await;
    stranger.put("/api/properties/tracking", &serde_json::json!({ "propertyIds": [] })).await.expect(200);
    let page = Browser::signed_in(&app, "stranger").await.get("/account").await.expect(200);
    assert!(page.body.contains("You see no site yet."), "{}", page.body);
}
