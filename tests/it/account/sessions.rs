//! Tests of the list of sessions, and of signing out.

use chrono::TimeDelta;
use poem::http::Method;

use crate::support::{
    app::TestApp,
    cookies::cookie,
    signed_in::{Browser, Page},
};

/// The handles of the sessions on a page, latest first.
fn handles(page: &Page) -> Vec<String> {
    page.between("action=\"/account/sessions/", "/end\"").into_iter().map(str::to_owned).collect()
}

async fn is_signed_in(browser: &Browser) -> bool {
    let api = browser.send(Method::GET, "/api/tags", &[], &[]).await.status.as_u16();
    let page = browser.get("/account").await.status.as_u16();
    assert!([(200, 200), (401, 303)].contains(&(api, page)), "{api} {page}");
    api == 200
}

#[tokio::test]
async fn a_person_sees_their_sessions_and_the_current_one() {
    let app = TestApp::start(|_| {}).await;
    let first = Browser::signed_in(&app, "owner").await;
    app.hand.advance(TimeDelta::minutes(5));
    let second = Browser::signed_in(&app, "owner").await;
    let stranger = Browser::signed_in(&app, "stranger").await;
    let page = second.get("/account").await.expect(200);
    let (own, others) = (handles(&page), handles(&stranger.get("/account").await.expect(200)));
    assert_eq!((own.len(), others.len()), (2, 1));
    assert!(!own.contains(&others[0]));
    let section = page.between("<h2 id=\"sessions\">", "</section>")[0];
    assert_eq!(section.matches("Firefox on Linux").count(), 2, "{section}");
    let cards: Vec<&str> = section.split("<li").skip(1).collect();
    assert!(cards[0].contains("This browser") && cards[0].contains("21 November 2026, 12:05 UTC"), "{section}");
    assert!(!cards[1].contains("This browser") && cards[1].contains("21 November 2026, 12:00 UTC"), "{section}");
    assert_eq!(handles(&first.get("/account").await.expect(200)), own);
    app.hand.advance(TimeDelta::days(7) - TimeDelta::minutes(5));
    assert_eq!(handles(&second.get("/account").await.expect(200)).len(), 1, "an expired one is not listed");
}

#[tokio::test]
async fn a_session_that_is_ended_is_refused_at_the_next_request() {
    let app = TestApp::start(|_| {}).await;
    let here = Browser::signed_in(&app, "owner").await;
    app.hand.advance(TimeDelta::minutes(5));
    let there = Browser::signed_in(&app, "owner").await;
    assert!(is_signed_in(&here).await && is_signed_in(&there).await);
    let own = handles(&there.get("/account").await);
    let path = format!("/account/sessions/{}/end", own[1]);
    there.post(&path, &[]).await.leads_to("/account?done=session-ended");
    assert!(!is_signed_in(&here).await && is_signed_in(&there).await);
    there.post(&path, &[]).await.expect(404);
    let done = there.get("/account?done=session-ended").await.expect(200);
    assert!(done.body.contains("role=\"status\">That browser was signed out."), "{}", done.body);
    let other = there.get("/account?done=%3Cb%3Ebad%3C/b%3E").await.expect(200);
    assert!(!other.body.contains("bad") && !other.body.contains("role=\"status\""));
}

#[tokio::test]
async fn all_other_browsers_are_signed_out_at_once() {
    let app = TestApp::start(|_| {}).await;
    let here = Browser::signed_in(&app, "owner").await;
    assert!(!here.get("/account").await.body.contains("/account/sessions/end-others"), "there is no other");
    let others = [Browser::signed_in(&app, "owner").await, Browser::signed_in(&app, "owner").await];
    let stranger = Browser::signed_in(&app, "stranger").await;
    here.post("/account/sessions/end-others", &[]).await.leads_to("/account?done=other-sessions-ended");
    for other in &others {
        assert!(!is_signed_in(other).await);
    }
    assert!(is_signed_in(&here).await && is_signed_in(&stranger).await);
}

#[tokio::test]
async fn signing_out_ends_the_session_and_takes_the_cookie() {
    let app = TestApp::start(|_| {}).await;
    for by_handle in [false, true] {
        let browser = Browser::signed_in(&app, "owner").await;
        let own = handles(&browser.get("/account").await);
        let path = if by_handle { format!("/account/sessions/{}/end", own[0]) } else { "/account/sign-out".to_owned() };
        let out = browser.post(&path, &[]).await;
        out.leads_to("/account/signed-out");
        assert!(cookie(&out.headers, "sightline_session").ends_with('='), "{}", out.header("set-cookie"));
        assert!(out.header("set-cookie").contains("Max-Age=0"));
        assert!(!is_signed_in(&browser).await);
        let page = browser.get("/account/signed-out").await.expect(200);
        assert!(page.body.contains("You are signed out") && page.body.contains("/auth/login?return_to=/account"));
        browser.post("/account/sign-out", &[]).await.leads_to("/account/signed-out");
    }
}

#[tokio::test]
async fn a_form_of_another_site_changes_nothing() {
    let app = TestApp::start(|_| {}).await;
    let (here, there) = (Browser::signed_in(&app, "owner").await, Browser::signed_in(&app, "owner").await);
    let own = handles(&here.get("/account").await);
    let end = format!("/account/sessions/{}/end", own[0]);
    for path in ["/account/sign-out", "/account/sessions/end-others", &end] {
        for origin in ["null", "https://evil.example", "", &format!("{}0", app.service.base_url)] {
            here.post_from(origin, path, &[]).await.expect(403);
        }
        here.send(Method::POST, path, &[], &[]).await.expect(403);
    }
    assert!(is_signed_in(&here).await && is_signed_in(&there).await);
    assert_eq!(handles(&here.get("/account").await), own);
}

#[tokio::test]
async fn a_guessed_session_of_somebody_else_stays() {
    let app = TestApp::start(|_| {}).await;
    let (owner, stranger) = (Browser::signed_in(&app, "owner").await, Browser::signed_in(&app, "stranger").await);
    let foreign = handles(&owner.get("/account").await);
    let nothing = stranger.post(&format!("/account/sessions/{}/end", uuid::Uuid::nil()), &[]).await.expect(404);
    for guess in [foreign[0].as_str(), "x", &"9".repeat(36), &foreign[0].replace('-', "")] {
        let answer = stranger.post(&format!("/account/sessions/{guess}/end"), &[]).await.expect(404);
        assert_eq!(answer.body, nothing.body, "{guess}");
    }
    assert!(is_signed_in(&owner).await);
}
