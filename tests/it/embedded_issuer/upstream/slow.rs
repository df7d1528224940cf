//! Tests of a provider whose answers dribble. A sign-in ends in words at its time limit, and holds up nobody else.

use std::{pin::pin, sync::atomic::Ordering};

use chrono::TimeDelta;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{
    super::browser::{Browser, authorize_path},
    BOB,
    elsewhere::{Elsewhere, listing, verified},
};
use crate::clock_jumps::BACK;

#[tokio::test]
async fn a_sign_in_at_a_slow_provider_ends_in_words_and_holds_up_nobody_else() {
    // The limits are ten seconds, and three for documents of the provider.
    let paths = ["/.well-known/openid-configuration", "/jwks", "/token", "/userinfo"];
    join_all(paths.map(ends_in_words)).await;
}

/// Signs in while the answer at `path` dribbles, and once more.
async fn ends_in_words(path: &'static str) {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let (slow, client) = (Browser::new(&issuer), issuer.client().await);
    let page = authorize_path(&client, &[]);
    let is_first = path.starts_with("/.well-known");
    // The address is at userinfo alone.
    let said = || json!({ "sub": "7", "userinfo": verified("7", BOB) });
    let before = if is_first { page.clone() } else { leave(&elsewhere, &slow, &page, said()).await };
    *elsewhere.dribbles.lock().unwrap() = Some(path);
    let mut ends = pin!(slow.get(&before));
    tokio::select! {
        biased;
        early = &mut ends => panic!("{path}: {}", early.body),
        () = elsewhere.has_begun.notified() => {}
    }
    let others = async {
        issuer.client().await;
        assert_eq!(issuer.get("/.well-known/oauth-authorization-server").await.status, 200, "{path}");
        if ["/token", "/userinfo"].contains(&path) {
            let bob = Browser::new(&issuer);
            let back = leave(&elsewhere, &bob, &page, said()).await;
            assert_eq!(bob.get(&back).await.status, 303, "{path}: another person of the provider");
        }
    };
    // The limit is long enough for the others to be done first on a loaded machine.
    if ["/token", "/userinfo"].contains(&path) {
        tokio::select! {
            biased;
            early = &mut ends => panic!("{path}: {}", early.body),
            () = others => {}
        }
    } else {
        others.await;
    }
    let ended = ends.await;
    assert_eq!(ended.status, 503, "{path}: {}", ended.body);
    assert!(
        ended.body.contains("127.0.0.1 does not answer") && ended.body.contains("Try again"),
        "{path}: {}",
        ended.body
    );
    issuer.hand.advance(TimeDelta::seconds(6));
    let again = leave(&elsewhere, &slow, &page, said()).await;
    assert_eq!(slow.get(&again).await.status, 303, "{path}");
}

/// Leaves for the provider, and returns the address that leads back.
async fn leave(elsewhere: &Elsewhere, browser: &Browser<'_>, page: &str, said: Value) -> String {
    let leaving = browser.get(page).await;
    elsewhere.answer(leaving.header("location"), said)
}

#[tokio::test]
async fn a_provider_that_was_away_is_asked_again_although_the_clock_was_set_back() {
    for (name, jump) in BACK {
        let elsewhere = Elsewhere::start().await;
        elsewhere.is_away.store(true, Ordering::SeqCst);
        let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
        let (browser, client) = (Browser::new(&issuer), issuer.client().await);
        let path = authorize_path(&client, &[]);
        assert_eq!(browser.get(&path).await.status, 503, "{name}");
        elsewhere.is_away.store(false, Ordering::SeqCst);
        issuer.hand.set(jump);
        issuer.hand.advance(TimeDelta::seconds(8));
        assert_eq!(browser.get(&path).await.status, 303, "{name}");
    }
}
