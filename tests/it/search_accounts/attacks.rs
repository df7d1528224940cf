//! Attacks on the way between the account page and the search engine.

use std::process::Stdio;

use chrono::TimeDelta;
use tempfile::TempDir;

use super::{
    browser,
    exchanges::{Engine, callback},
};
use crate::{
    commands::{Running, sightline},
    support::{app::TestApp, browser::Browser},
};

const COOKIE: &str = "sightline_connect";

/// Asserts that a callback is refused, that nobody was asked for tokens, and that nothing is stored.
async fn refused(engine: &Engine, browser: &Browser, callback: &str) {
    let asked = engine.seen("/token");
    browser.get(callback).await.expect(400, &["This attempt has expired", "Nothing was stored"]);
    assert_eq!(engine.seen("/token"), asked, "nobody was asked");
    browser.get("/account").await.expect(200, &["No search account is connected"]);
}

#[tokio::test]
async fn the_callback_of_another_person_connects_nothing() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let (attacker, victim) = (browser(&app, "stranger").await, browser(&app, "viewer").await);
    let of_attacker = callback(&attacker.leave(&[]).await, "code=4/0attacker");
    refused(&engine, &victim, &of_attacker).await;
    // The victim has an attempt of their own under way.
    let own = callback(&victim.leave(&[]).await, "code=4/0victim");
    refused(&engine, &victim, &of_attacker).await;
    // The attacker plants the attempt in the victim's browser, too.
    victim.plant(attacker.held(COOKIE).unwrap());
    refused(&engine, &victim, &of_attacker).await;
    victim.get(&own).await.account();
}

#[tokio::test]
async fn the_callback_of_another_session_of_the_same_person_connects_nothing() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let (here, there) = (browser(&app, "viewer").await, browser(&app, "viewer").await);
    let begun = callback(&here.leave(&[]).await, "code=4/0A");
    refused(&engine, &there, &begun).await;
    there.plant(here.held(COOKIE).unwrap());
    refused(&engine, &there, &begun).await;
    let signed_out = Browser::new(&app.service.base_url);
    signed_out.plant(here.held(COOKIE).unwrap());
    let page = signed_out.get(&begun).await;
    assert!(page.status == 303 && page.location.starts_with("/auth/login"), "{page:?}");
}

#[tokio::test]
async fn a_callback_counts_once_and_for_ten_minutes() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let viewer = browser(&app, "viewer").await;
    let late = callback(&viewer.leave(&[]).await, "code=4/0A");
    app.hand.advance(TimeDelta::minutes(10));
    refused(&engine, &viewer, &late).await;
    let begun = callback(&viewer.leave(&[]).await, "code=4/0A");
    let (name, value) = viewer.held(COOKIE).unwrap();
    let account = viewer.get(&begun).await.account();
    // The first sync asks for an access token in the background.
    viewer.shows(&format!("/account/search/{account}"), "Track these properties").await;
    let asked = engine.seen("/token");
    viewer.get(&begun).await.expect(400, &["This attempt has expired"]);
    viewer.plant((name.clone(), value));
    viewer.get(&begun).await.expect(400, &["This attempt has expired"]);
    assert_eq!(engine.seen("/token"), asked);
    for forged in ["", "x", "AAAA"] {
        viewer.plant((name.clone(), forged.to_owned()));
        viewer.get(&begun).await.expect(400, &["This attempt has expired"]);
    }
}

#[tokio::test]
async fn a_link_or_a_foreign_form_begins_and_ends_nothing() {
    let app = TestApp::start(|_| {}).await;
    let stranger = browser(&app, "stranger").await;
    let page = stranger.get("/account").await;
    let path = format!("/account/search/{}", &page.html.split("/account/search/").nth(1).unwrap()[..36]);
    let writes = ["/account/search/connect".to_owned(), format!("{path}/sync"), format!("{path}/properties")];
    for write in &writes {
        assert_eq!(stranger.get(write).await.status, 405, "{write}");
    }
    for write in writes.iter().chain([&format!("{path}/disconnect")]) {
        for origin in ["https://evil.example", "null"] {
            let answer = stranger.post_from(origin, write, &[]).await.expect(403, &["sent from another site"]);
            assert_eq!(answer.location, "", "{write}");
        }
    }
    assert_eq!(stranger.cookie(COOKIE), None);
    stranger.get(&path).await.expect(200, &["Connected</span>", "1 of"]);
}

#[tokio::test]
async fn accounts_of_other_people_are_not_there() {
    let app = TestApp::start(|_| {}).await;
    let (stranger, viewer) = (browser(&app, "stranger").await, browser(&app, "viewer").await);
    let page = stranger.get("/account").await;
    let id = page.html.split("/account/search/").nth(1).unwrap()[..36].to_owned();
    for id in [id.as_str(), "00000000-0000-7000-8000-000000000000", "x"] {
        for path in ["", "/disconnect"] {
            viewer.get(&format!("/account/search/{id}{path}")).await.expect(404, &["no such search account"]);
        }
        for path in ["/sync", "/properties", "/disconnect"] {
            viewer.post(&format!("/account/search/{id}{path}"), &[]).await.expect(404, &["no such search account"]);
        }
        viewer.post("/account/search/connect", &[("account", id)]).await.expect(404, &["no such search account"]);
    }
    stranger.get(&format!("/account/search/{id}")).await.expect(200, &["Connected</span>"]);
}

#[tokio::test]
async fn the_way_back_always_leads_to_this_service() {
    let engine = Engine::start().await;
    let app = engine.app().await;
    let viewer = browser(&app, "viewer").await;
    let form = [("return_to", "https://evil.example"), ("redirect_uri", "https://evil.example/callback")];
    let consent = viewer.leave(&form).await;
    let more = "code=4/0A&return_to=https://evil.example&redirect_uri=https://evil.example";
    assert!(!consent.as_str().contains("evil.example"), "{consent}");
    let page = viewer.get(&callback(&consent, more)).await;
    assert!(page.location.starts_with("/account/search/"), "{}", page.location);
    let markup = "error=%3Cscript%3Ealert(1)%3C/script%3E";
    let page = viewer.get(&callback(&viewer.leave(&[]).await, markup)).await;
    assert!(!page.html.contains("<script>"), "{}", page.html);
}

#[tokio::test]
async fn no_code_and_no_token_is_logged() {
    let folder = TempDir::new().unwrap();
    let mut command = sightline(folder.path(), &["serve"], &[("LISTEN", "127.0.0.1:0")]);
    command.env("RUST_LOG", "debug").stderr(Stdio::piped());
    let server = Running::start(command);
    let viewer = Browser::signed_in(&server.url, "viewer").await;
    let consent = viewer.leave(&[]).await;
    let back = viewer.consented(&consent, &[("login_hint", "agency")]).await;
    let path = viewer.get(&back).await.location;
    viewer.shows(&path, "Track these properties").await;
    viewer.post(&format!("{path}/disconnect"), &[]).await;
    let (_, _, logged) = server.terminate();
    assert!(logged.len() > 1_000, "{logged}");
    let state = consent.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned();
    for secret in ["ya29.", "1//0", "4/0A", "4%2F0A", state.as_str(), "code_verifier"] {
        assert!(!logged.contains(secret), "{secret}");
    }
}
