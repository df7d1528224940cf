//! Tests of forms as programs send them: without the button that a person presses, and in place of a link.

use super::{
    Answer, TestIssuer,
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

/// The fields of an authorization request, as a client posts them.
fn fields(path: &str) -> Vec<(String, String)> {
    let query = path.split_once('?').unwrap().1;
    url::form_urlencoded::parse(query.as_bytes()).into_owned().collect()
}

#[tokio::test]
async fn an_authorization_request_may_be_posted() {
    let issuer = TestIssuer::with_ann().await;
    let client = issuer.client().await;
    let post = async |form: &[(String, String)]| {
        Answer::of(issuer.http.post(format!("{}/oauth/authorize", issuer.base)).form(form)).await
    };
    let mut asked = fields(&authorize_path(&client, &[("state", "s t&te ü"), ("nonce", "n")]));
    asked.extend(["", "/mcp"].map(|path| ("resource".to_owned(), format!("{}{path}", issuer.base))));
    let led = post(&asked).await;
    let to = led.header("location").to_owned();
    assert_eq!((led.status, led.header("cache-control")), (303, "no-store"), "{}", led.body);
    assert!(to.starts_with("/oauth/authorize?") && fields(&to) == asked, "{to}");
    let page = issuer.get(&to).await;
    assert!(page.status == 200 && page.body.contains("name=\"password\""), "{}", page.body);

    // A request that is posted decides nothing, whatever else it holds, and its errors are those of the address.
    let ann = issuer.browser_of_ann().await;
    let form = ann.get(&authorize_path(&client, &[])).await;
    let mut allowing = fields(&authorize_path(&client, &[]));
    allowing.extend([("decision", "allow".to_owned()), ("session", hidden(&form, "session"))].map(owned));
    let led = post(&allowing).await;
    assert_eq!(led.status, 303, "{}", led.body);
    assert_eq!(ann.get(led.header("location")).await.status, 200, "the page asks");
    let bad = post(&fields(&authorize_path(&client, &[("response_type", "token"), ("prompt", "none")]))).await;
    assert_eq!(issuer.get(bad.header("location")).await.redirect()["error"], "unsupported_response_type");
    let foreign = post(&fields(&authorize_path(&client, &[("redirect_uri", "https://evil.example/cb")]))).await;
    assert_eq!(issuer.get(foreign.header("location")).await.status, 400);

    for more in ["x".repeat(9_000), "ü".repeat(2_000), "x".repeat(40_000)] {
        let mut long = fields(&authorize_path(&client, &[]));
        long.push(("more".to_owned(), more));
        let refused = post(&long).await;
        assert_eq!((refused.status, refused.header("location")), (400, ""), "{}", refused.body);
    }
    let without_client: Vec<_> = asked.iter().filter(|(name, _)| name != "client_id").cloned().collect();
    assert!(post(&without_client).await.body.contains("The form has expired"));
}

fn owned((name, value): (&str, String)) -> (String, String) {
    (name.to_owned(), value)
}
