//! Tests of the page of plans.

use chrono::TimeDelta;
use entity::user::{Plan, PlanState};
use sightline::services::users::subscriptions;

use super::{in_days, set};
use crate::support::{
    app::{TestApp, shared},
    signed_in::{Browser, Page},
};

#[track_caller]
fn shows(page: &Page, texts: &[&str]) {
    for text in texts {
        assert!(page.body.contains(text), "no {text:?}: {}", page.body);
    }
}

#[tokio::test]
async fn everyone_sees_what_is_for_sale_and_how_to_ask_for_it() {
    let app = TestApp::start(|config| {
        config.plans.free.prices = vec!["0 EUR month".parse().unwrap()];
        config.plans.pro.name = "Studio <1>".to_owned();
        config.plans.pro.prices = ["2900 EUR month", "29000 EUR year"].map(|price| price.parse().unwrap()).to_vec();
        config.billing.contact_url = "mailto:sales@example.org".parse().ok();
    })
    .await;
    let browser = Browser::signed_in(&app, "owner").await;
    let page = browser.signed_out().get("/subscribe").await.expect(200);
    let offers = ["Free of charge", "Studio &lt;1&gt;", "29.00 EUR a month, or 290.00 EUR a year", "<dd>250</dd>"];
    shows(&page, &offers);
    shows(
        &page,
        &[
            "120 a minute, 60 at once",
            "<dd>Share links, Team members, Data of SEO providers</dd>",
            "href=\"mailto:sales@example.org\"",
        ],
    );
    assert!(!page.body.contains("Your plan") && !page.body.contains("reference"), "{}", page.body);
    assert!(!page.body.contains("<nav") && !page.body.contains("<script"), "{}", page.body);

    let id = subscriptions::show(&app.service.db, "demo-owner").await.unwrap().id;
    let page = browser.get("/subscribe").await.expect(200);
    shows(&page, &offers);
    shows(&page, &["Your plan: ", "This is your plan.", &format!("Name your reference: <code>{id}</code>")]);
    shows(&page, &["<nav", &format!("<a href=\"{}/subscribe\">Plans</a>", app.service.base_url)]);
}

#[tokio::test]
async fn what_every_plan_has_is_said_once() {
    let rows = async |app: &TestApp, term: &str| {
        let page = Browser::anonymous(app).get("/subscribe").await.expect(200);
        let every = page.body.split_once("id=\"every-plan\"").map(|(_, every)| every.matches(term).count());
        (page.body.matches(&format!("<dt>{term}</dt>")).count(), every.unwrap_or_default())
    };
    let app = TestApp::start(|config| {
        (config.plans.agency.per_minute, config.plans.agency.burst) = (None, None);
    })
    .await;
    assert_eq!(rows(&app, "Requests").await, (1, 1));
    assert_eq!(rows(&app, "Tracked properties").await, (3, 0));
    assert_eq!(rows(shared(), "Requests").await, (2, 0), "a plan says what it adds to the one before");
    let page = Browser::anonymous(shared()).get("/subscribe").await.expect(200);
    shows(&page, &["<p>Everything of Free, and:</p>", "<p>Everything of Pro, and:</p>"]);
    for words in [
        "Share links, Team members, Data of SEO providers</dd><dt>Requests",
        "Tools for assistants",
        "120 a minute, 60 at once",
    ] {
        assert_eq!(page.body.matches(words).count(), 1, "{words}: {}", page.body);
    }
    let odd = TestApp::start(|config| config.plans.agency.team = false).await;
    let page = Browser::anonymous(&odd).get("/subscribe").await.expect(200);
    assert!(!page.body.contains("Everything of Pro") && page.body.contains("<dd>Team members</dd>"), "{}", page.body);
}

#[tokio::test]
async fn a_payment_page_gets_the_plan_and_a_reference_that_names_nobody() {
    let app = TestApp::start(|config| {
        config.billing.checkout_url = "https://pay.example/start?shop=7".parse().ok();
        config.billing.contact_url = "https://example.org/contact".parse().ok();
    })
    .await;
    let browser = Browser::signed_in(&app, "owner").await;
    let page = browser.signed_out().get("/subscribe").await.expect(200);
    shows(&page, &["Sign in to subscribe", "href=\"/auth/login?return_to=/subscribe\""]);
    assert!(!page.body.contains("pay.example"), "{}", page.body);

    let id = subscriptions::show(&app.service.db, "demo-owner").await.unwrap().id;
    let page = browser.get("/subscribe").await.expect(200);
    for plan in ["free", "agency"] {
        shows(&page, &[&format!("href=\"https://pay.example/start?shop=7&amp;plan={plan}&amp;reference={id}\"")]);
    }
    assert!(!page.body.contains("plan=pro") && page.body.contains("You pay at pay.example"), "{}", page.body);
    assert!(!page.body.contains("demo.test"), "{}", page.body);
    // The reference is what the operator's command takes.
    let wanted = subscriptions::Wanted { plan: Plan::Agency, state: PlanState::Active, until: Some(in_days(30)) };
    subscriptions::set(&app.service.db, &id.to_string(), wanted, in_days(0)).await.unwrap();
    shows(&browser.get("/subscribe").await.expect(200), &["Agency, paid until", "plan=pro"]);
}

#[tokio::test]
async fn the_page_and_the_account_say_how_long_a_plan_lasts() {
    let app = TestApp::start(|_| {}).await;
    let end = in_days(0) + TimeDelta::hours(10);
    let time = "21 November 2026, 22:00 UTC";
    let browser = Browser::signed_in(&app, "owner").await;
    for (state, until, texts) in [
        (PlanState::Trialing, end, &["Pro, as a trial until", time][..]),
        (PlanState::Active, end, &["Pro, paid until", time]),
        (PlanState::Cancelled, end, &["Pro, cancelled: it ends on", time]),
        (PlanState::PastDue, end - TimeDelta::days(14), &["A payment is missing; without it the plan ends on", time]),
        (PlanState::Cancelled, end - TimeDelta::days(1), &["None. ", "Your plan Pro ended on", "20 November 2026"]),
        (PlanState::Trialing, end - TimeDelta::days(1), &["None. ", "Your trial ended on", "Your records are kept"]),
    ] {
        set(&app, Plan::Pro, state, Some(until)).await;
        for path in ["/subscribe", "/account"] {
            shows(&browser.get(path).await.expect(200), texts);
        }
    }
    shows(
        &browser.get("/subscribe").await.expect(200),
        &["No plan is sold on this page: the operator of this service sets plans.", "Name your reference: <code>"],
    );
}

#[tokio::test]
async fn where_billing_is_off_nothing_is_for_sale_and_no_link_leads_there() {
    let app = TestApp::start(|config| {
        config.billing.enabled = false;
        config.billing.checkout_url = "https://pay.example/start".parse().ok();
    })
    .await;
    let browser = Browser::signed_in(&app, "owner").await;
    let page = browser.get("/subscribe").await.expect(200);
    shows(&page, &["Nothing is for sale here: billing is off"]);
    assert!(!page.body.contains("pay.example") && !page.body.contains("Agency"), "{}", page.body);
    for path in ["/subscribe", "/account"] {
        let page = browser.get(path).await.expect(200);
        assert!(page.body.contains("<nav") && !page.body.contains(">Plans</a>"), "{}", page.body);
    }
}

#[tokio::test]
async fn a_page_of_plans_elsewhere_replaces_the_own_one() {
    let url = "https://example.org/plans";
    let app = TestApp::start(|config| config.subscribe_url = url.parse().ok()).await;
    let browser = Browser::signed_in(&app, "owner").await;
    browser.get("/subscribe").await.leads_to(url);
    let page = browser.get("/account").await.expect(200);
    shows(&page, &[&format!("<a href=\"{url}\">Plans</a>"), &format!("<a href=\"{url}\">Change the plan</a>")]);
}

#[tokio::test]
async fn the_page_is_there_where_browsers_cannot_sign_in() {
    let app = TestApp::start(|config| {
        config.identity.issuer = shared().service.base_url.parse().ok();
        config.billing.checkout_url = "https://pay.example/start".parse().ok();
        config.billing.contact_url = "https://example.org/contact".parse().ok();
    })
    .await;
    let page = Browser::anonymous(&app).get("/subscribe").await.expect(200);
    shows(&page, &["Agency", "href=\"https://example.org/contact\""]);
    assert!(!page.body.contains("/auth/login") && !page.body.contains("pay.example"), "{}", page.body);
    let style = app.anonymous().get("/assets/sightline.css").await.expect(200);
    assert_eq!(style.header("content-type"), "text/css; charset=utf-8");
}

#[tokio::test]
async fn a_failing_database_gives_a_page_to_signed_in_people() {
    let app = TestApp::start(|_| {}).await;
    let browser = Browser::signed_in(&app, "owner").await;
    app.service.close_database().await;
    assert_eq!(browser.get("/subscribe").await.expect(503).header("retry-after"), "5");
    browser.signed_out().get("/subscribe").await.expect(200);
}
