//! Tests of local accounts: links, passwords, and the sessions that end with them.

use chrono::TimeDelta;
use entity::account;
use sea_orm::EntityTrait as _;
use serde_json::Value;

use super::{
    TestIssuer,
    browser::{ANN, Browser, PASSWORD, authorize_path},
    text,
};

const NEW: &str = "wet socks on the line";

#[tokio::test]
async fn a_link_sets_a_password_once() {
    let issuer = TestIssuer::without_demo_people().await;
    let token = issuer.operator().add(ANN, None).await.unwrap().token;
    let (path, browser) = (format!("/account/password/set?token={token}"), Browser::new(&issuer));
    for _ in 0..2 {
        let page = browser.get(&path).await;
        assert_eq!(page.status, 200, "following the link uses nothing up");
        assert!(page.body.contains(ANN) && page.header("referrer-policy") == "no-referrer", "{}", page.body);
    }
    for (new, repeated, said) in [
        ("short", "short", "at least 12 characters"),
        ("password1234", "password1234", "most used"),
        ("ann@corp.test", "ann@corp.test", "your address"),
        (PASSWORD, "tin can river 8", "differ"),
        (PASSWORD, "", "differ"),
    ] {
        let form = [("token", token.as_str()), ("new", new), ("repeated", repeated)];
        let refused = browser.post("/account/password/set", &form).await;
        assert_eq!(refused.status, 400, "{new}");
        assert!(refused.body.contains("role=\"alert\"") && refused.body.contains(said), "{}", refused.body);
    }
    let set = browser.set_password(&token, PASSWORD).await;
    assert_eq!((set.status, set.header("location")), (303, "/auth/login?return_to=/"), "{}", set.body);
    assert_eq!(browser.get(&path).await.status, 410);
    let again = browser.set_password(&token, NEW).await;
    assert_eq!(again.status, 410, "{}", again.body);
    assert_eq!(browser.set_password("unknown", NEW).await.body, again.body, "nothing tells used from unknown");
    let other = Browser::new(&issuer);
    assert_eq!(other.sign_in(ANN, PASSWORD).await.status, 303);
    assert_eq!(other.api().await, 200);
}

#[tokio::test]
async fn of_two_uses_of_one_link_at_once_one_counts() {
    let issuer = TestIssuer::without_demo_people().await;
    let token = issuer.operator().add(ANN, None).await.unwrap().token;
    let (one, other) = (Browser::new(&issuer), Browser::new(&issuer));
    for browser in [&one, &other] {
        assert_eq!(browser.follow_link(&token).await.status, 200);
    }
    let (left, right) = tokio::join!(one.enter_new_password(&token, PASSWORD), other.enter_new_password(&token, NEW));
    let mut statuses = [left.status, right.status];
    statuses.sort_unstable();
    assert_eq!(statuses, [303, 410]);
    let (winner, loser) = if left.status == 303 { (PASSWORD, &other) } else { (NEW, &one) };
    assert_eq!(loser.cookie("sightline_issuer"), "", "the other one is not signed in");
    assert_eq!(Browser::new(&issuer).sign_in(ANN, winner).await.status, 303);
}

#[tokio::test]
async fn a_link_of_an_operator_lasts_a_day_and_is_replaced_by_the_next() {
    let issuer = TestIssuer::without_demo_people().await;
    let browser = Browser::new(&issuer);
    let first = issuer.operator().add(ANN, None).await.unwrap().token;
    let second = issuer.operator().reset(ANN).await.unwrap().token;
    browser.get("/account/password/forgotten").await;
    assert_eq!(browser.set_password(&first, PASSWORD).await.status, 410);
    issuer.hand.advance(TimeDelta::hours(24) - TimeDelta::seconds(1));
    assert_eq!(browser.follow_link(&second).await.status, 200);
    issuer.hand.advance(TimeDelta::seconds(1));
    assert_eq!(browser.set_password(&second, PASSWORD).await.status, 410);
}

#[tokio::test]
async fn nothing_tells_an_unknown_account_from_a_wrong_password() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    issuer.operator().add("new@corp.test", None).await.unwrap();
    let mut answers = Vec::new();
    for email in [ANN, "bob@corp.test", "new@corp.test"] {
        let browser = Browser::new(&issuer);
        let refused = browser.sign_in(email, NEW).await;
        assert_eq!(refused.status, 400);
        assert!(refused.body.contains("The e-mail address or the password is wrong."), "{}", refused.body);
        let token = browser.cookie("sightline_sign_in");
        let body = refused.body.replace(email, "EMAIL").replace(&token, "TOKEN");
        answers.push(
            body.split("/oauth/authorize?").map(|part| part.split_once('"').map_or(part, |p| p.1)).collect::<String>(),
        );
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
}

#[tokio::test]
async fn guesses_are_limited_and_a_known_browser_goes_on() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let known = Browser::new(&issuer);
    assert_eq!(known.sign_in(ANN, PASSWORD).await.status, 303);
    let stranger = Browser::new(&issuer);
    // One of the ten attempts of the address was the sign-in above.
    for _ in 0..9 {
        assert_eq!(stranger.sign_in(ANN, "a wrong password").await.status, 400);
    }
    let refused = stranger.sign_in(ANN, PASSWORD).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "120"), "{}", refused.body);
    assert!(refused.body.contains("Try again in 2 minutes"), "{}", refused.body);
    known.jar.borrow_mut().remove(&issuer.host_cookie("sightline_issuer"));
    assert_eq!(known.sign_in(ANN, PASSWORD).await.status, 303);
    issuer.hand.advance(TimeDelta::minutes(2));
    assert_eq!(stranger.sign_in(ANN, PASSWORD).await.status, 303);
}

#[tokio::test]
async fn each_sign_in_has_a_new_cookie() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let planted = "p".repeat(43);
    browser.plant("sightline_issuer", &planted);
    assert_eq!(browser.enter(&client, ANN, PASSWORD).await.status, 303);
    let first = browser.cookie("sightline_issuer");
    assert_ne!(first, planted);
    let url = authorize_path(&client, &[("prompt", "login")]);
    browser.get(&url).await;
    browser.post(&url, &[("decision", "enter"), ("email", ANN), ("password", PASSWORD)]).await;
    assert_ne!(browser.cookie("sightline_issuer"), first);
    for old in [planted, first] {
        browser.plant("sightline_issuer", &old);
        let page = browser.get(&authorize_path(&client, &[])).await;
        assert!(page.body.contains("name=\"password\""), "{}", page.body);
    }
}

/// A client's tokens, and a browser that is signed in to the service.
async fn at_work<'a>(issuer: &'a TestIssuer, client: &str) -> (Browser<'a>, Value) {
    let browser = Browser::new(issuer);
    assert_eq!(browser.sign_in(ANN, PASSWORD).await.status, 303);
    let code = browser.allow(client, &[("prompt", "consent")]).await;
    let tokens = issuer.redeem(client, &code, &[]).await.json();
    assert_eq!((browser.api().await, issuer.api(text(&tokens, "access_token")).await.status), (200, 200));
    (browser, tokens)
}

async fn assert_ended(issuer: &TestIssuer, client: &str, (browser, tokens): &(Browser<'_>, Value)) {
    assert_eq!(browser.api().await, 401);
    assert_eq!(issuer.api(text(tokens, "access_token")).await.status, 401);
    issuer.refresh(client, text(tokens, "refresh_token")).await.refused("invalid_grant");
    let page = browser.get(&authorize_path(client, &[])).await;
    assert!(page.body.contains("name=\"password\""), "{}", page.body);
    let silent = browser.get(&authorize_path(client, &[("prompt", "none")])).await.redirect();
    assert_eq!(silent["error"], "login_required");
}

#[tokio::test]
async fn a_changed_password_ends_all_access_except_this_browsers() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let client = issuer.client().await;
    let (elsewhere, (here, tokens)) = (at_work(&issuer, &client).await, at_work(&issuer, &client).await);
    let change = async |current: &str, new: &str, repeated: &str| {
        assert_eq!(here.get("/account/password").await.status, 200);
        here.post("/account/password", &[("current", current), ("new", new), ("repeated", repeated)]).await
    };
    for (current, new, repeated, said) in [
        ("", NEW, NEW, "current password is wrong"),
        ("not the password", NEW, NEW, "current password is wrong"),
        (PASSWORD, "short", "short", "at least 12"),
        (PASSWORD, NEW, "another one of these", "differ"),
        (PASSWORD, PASSWORD, PASSWORD, "is the current one"),
    ] {
        let refused = change(current, new, repeated).await;
        assert_eq!(refused.status, 400);
        assert!(refused.body.contains(said), "{said}: {}", refused.body);
    }
    assert_eq!(elsewhere.0.api().await, 200, "nothing has changed yet");
    let (former, changed) = (here.cookie("sightline_issuer"), change(PASSWORD, NEW, NEW).await);
    assert_eq!(changed.status, 200, "{}", changed.body);
    assert_ended(&issuer, &client, &elsewhere).await;
    assert_eq!(here.api().await, 200);
    assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 401, "applications lose their access here, too");
    assert_ne!(here.cookie("sightline_issuer"), former);
    assert_eq!(here.get("/account/password").await.status, 200);
    let page = here.get(&authorize_path(&client, &[])).await;
    assert!(page.body.contains("Allow"), "consent is asked again");
    let other = Browser::new(&issuer);
    assert_eq!(other.sign_in(ANN, PASSWORD).await.status, 400);
    assert_eq!(other.sign_in(ANN, NEW).await.status, 303);
}

#[tokio::test]
async fn guesses_at_the_current_password_are_limited() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let browser = Browser::new(&issuer);
    browser.sign_in(ANN, PASSWORD).await;
    browser.get("/account/password").await;
    let guess = async || {
        browser.post("/account/password", &[("current", "a guess at it"), ("new", NEW), ("repeated", NEW)]).await.status
    };
    for _ in 0..10 {
        assert_eq!(guess().await, 400);
    }
    assert_eq!(guess().await, 429);
}

#[tokio::test]
async fn a_reset_and_a_removal_end_everything_at_once() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let client = issuer.client().await;
    let before = at_work(&issuer, &client).await;
    let token = issuer.operator().reset(ANN).await.unwrap().token;
    assert_ended(&issuer, &client, &before).await;
    assert_eq!(before.0.sign_in(ANN, PASSWORD).await.status, 400);
    assert_eq!(before.0.set_password(&token, PASSWORD).await.status, 303);
    let before = at_work(&issuer, &client).await;
    let token = issuer.operator().reset(ANN).await.unwrap().token;
    issuer.remove("ANN@corp.test").await.unwrap();
    assert_ended(&issuer, &client, &before).await;
    assert_eq!(before.0.set_password(&token, PASSWORD).await.status, 410);
    assert!(account::Entity::find().all(&issuer.db).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_code_that_was_given_before_a_reset_is_worth_nothing_after_it() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    browser.sign_in(ANN, PASSWORD).await;
    let code = browser.allow(&client, &[]).await;
    issuer.operator().reset(ANN).await.unwrap();
    issuer.redeem(&client, &code, &[]).await.refused("invalid_grant");
}

#[tokio::test]
async fn signing_out_of_the_service_signs_out_of_its_issuer() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let browser = Browser::new(&issuer);
    browser.sign_in(ANN, PASSWORD).await;
    let again = browser.get("/auth/login").await.header("location").to_owned();
    let back = browser.get(&again).await;
    assert_eq!(back.status, 303, "who is signed in here is not asked again");
    assert_eq!(browser.get(back.header("location")).await.status, 303);
    assert_eq!(browser.api().await, 200, "the second sign-in keeps the session that it rests on");
    let jar = browser.jar.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
    let out = issuer.http.post(format!("{}/auth/logout", issuer.base)).header("origin", &issuer.base);
    assert_eq!(super::Answer::of(out.header("cookie", jar)).await.status, 204);
    assert_eq!(browser.api().await, 401);
    let page = browser.get(&again).await;
    assert!(page.body.contains("name=\"password\""), "{}", page.body);
}

#[tokio::test]
async fn every_form_needs_its_browser_and_no_page_can_be_framed() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let authorize = authorize_path(&client, &[]);
    let reset = issuer.operator().add("bob@corp.test", None).await.unwrap().token;
    let sign_in = [("decision", "enter"), ("email", ANN), ("password", PASSWORD)];
    let set = [("token", reset.as_str()), ("new", NEW), ("repeated", NEW)];
    let shown = format!("/account/password/set?token={reset}");
    for (page, path, form) in [
        (authorize.as_str(), authorize.as_str(), &sign_in[..]),
        (&shown, "/account/password/set", &set),
        ("/account/password/forgotten", "/account/password/forgotten", &[("email", ANN)]),
    ] {
        let page = browser.get(page).await;
        assert_eq!((page.status, page.header("x-frame-options")), (200, "DENY"), "{path}");
        assert!(page.header("content-security-policy").contains("frame-ancestors 'none'"));
        assert_eq!(page.header("cache-control"), "no-store");
        assert_eq!(issuer.post(path, form).await.status, 400, "{path}: without the token");
        let token = browser.cookie("sightline_sign_in");
        let foreign = issuer.http.post(format!("{}{path}", issuer.base)).header("sec-fetch-site", "cross-site");
        let foreign = foreign.header("cookie", format!("{}={token}", issuer.host_cookie("sightline_sign_in")));
        let form: Vec<_> = form.iter().copied().chain([("csrf", token.as_str())]).collect();
        assert_eq!(super::Answer::of(foreign.form(&form)).await.status, 400, "{path}: from another site");
    }
    browser.sign_in(ANN, PASSWORD).await;
    let consent = browser.get(&authorize).await;
    assert_eq!((consent.status, consent.header("x-frame-options")), (200, "DENY"));
    browser.plant("sightline_sign_in", &"x".repeat(42));
    for (path, form) in [
        (authorize.as_str(), &[("decision", "allow")][..]),
        ("/account/password", &[("current", PASSWORD), ("new", NEW), ("repeated", NEW)]),
    ] {
        assert_eq!(browser.post(path, form).await.status, 400, "{path}");
    }
}

#[tokio::test]
async fn each_cookie_opens_its_own_place_alone() {
    let issuer = TestIssuer::without_demo_people().await;
    issuer.account(ANN).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    browser.get("/auth/login").await;
    let attempt = browser.cookie("sightline_attempt");
    browser.sign_in(ANN, PASSWORD).await;
    let mut values: Vec<_> = browser.jar.borrow().values().filter(|value| !value.is_empty()).cloned().collect();
    values.push(attempt);
    assert!(
        values.len() >= 5,
        "a session here and there, a known browser, the token of forms and an attempt: {values:?}"
    );
    let (mut sessions, mut sign_ins) = (0, 0);
    for value in &values {
        let other = Browser::new(&issuer);
        other.plant("sightline_session", value);
        sessions += usize::from(other.api().await == 200);
        let other = Browser::new(&issuer);
        other.plant("sightline_issuer", value);
        let page = other.get(&authorize_path(&client, &[])).await;
        sign_ins += usize::from(!page.body.contains("name=\"password\""));
    }
    assert_eq!((sessions, sign_ins), (1, 1), "each value is a session in one place");
}

#[tokio::test]
async fn tokens_of_an_account_state_its_person_and_sign_in_time() {
    let issuer = TestIssuer::without_demo_people().await;
    let subject = issuer.account(ANN).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    browser.enter(&client, ANN, PASSWORD).await;
    let signed_in_at = issuer.clock.now().timestamp();
    issuer.hand.advance(TimeDelta::hours(2));
    let code = browser.allow(&client, &[]).await;
    let tokens = issuer.redeem(&client, &code, &[]).await.json();
    let body = text(&tokens, "id_token").split('.').nth(1).unwrap().to_owned();
    let body = base64::Engine::decode(&base64::engine::general_purpose::URL_SAFE_NO_PAD, body).unwrap();
    let claims: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!((text(&claims, "sub"), text(&claims, "email"), text(&claims, "name")), (subject.as_str(), ANN, "Ann"));
    assert_eq!((&claims["email_verified"], &claims["auth_time"]), (&true.into(), &signed_in_at.into()));
    assert!(uuid::Uuid::try_parse(text(&claims, "sid")).is_ok());
    let user = issuer.http.get(format!("{}/oauth/userinfo", issuer.base)).bearer_auth(text(&tokens, "access_token"));
    assert_eq!(text(&super::Answer::of(user).await.json(), "sub"), subject);
    let read = issuer.api(text(&tokens, "access_token")).await;
    assert!(read.body.contains(&subject) && read.body.contains(ANN), "{}", read.body);
    let listed = issuer.operator().list().await.unwrap();
    assert_eq!(listed[0].last_sign_in_at.unwrap().timestamp(), signed_in_at);
}
