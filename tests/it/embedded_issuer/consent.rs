//! Tests of sign-in once for many clients, and of consent.

use chrono::TimeDelta;

use super::{
    REDIRECT_URI, TestIssuer,
    browser::{ANN, Browser, PASSWORD, authorize_path, hidden},
};

#[tokio::test]
async fn a_person_is_asked_once_per_client_and_again_for_more() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let to = browser.enter(&client, ANN, PASSWORD).await.header("location").to_owned();
    let page = browser.get(&to).await;
    assert_eq!(page.status, 200);
    for said in [
        "&lt;b&gt;Probe&lt;/b&gt;",
        ANN,
        "http://127.0.0.1:7777/cb",
        "A program on this computer",
        "while you are away",
    ] {
        assert!(page.body.contains(said), "{said}: {}", page.body);
    }
    assert!(!page.body.contains("<b>Probe"), "names are escaped");
    let cancelled = browser.post(&to, &[("decision", "cancel")]).await.redirect();
    assert_eq!((cancelled["error"].as_str(), cancelled["state"].as_str()), ("access_denied", "s"));

    let ask = async |changes: &[(&str, &str)]| browser.get(&authorize_path(&client, changes)).await;
    browser.allow(&client, &[("scope", "openid email")]).await;
    assert!(ask(&[("scope", "openid email")]).await.redirect().contains_key("code"));
    assert!(ask(&[("scope", "email")]).await.redirect().contains_key("code"), "less is allowed already");
    assert_eq!(ask(&[("scope", "openid profile")]).await.status, 200, "more is asked for");
    browser.allow(&client, &[("scope", "openid profile")]).await;
    assert!(ask(&[("scope", "openid profile email")]).await.redirect().contains_key("code"), "both were allowed");
    assert_eq!(ask(&[("scope", "openid"), ("prompt", "consent")]).await.status, 200);
    let other = issuer.client().await;
    assert_eq!(browser.get(&authorize_path(&other, &[])).await.status, 200, "another client is another question");
}

#[tokio::test]
async fn a_consent_counts_for_the_address_that_it_was_given_for() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let (good, evil) = ("https://nice.example/cb", "https://evil.example/steal");
    let client = issuer.client_at(&[good, evil, REDIRECT_URI]).await;
    let browser = Browser::new(&issuer);
    browser.enter(&client, ANN, PASSWORD).await;
    let ask = async |uri: &str, more: &[(&str, &str)]| {
        let changes: Vec<_> = more.iter().copied().chain([("redirect_uri", uri)]).collect();
        browser.get(&authorize_path(&client, &changes)).await
    };
    let allowed = browser.allow_at(&client, &[("redirect_uri", good)]).await;
    assert!(allowed.starts_with(&format!("{good}?code=")), "{allowed}");
    assert_eq!(ask(good, &[]).await.status, 303);
    for uri in [evil, REDIRECT_URI] {
        let page = ask(uri, &[]).await;
        assert!(page.status == 200 && page.body.contains("at another address"), "{uri}: {}", page.body);
        assert!(page.body.contains(&format!("<code>{uri}</code>")), "{}", page.body);
        let silent = ask(uri, &[("prompt", "none")]).await;
        assert!(!silent.header("location").contains("code="), "{}", silent.header("location"));
    }
    browser.allow(&client, &[]).await;
    for port in ["http://127.0.0.1:1/cb", "http://127.0.0.1/cb"] {
        assert!(ask(port, &[]).await.header("location").contains("?code="), "{port}: any port of this computer");
    }
    assert_eq!(ask(evil, &[]).await.status, 200);
}

#[tokio::test]
async fn a_silent_request_is_answered_with_a_code_or_with_what_is_missing() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let silent = async |more: &[(&str, &str)]| {
        let changes: Vec<_> = more.iter().copied().chain([("prompt", "none")]).collect();
        browser.get(&authorize_path(&client, &changes)).await.redirect()
    };
    assert_eq!(silent(&[]).await["error"], "login_required");
    browser.enter(&client, ANN, PASSWORD).await;
    assert_eq!(silent(&[]).await["error"], "consent_required");
    browser.allow(&client, &[]).await;
    assert!(silent(&[]).await.contains_key("code"));
    assert_eq!(silent(&[("login_hint", "bob@corp.test")]).await["error"], "login_required");
    assert!(silent(&[("login_hint", ANN)]).await.contains_key("code"));
    issuer.hand.advance(TimeDelta::seconds(61));
    assert_eq!(silent(&[("max_age", "60")]).await["error"], "login_required");
    assert!(silent(&[("max_age", "61")]).await.contains_key("code"));
    issuer.hand.advance(TimeDelta::days(7));
    assert_eq!(silent(&[]).await["error"], "login_required", "the session has ended");
}

#[tokio::test]
async fn a_client_can_ask_for_a_sign_in_and_gets_on_after_it() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    browser.enter(&client, ANN, PASSWORD).await;
    browser.allow(&client, &[]).await;
    issuer.hand.advance(TimeDelta::minutes(10));
    for change in [("prompt", "login"), ("prompt", "select_account"), ("max_age", "0"), ("max_age", "599")] {
        let url = authorize_path(&client, &[change]);
        let page = browser.get(&url).await;
        assert!(page.status == 200 && page.body.contains("name=\"password\""), "{change:?}: {}", page.body);
        let entered = browser.post(&url, &[("decision", "enter"), ("email", ANN), ("password", PASSWORD)]).await;
        issuer.hand.advance(TimeDelta::seconds(2));
        assert!(browser.get(entered.header("location")).await.redirect().contains_key("code"), "{change:?}");
        issuer.hand.advance(TimeDelta::minutes(10));
    }
    for bad in ["-1", "soon", "1.5"] {
        let refused = browser.get(&authorize_path(&client, &[("max_age", bad)])).await.redirect();
        assert_eq!(refused["error"], "invalid_request", "{bad}");
    }
}

#[tokio::test]
async fn consent_counts_for_the_account_on_the_page() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let bob = issuer.account("bob@corp.test").await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    browser.enter(&client, ANN, PASSWORD).await;
    let url = authorize_path(&client, &[]);
    let page = browser.get(&url).await;
    let of_ann = hidden(&page, "session");
    let switched = browser.post(&url, &[("decision", "switch")]).await;
    assert_eq!(switched.status, 303);
    let choose = switched.header("location").to_owned();
    assert!(browser.get(&choose).await.body.contains("name=\"password\""));
    let form = [("decision", "enter"), ("email", "bob@corp.test"), ("password", PASSWORD)];
    let to = browser.post(&choose, &form).await.header("location").to_owned();
    let stale = browser.post(&url, &[("decision", "allow"), ("session", &of_ann)]).await;
    assert!(stale.status == 303 && stale.header("location").starts_with("/oauth/authorize?"), "{}", stale.body);
    let page = browser.get(&to).await;
    assert!(page.body.contains("bob@corp.test") && !page.body.contains(ANN), "{}", page.body);
    let code = browser.allow(&client, &[]).await;
    let tokens = issuer.redeem(&client, &code, &[]).await.json();
    assert!(issuer.api(super::text(&tokens, "access_token")).await.body.starts_with(&bob));
}

#[tokio::test]
async fn demo_people_and_accounts_stand_on_one_page_where_both_exist() {
    let issuer = TestIssuer::start().await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let url = authorize_path(&client, &[]);
    let page = browser.get(&url).await.body;
    assert!(page.contains("Demo Owner") && !page.contains("name=\"password\""), "{page}");
    issuer.account(ANN).await;
    let page = browser.get(&url).await.body;
    assert!(page.contains("Demo Owner") && page.contains("name=\"password\""), "{page}");

    let issuer = TestIssuer::without_demo_people().await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let url = authorize_path(&client, &[("login_hint", "owner")]);
    let page = browser.get(&url).await;
    assert!(page.status == 200 && page.body.contains("sightline user add"), "{}", page.body);
    assert!(!page.body.contains("Demo Owner"));
    let again = browser.post(&url, &[("person", "owner")]).await;
    assert_eq!((again.status, again.header("location")), (303, url.as_str()), "{}", again.body);
    assert!(browser.get(&url).await.body.contains("sightline user add"), "nobody is signed in");
}
