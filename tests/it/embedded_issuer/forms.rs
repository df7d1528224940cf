//! Tests of forms as programs send them: without the button that a person presses.

use super::{
    TestIssuer,
    browser::{ANN, Browser, PASSWORD, authorize_path, hidden},
    device::{self, Machine},
};

/// A script that sends a form names no button. Password managers do so.
#[tokio::test]
async fn a_password_that_is_sent_without_a_button_signs_in() {
    let issuer = TestIssuer::with_ann().await;
    let client = issuer.client().await;
    let (browser, url) = (Browser::new(&issuer), authorize_path(&client, &[]));
    browser.get(&url).await;
    let refused = browser.post(&url, &[("email", ANN), ("password", "another one")]).await;
    assert!(refused.status == 400 && refused.body.contains("password is wrong"), "{}", refused.body);
    let entered = browser.post(&url, &[("email", ANN), ("password", PASSWORD)]).await;
    assert_eq!((entered.status, entered.header("location").split('?').next()), (303, Some("/oauth/authorize")));
    let consent = browser.get(entered.header("location")).await;
    assert!(consent.status == 200 && consent.body.contains("asks for access"), "{}", consent.body);
}

#[tokio::test]
async fn only_a_button_cancels_a_sign_in_or_allows_access() {
    let issuer = TestIssuer::with_ann().await;
    let client = issuer.client().await;
    let url = authorize_path(&client, &[]);
    let stranger = Browser::new(&issuer);
    stranger.get(&url).await;
    for form in [&[][..], &[("email", ANN)], &[("decision", "other")], &[("person", "nobody")]] {
        let again = stranger.post(&url, form).await;
        assert_eq!((again.status, again.header("location")), (303, url.as_str()), "{form:?}");
    }
    let cancel = [("decision", "cancel"), ("email", ANN), ("password", PASSWORD)];
    assert_eq!(stranger.post(&url, &cancel).await.redirect()["error"], "access_denied");

    let ann = issuer.browser_of_ann().await;
    let page = ann.get(&url).await;
    let (session, held) = (hidden(&page, "session"), hidden(&page, "held"));
    let form = [("session", &*session), ("held", &held), ("allowance", "everything")];
    for pressed in [None, Some(("decision", "")), Some(("decision", "other"))] {
        let form: Vec<_> = form.into_iter().chain(pressed).collect();
        let again = ann.post(&url, &form).await;
        assert_eq!((again.status, again.header("location")), (303, url.as_str()), "{pressed:?}");
        assert_eq!(ann.get(&url).await.status, 200, "nothing is allowed, and the page asks again");
    }
}

#[tokio::test]
async fn only_a_button_decides_about_a_machine() {
    let issuer = TestIssuer::with_ann().await;
    let (machine, ann) = (Machine::new(&issuer).await, issuer.browser_of_ann().await);
    let page = ann.enter_code(machine.user_code()).await;
    let (code, session, held) = (hidden(&page, "code"), hidden(&page, "session"), hidden(&page, "held"));
    let form = [("code", &*code), ("session", &session), ("held", &held), ("allowance", "read")];
    for pressed in [None, Some(("decision", "")), Some(("decision", "other"))] {
        let form: Vec<_> = form.into_iter().chain(pressed).collect();
        let again = ann.post(device::PATH, &form).await;
        assert!(again.status == 200 && again.body.contains("What it asks for"), "{pressed:?}: {}", again.body);
        machine.poll().await.refused(if pressed.is_none() { "authorization_pending" } else { "slow_down" });
    }
    let form: Vec<_> = form.into_iter().chain([("decision", "deny")]).collect();
    assert!(ann.post(device::PATH, &form).await.body.contains("You have allowed nothing"));
}
