//! Tests of sign-in by another provider.

mod elsewhere;
mod habits;
mod invitations;
mod slow;
mod trouble;

use std::time::Duration;

use futures_util::future::join_all;
use issuer::{IdentityProvider, upstream::rules::Rules};
use serde_json::{Value, json};
use tokio::time::timeout;

use self::elsewhere::{Elsewhere, listing, parameters, verified};
use super::{
    Answer, TestIssuer,
    browser::{ANN, Browser, PASSWORD, authorize_path},
    mail::with_mail_and,
    text,
};

const BOB: &str = "bob@corp.test";

#[tokio::test]
async fn only_added_invited_or_listed_people_sign_in() {
    let unverified = json!({ "email": BOB, "email_verified": false });
    let unsaid = json!({ "email": BOB });
    let bob = verified("7", "Bob@Corp.test");
    let named = || Rules::new(&["corp.test".to_owned()], &[], true);
    let (domain, email) = (|| listing(&["CORP.test"], &[]), || listing(&[], &["BOB@corp.test"]));
    let in_userinfo = json!({ "userinfo": verified("7", BOB) });
    let cases: [(&str, Rules, &str, &str, &Value, &str); 19] = [
        ("a stranger", Rules::default(), "", "", &bob, "has not been invited"),
        ("added", Rules::default(), BOB, "", &bob, ""),
        ("added, another", Rules::default(), "bo@corp.test", "", &bob, "has not been invited"),
        ("invited", Rules::default(), "", BOB, &bob, ""),
        ("invited, another", Rules::default(), "", "bob@other.test", &bob, "has not been invited"),
        ("of a domain", domain(), "", "", &bob, ""),
        ("of a subdomain", listing(&["test"], &[]), "", "", &bob, "has not been invited"),
        ("of the domain above", listing(&["mail.corp.test"], &[]), "", "", &bob, "has not been invited"),
        ("listed", email(), "", "", &bob, ""),
        ("added, unverified", Rules::default(), BOB, "", &unverified, "does not say that it is verified"),
        ("added, unsaid", Rules::default(), BOB, "", &unsaid, "does not say that it is verified"),
        ("invited, unverified", Rules::default(), "", BOB, &unverified, "does not say that it is verified"),
        ("of a domain, unverified", domain(), "", "", &unverified, "does not say that it is verified"),
        ("listed, unsaid", email(), "", "", &unsaid, "does not say that it is verified"),
        ("the provider is named", named(), "", "", &unsaid, ""),
        ("the provider is named and denies it", named(), "", "", &unverified, "does not say that it is verified"),
        ("no address", domain(), "", "", &json!({}), "does not say what your e-mail address is"),
        ("the address in userinfo", domain(), "", "", &in_userinfo, ""),
        ("an address that is none", domain(), "", "", &verified("7", "\"a@b\"@corp.test"), "Only verified"),
    ];
    let elsewhere = Elsewhere::start().await;
    for (case, rules, added, invited, said, refusal) in cases {
        let issuer = elsewhere.issuer(rules).await;
        if !added.is_empty() {
            issuer.operator().add(added, None).await.unwrap();
        }
        if !invited.is_empty() {
            issuer.invite(invited).await;
        }
        let (browser, client) = (Browser::new(&issuer), issuer.client().await);
        let answer = elsewhere.sign_in(&browser, &client, said.clone()).await;
        let linked = issuer.accounts().await.iter().filter(|account| account.upstream_subject.is_some()).count();
        if refusal.is_empty() {
            assert_eq!((answer.status, linked), (303, 1), "{case}: {}", answer.body);
            let consent = browser.get(answer.header("location")).await;
            assert!(consent.body.to_lowercase().contains(BOB), "{case}: {}", consent.body);
        } else {
            assert_eq!((answer.status, linked), (403, 0), "{case}: {}", answer.body);
            assert!(answer.body.contains(refusal) && answer.body.contains("role=\"alert\""), "{case}: {}", answer.body);
            assert!(browser.cookie("sightline_issuer").is_empty(), "{case}");
            let names_the_address =
                said["email"].as_str().is_none_or(|email| answer.body.contains(&email.replace('"', "&quot;")));
            assert!(names_the_address && answer.body.contains("operator"), "{case}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn a_returning_person_is_known_by_the_providers_identifier() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(Rules::default()).await;
    let added = issuer.operator().add(BOB, None).await.unwrap().account;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let said = json!({ "email": BOB, "email_verified": true, "name": "Bob" });
    assert_eq!(elsewhere.sign_in(&browser, &client, said).await.status, 303);
    let linked = issuer.accounts().await.remove(0);
    assert_eq!((linked.id, linked.name.as_deref()), (added.id, Some("Bob")));
    assert_eq!(linked.email_verified_at, Some(issuer.clock.now()));
    // A new address and name are taken over, cleaned; a name of which nothing is left is not.
    for (name, email, shown) in [
        ("Robert", "robert@new.test", "Robert"),
        ("Ro\u{202e}b\nSYSTEM", "robby@new.test", "Rob SYSTEM"),
        ("\u{202e}\u{200b}", "rob@new.test", "Rob SYSTEM"),
    ] {
        let said = json!({ "email": email, "email_verified": true, "name": name });
        let browser = Browser::new(&issuer);
        assert_eq!(elsewhere.sign_in(&browser, &client, said).await.status, 303);
        let known = issuer.accounts().await.remove(0);
        assert_eq!((known.id, known.email.as_str(), known.name.as_deref()), (added.id, email, Some(shown)));
    }
    // An operator added this person, so they may sign in. The address is no longer verified.
    let said = json!({ "email": "x@new.test", "email_verified": false });
    assert_eq!(elsewhere.sign_in(&Browser::new(&issuer), &client, said).await.status, 303);
    let known = issuer.accounts().await.remove(0);
    assert_eq!((known.email.as_str(), known.email_verified_at), ("rob@new.test", None));
}

/// One person in several browsers, and several people of whom the provider says that they have one address.
#[tokio::test]
async fn people_who_arrive_at_once_have_one_account_for_each_address() {
    let elsewhere = Elsewhere::start().await;
    for subject in [(|_| "7".to_owned()) as fn(usize) -> String, |number| format!("{number}")] {
        let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
        let path = authorize_path(&issuer.client().await, &[]);
        let mut arriving = Vec::new();
        for number in 0..8 {
            let browser = Browser::new(&issuer);
            let leaving = browser.get(&path).await.header("location").to_owned();
            arriving.push((browser, elsewhere.answer(&leaving, verified(&subject(number), BOB))));
        }
        let arrived = join_all(arriving.iter().map(async |(browser, back)| browser.get(back).await)).await;
        let statuses: Vec<_> = arrived.iter().map(|answer| answer.status).collect();
        assert!(statuses.contains(&303) && statuses.iter().all(|status| *status < 500), "{statuses:?}");
        let accounts = issuer.accounts().await;
        assert_eq!(accounts.len(), 1, "{accounts:?}");
        if subject(0) != subject(1) {
            assert_eq!(statuses.iter().filter(|status| **status == 303).count(), 1, "{statuses:?}");
        }
    }
}

#[tokio::test]
async fn an_address_of_another_account_is_never_taken_over() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let client = issuer.client().await;
    let come = async |said: Value| elsewhere.sign_in(&Browser::new(&issuer), &client, said).await;
    assert_eq!(come(verified("7", BOB)).await.status, 303);
    issuer.account(ANN).await;
    let before = issuer.accounts().await;
    // Another identifier with the same address: the provider gave the address to somebody else.
    let refused = come(verified("8", BOB)).await;
    assert!(refused.status == 403 && refused.body.contains("Another account here"), "{}", refused.body);
    assert_eq!(issuer.accounts().await, before);
    // A known person who now has the address of a local account.
    let refused = come(verified("7", ANN)).await;
    assert!(refused.status == 403 && refused.body.contains("Another account here"), "{}", refused.body);
    let after = issuer.accounts().await;
    assert_eq!(after[0], before[0], "the holder's account is untouched");
    assert_eq!((after[1].email.as_str(), after[1].email_verified_at), (BOB, None));
    // An operator frees the address for the new holder.
    issuer.operator().reset(BOB).await.unwrap();
    assert_eq!(come(verified("8", BOB)).await.status, 303);
    assert_eq!(issuer.accounts().await[1].upstream_subject.as_deref(), Some("8"));
}

/// The operator decides whether they stay, and not the provider.
#[tokio::test]
async fn a_person_whom_an_operator_added_stays_signed_in_though_their_new_address_is_taken() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let client = issuer.client().await;
    issuer.operator().add(BOB, None).await.unwrap();
    issuer.account(ANN).await;
    for (subject, email, stays) in [("7", BOB, true), ("8", "eve@corp.test", false)] {
        let browser = Browser::new(&issuer);
        let running = tokens(&elsewhere, &browser, &client, verified(subject, email)).await;
        let refused = elsewhere.sign_in(&Browser::new(&issuer), &client, verified(subject, ANN)).await;
        assert!(refused.status == 403 && refused.body.contains("Another account here"), "{}", refused.body);
        assert_eq!(issuer.provider.signed_in(&jar(&browser)).await.unwrap().is_some(), stays, "{email}");
        let status = if stays { 200 } else { 401 };
        assert_eq!(issuer.api(text(&running, "access_token")).await.status, status, "{email}");
    }
}

/// A client's tokens for somebody who signed in at the provider.
async fn tokens(elsewhere: &Elsewhere, browser: &Browser<'_>, client: &str, said: Value) -> Value {
    let back = elsewhere.sign_in(browser, client, said).await;
    assert_eq!(back.status, 303, "{}", back.body);
    let code = browser.allow(client, &[]).await;
    let answer = browser.issuer.redeem(client, &code, &[]).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.json()
}

async fn refresh(issuer: &TestIssuer, base: &str, client: &str, token: &str) -> Answer {
    let form = [("grant_type", "refresh_token"), ("client_id", client), ("refresh_token", token)];
    Answer::of(issuer.http.post(format!("{base}/oauth/token")).form(&form)).await
}

#[tokio::test]
async fn a_refresh_checks_again_who_may_sign_in() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let first = tokens(&elsewhere, &browser, &client, verified("7", BOB)).await;
    let claims = issuer.api(text(&first, "access_token")).await;
    assert!(claims.body.contains(BOB), "{}", claims.body);
    let second = refresh(&issuer, &issuer.base, &client, text(&first, "refresh_token")).await;
    assert_eq!(second.status, 200, "{}", second.body);
    let second = second.json();
    let (elsewhere_now, provider) = issuer.restarted(&elsewhere, listing(&["other.test"], &[])).await;
    refresh(&issuer, &elsewhere_now, &client, text(&second, "refresh_token")).await.refused("invalid_grant");
    assert_eq!(issuer.api(text(&second, "access_token")).await.status, 401, "the grant has ended");
    refresh(&issuer, &issuer.base, &client, text(&second, "refresh_token")).await.refused("invalid_grant");
    // The browser's session ends with the next sweep, which a start begins with.
    assert!(provider.signed_in(&jar(&browser)).await.unwrap().is_none());
    issuer.provider.sweep().await.unwrap();
    assert!(issuer.provider.signed_in(&jar(&browser)).await.unwrap().is_some());
    provider.sweep().await.unwrap();
    assert!(issuer.provider.signed_in(&jar(&browser)).await.unwrap().is_none());
}

#[tokio::test]
async fn an_invited_person_signs_in_while_the_invitation_exists() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(Rules::default()).await;
    issuer.invite(BOB).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let first = tokens(&elsewhere, &browser, &client, verified("7", BOB)).await;
    issuer.withdraw_invitations().await;
    issuer.refresh(&client, text(&first, "refresh_token")).await.refused("invalid_grant");
    let refused = elsewhere.sign_in(&browser, &client, verified("7", BOB)).await;
    assert_eq!(refused.status, 403, "{}", refused.body);
}

#[tokio::test]
async fn a_removed_account_ends_the_refresh() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(Rules::default()).await;
    issuer.operator().add(BOB, None).await.unwrap();
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let first = tokens(&elsewhere, &browser, &client, verified("7", BOB)).await;
    issuer.remove(BOB).await.unwrap();
    issuer.refresh(&client, text(&first, "refresh_token")).await.refused("invalid_grant");
    assert_eq!(elsewhere.sign_in(&Browser::new(&issuer), &client, verified("7", BOB)).await.status, 403);
}

#[tokio::test]
async fn an_account_is_removed_by_its_original_address() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(Rules::default()).await;
    issuer.operator().add(BOB, None).await.unwrap();
    let client = issuer.client().await;
    for email in [BOB, "robert@new.test"] {
        let browser = Browser::new(&issuer);
        assert_eq!(elsewhere.sign_in(&browser, &client, verified("7", email)).await.status, 303);
    }
    assert!(issuer.operator().reset("Bob@corp.test").await.is_err(), "a link would go to somebody else's address");
    assert!(issuer.remove("bo@corp.test").await.is_err());
    assert_eq!(issuer.remove("Bob@corp.test").await.unwrap().email, "robert@new.test");
    assert!(issuer.accounts().await.is_empty());
}

#[tokio::test]
async fn what_the_provider_takes_back_ends_what_it_opened() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let client = issuer.client().await;
    for said in [json!({ "email": BOB, "email_verified": false }), verified("7", "bob@other.test"), json!({})] {
        let browser = Browser::new(&issuer);
        let running = tokens(&elsewhere, &browser, &client, verified("7", BOB)).await;
        let refused = elsewhere.sign_in(&Browser::new(&issuer), &client, said.clone()).await;
        assert_eq!(refused.status, 403, "{said}: {}", refused.body);
        issuer.refresh(&client, text(&running, "refresh_token")).await.refused("invalid_grant");
        assert_eq!(issuer.api(text(&running, "access_token")).await.status, 401, "{said}");
        assert!(issuer.provider.signed_in(&jar(&browser)).await.unwrap().is_none(), "{said}");
    }
}

/// The cookies of a browser.
fn jar(browser: &Browser<'_>) -> http::HeaderMap {
    let pairs = browser.jar.borrow().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
    http::HeaderMap::from_iter([(http::header::COOKIE, pairs.join("; ").parse().unwrap())])
}

#[tokio::test]
async fn the_provider_is_asked_at_once_or_beside_what_else_there_is() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(Rules::default()).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    issuer.operator().add(BOB, None).await.unwrap();
    let wishes = [("login_hint", BOB), ("prompt", "login consent"), ("max_age", "60")];
    let leaving = browser.get(&authorize_path(&client, &wishes)).await;
    assert_eq!((leaving.status, leaving.header("referrer-policy")), (303, "no-referrer"), "{}", leaving.body);
    let asked = parameters(leaving.header("location"));
    assert_eq!(asked["redirect_uri"], format!("{}/oauth/sign-in/callback", issuer.base));
    assert_eq!(
        (asked["login_hint"].as_str(), asked["prompt"].as_str(), asked["max_age"].as_str()),
        (BOB, "login", "60")
    );
    assert!(asked["scope"].split(' ').any(|scope| scope == "openid") && asked["scope"].contains("email"));
    let silent = browser.get(&authorize_path(&client, &[("prompt", "none")])).await.redirect();
    assert_eq!(silent["error"], "login_required");
    issuer.account(ANN).await;
    let path = authorize_path(&client, &[]);
    let page = browser.get(&path).await;
    assert!(page.body.contains("Continue with 127.0.0.1") && page.body.contains("name=\"password\""), "{}", page.body);
    assert_eq!(issuer.post(&path, &[("decision", "elsewhere")]).await.status, 400, "the form needs its browser");
    let leaving = browser.post(&path, &[("decision", "elsewhere")]).await;
    assert!(leaving.header("location").starts_with(&elsewhere.base), "{}", leaving.body);
    assert_eq!(browser.enter(&client, ANN, PASSWORD).await.status, 303, "passwords work beside it");
}

#[tokio::test]
async fn the_first_sign_in_by_a_provider_ends_access_by_link_and_password() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(Rules::default()).await;
    // Somebody else had the link that the operator made for Ann, and set a password.
    issuer.account(ANN).await;
    let (somebody, client) = (Browser::new(&issuer), issuer.client().await);
    somebody.enter(&client, ANN, PASSWORD).await;
    let code = somebody.allow(&client, &[]).await;
    let running = issuer.redeem(&client, &code, &[]).await.json();
    let unused = issuer.operator().add(BOB, None).await.unwrap().token;

    let ann = Browser::new(&issuer);
    assert_eq!(elsewhere.sign_in(&ann, &client, verified("7", ANN)).await.status, 303);
    assert_eq!(elsewhere.sign_in(&Browser::new(&issuer), &client, verified("8", BOB)).await.status, 303);
    assert_eq!(issuer.accounts().await.iter().filter(|account| account.upstream_subject.is_some()).count(), 2);
    assert!(issuer.provider.signed_in(&jar(&ann)).await.unwrap().is_some());
    assert!(issuer.provider.signed_in(&jar(&somebody)).await.unwrap().is_none());
    issuer.refresh(&client, text(&running, "refresh_token")).await.refused("invalid_grant");
    assert!(issuer.accounts().await.iter().all(|account| account.password_hash.is_none()));
    assert_eq!(Browser::new(&issuer).follow_link(&unused).await.status, 410, "the unused link has ended, too");
    // Later sign-ins end nothing.
    assert_eq!(elsewhere.sign_in(&Browser::new(&issuer), &client, verified("7", ANN)).await.status, 303);
    assert!(issuer.provider.signed_in(&jar(&ann)).await.unwrap().is_some());
}

#[tokio::test]
async fn a_password_reset_gives_no_password_to_an_account_of_another_provider() {
    let elsewhere = Elsewhere::start().await;
    let change = |provider: IdentityProvider| {
        let upstream = elsewhere.upstream(&provider, Rules::default());
        provider.with_upstream(Some(upstream))
    };
    let (issuer, mut messages) = with_mail_and(change).await;
    issuer.operator().add(BOB, None).await.unwrap();
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    assert_eq!(elsewhere.sign_in(&browser, &client, verified("7", BOB)).await.status, 303);
    browser.get("/account/password/forgotten").await;
    assert_eq!(browser.post("/account/password/forgotten", &[("email", BOB)]).await.status, 200);
    let message = timeout(Duration::from_secs(10), messages.recv()).await.unwrap().unwrap();
    assert!(message.contains("no password") && !message.contains("/account/password/set"), "{message}");
}

#[tokio::test]
async fn the_provider_must_ask_again_where_a_client_wants_it() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let client = issuer.client().await;
    let now = issuer.clock.now().timestamp();
    for (wish, auth_time, status) in [
        (("max_age", "600"), Value::Null, 502),
        (("max_age", "600"), json!(now - 7_000), 502),
        (("max_age", "600"), json!(now - 500), 303),
        (("prompt", "login"), json!(now - 500), 502),
        (("prompt", "login"), json!(now), 303),
        (("prompt", "select_account"), json!(now - 7_000), 303),
    ] {
        let browser = Browser::new(&issuer);
        let leaving = browser.get(&authorize_path(&client, &[wish])).await;
        let mut said = verified("7", BOB);
        said["auth_time"] = auth_time.clone();
        let back = browser.get(&elsewhere.answer(leaving.header("location"), said)).await;
        assert_eq!(back.status, status, "{wish:?} {auth_time}: {}", back.body);
        if status == 303 {
            let signed_in = issuer.provider.signed_in(&jar(&browser)).await.unwrap().unwrap();
            assert_eq!(json!(signed_in.session.auth_time.timestamp()), auth_time);
            assert_eq!(browser.get(back.header("location")).await.status, 200, "the consent page, and no circle");
        }
    }
}
