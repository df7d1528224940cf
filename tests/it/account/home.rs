//! Tests of where `/` leads.

use poem::http::Method;

use super::external::with_issuer;
use crate::support::{
    app::{TestApp, shared},
    signed_in::Browser,
};

#[tokio::test]
async fn the_root_leads_people_to_their_account_and_programs_to_the_documentation() {
    for app in [TestApp::start(|_| {}).await, with_issuer(shared()).await] {
        let browser = Browser::signed_in(&app, "owner").await;
        browser.get("/").await.leads_to("/account");
        browser.signed_out().get("/").await.leads_to("/auth/login?return_to=/account");
        let foreign = browser.with_cookie("sightline_session=nonsense");
        foreign.get("/").await.leads_to("/auth/login?return_to=/account");
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
