//! Tests of what `/` shows, and where it leads.

use poem::http::Method;

use super::external::with_issuer;
use crate::support::{
    app::{TestApp, shared},
    cookies::session_cookie,
    signed_in::Browser,
};

#[tokio::test]
async fn the_root_shows_people_their_sites_and_leads_programs_to_the_documentation() {
    for app in [Box::new(TestApp::start(|_| {}).await), Box::new(with_issuer(shared()).await)] {
        let browser = Browser::signed_in(&app, "owner").await;
        let sites = browser.get("/").await.expect(200);
        assert!(sites.body.contains("<h1>All sites</h1>"), "{}", sites.body);
        browser.signed_out().get("/").await.leads_to("/auth/login?return_to=/");
        let foreign = browser.with_cookie(&session_cookie(&app.service.base_url, "nonsense"));
        foreign.get("/").await.leads_to("/auth/login?return_to=/");
        for accept in ["application/json", "*/*", "text/html;q=0"] {
            let answer = browser.send(Method::GET, "/", &[], &[("accept", accept)]).await;
            answer.leads_to("/docs");
            assert_eq!((answer.header("vary"), answer.header("cache-control")), ("Accept, Cookie", "no-store"));
        }
    }
}

#[tokio::test]
async fn without_sign_in_for_browsers_the_root_leads_to_the_documentation() {
    let app = TestApp::start(|config| config.identity.issuer = shared().service.base_url.parse().ok()).await;
    let answer = app.anonymous().send(Method::GET, "/", None, &[("accept", "text/html")]).await.expect(303);
    assert_eq!(answer.header("location"), "/docs");
    app.anonymous().get("/account").await.expect(404);
}

#[tokio::test]
async fn the_sign_in_page_says_what_this_is_and_what_each_demo_person_sees() {
    let app = TestApp::start(|_| {}).await;
    let nobody = Browser::anonymous(&app);
    let begin = nobody.get("/").await;
    let leaving = nobody.get(begin.header("location")).await;
    let page = nobody.get(leaving.header("location")).await.expect(200);
    let plans = format!("href=\"{}/subscribe\"", app.service.base_url);
    for text in ["Sightline shows how your web sites are found", "href=\"/docs\"", plans.as_str()] {
        assert!(page.body.contains(text), "{text}: {}", page.body);
    }
    for person in issuer::demo::people(false) {
        let words = format!("Plan {}. Sees {}.", person.plan, person.sees);
        assert!(page.body.contains(&words), "{words}: {}", page.body);
    }
}
