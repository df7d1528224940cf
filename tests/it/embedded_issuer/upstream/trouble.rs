//! Tests of answers that sign nobody in: forged, replayed, of another browser, or none at all.

use std::sync::atomic::Ordering;

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::TimeDelta;
use common::digest::sha256_hex;
use issuer::upstream::rules::Rules;
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use serde_json::{Value, json};

use super::{
    super::{
        TestIssuer,
        browser::{Browser, authorize_path},
    },
    BOB,
    elsewhere::{Elsewhere, PUBLIC_KEY, SECRET, back, listing, parameters, signed, signed_with, verified},
};
use crate::support::endless::CODINGS;

#[tokio::test]
async fn an_answer_counts_once_and_only_in_the_browser_that_asked() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let client = issuer.client().await;
    let path = authorize_path(&client, &[]);
    let (attacker, victim) = (Browser::new(&issuer), Browser::new(&issuer));
    let own = attacker.get(&path).await.header("location").to_owned();
    let lure = elsewhere.answer(&own, verified("attacker", "mallory@corp.test"));
    for has_an_attempt in [false, true] {
        if has_an_attempt {
            victim.get(&path).await;
        }
        let refused = victim.get(&lure).await;
        assert_eq!(refused.status, 400, "{}", refused.body);
        assert!(refused.headers.get("set-cookie").is_none(), "the attempt under way keeps its cookie");
    }
    assert!(issuer.accounts().await.is_empty());
    // The attacker's state with the victim's cookie is no better.
    let theirs = parameters(victim.get(&path).await.header("location"));
    let swapped = lure.replace(&parameters(&own)["state"], &theirs["state"]);
    assert_eq!(victim.get(&swapped).await.status, 502, "the code belongs to another attempt");
    assert!(victim.cookie("sightline_issuer").is_empty());

    let cookie = attacker.cookie("sightline_elsewhere");
    assert_eq!(attacker.get(&lure).await.status, 303);
    attacker.jar.borrow_mut().insert(attempt_cookie(&issuer, &parameters(&own)["state"]), cookie);
    assert_eq!(attacker.get(&lure).await.status, 400, "replayed");
    let late = victim.get(&path).await.header("location").to_owned();
    issuer.hand.advance(TimeDelta::minutes(10));
    assert_eq!(victim.get(&elsewhere.answer(&late, verified("7", BOB))).await.status, 400);
}

#[tokio::test]
async fn answers_that_cannot_be_verified_sign_nobody_in() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let past = issuer.clock.now().timestamp() - 7_200;
    for (claim, value) in [
        ("nonce", json!("of another attempt")),
        ("nonce", Value::Null),
        ("iss", json!("https://evil.test")),
        ("aud", json!("another client")),
        ("aud", json!([super::elsewhere::CLIENT, "another client"])),
        ("azp", json!("another client")),
        ("exp", json!(past)),
        ("iat", json!(past + 7_300)),
        ("at_hash", json!("77QmUPtjPfzWtF2AnpK9RQ")),
        ("sub", Value::Null),
        ("sub", json!("7\0")),
        ("sub", json!("7\n")),
    ] {
        let mut said = verified("7", BOB);
        said[claim] = value.clone();
        let refused = elsewhere.sign_in(&browser, &client, said).await;
        assert_eq!(refused.status, 502, "{claim} {value}: {}", refused.body);
        assert!(refused.body.contains("Try again") && refused.header("x-frame-options") == "DENY", "{}", refused.body);
        assert!(!refused.body.contains(&elsewhere.base), "no internal text: {}", refused.body);
    }
    for (parameters, status) in [
        (&[("code", "unknown")][..], 502),
        (&[], 502),
        (&[("code", "unknown"), ("iss", "https://evil.test")], 502),
        (&[("error", "access_denied")], 403),
        (&[("error", "temporarily_unavailable")], 403),
        (&[("error", "<script>alert(1)</script>")], 403),
    ] {
        let leaving = browser.get(&authorize_path(&client, &[])).await;
        let state = super::parameters(leaving.header("location"))["state"].clone();
        let refused = browser.get(&back(&state, parameters)).await;
        assert_eq!(refused.status, status, "{parameters:?}: {}", refused.body);
        assert!(!refused.body.contains("<script"), "{}", refused.body);
    }
    let unstored = elsewhere.sign_in(&browser, &client, verified("7", "b\0ob@corp.test")).await;
    assert!(
        unstored.status == 403 && unstored.body.contains("does not say what your e-mail address is"),
        "{}",
        unstored.body
    );
    let userinfo_of_another = json!({ "userinfo": verified("8", BOB) });
    assert_eq!(elsewhere.sign_in(&browser, &client, userinfo_of_another).await.status, 502);
    assert!(issuer.accounts().await.is_empty() && browser.cookie("sightline_issuer").is_empty());
    let mut said = verified("7", BOB);
    said["azp"] = json!(super::elsewhere::CLIENT);
    assert_eq!(elsewhere.sign_in(&browser, &client, said).await.status, 303, "the client itself");
}

#[tokio::test]
async fn bodies_that_are_no_answers_sign_nobody_in() {
    let elsewhere = Elsewhere::start().await;
    let bodies = [
        "",
        "null",
        "[]",
        "{}",
        "\"ok\"",
        "<html>",
        r#"{"error":"server_error"}"#,
        r#"{"error":{"code":500}}"#,
        r#"{"access_token":"a","token_type":"Bearer"}"#,
        r#"{"access_token":7,"token_type":"Bearer","id_token":"a.b.c"}"#,
        r#"{"access_token":"a","token_type":"Bearer","id_token":null}"#,
        r#"{"sub":"8","email":"bob@corp.test","email_verified":true}"#,
        r#"{"email":"bob@corp.test","email_verified":true}"#,
        r#"{"keys":null}"#,
        r#"{"keys":{}}"#,
    ];
    for path in ["/.well-known/openid-configuration", "/jwks", "/token", "/userinfo"] {
        for body in bodies {
            let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
            let (browser, client) = (Browser::new(&issuer), issuer.client().await);
            let page = authorize_path(&client, &[]);
            // The metadata are read before the person leaves.
            let before = path.starts_with("/.well-known");
            if before {
                *elsewhere.instead.lock().unwrap() = Some((path, body.to_owned()));
                assert_eq!(browser.get(&page).await.status, 503, "{path} {body}");
            } else {
                let leaving = browser.get(&page).await;
                let back = elsewhere.answer(leaving.header("location"), json!({ "sub": "7" }));
                *elsewhere.instead.lock().unwrap() = Some((path, body.to_owned()));
                let refused = browser.get(&back).await;
                assert!([502, 503].contains(&refused.status), "{path} {body}: {} {}", refused.status, refused.body);
            }
            *elsewhere.instead.lock().unwrap() = None;
            assert!(
                issuer.accounts().await.is_empty() && browser.cookie("sightline_issuer").is_empty(),
                "{path} {body}"
            );
            // A server has fewer connections than all these services.
            issuer.db.close_by_ref().await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_provider_that_answers_without_an_end() {
    let elsewhere = Elsewhere::start().await;
    for (path, status) in
        [("/.well-known/openid-configuration", 503), ("/jwks", 503), ("/token", 502), ("/userinfo", 502)]
    {
        for coding in CODINGS {
            let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
            let (browser, client) = (Browser::new(&issuer), issuer.client().await);
            let page = authorize_path(&client, &[]);
            let refused = if path.starts_with("/.well-known") {
                elsewhere.endless.at(path, coding);
                browser.get(&page).await
            } else {
                let leaving = browser.get(&page).await;
                let back = elsewhere.answer(leaving.header("location"), json!({ "sub": "7" }));
                elsewhere.endless.at(path, coding);
                browser.get(&back).await
            };
            assert_eq!(refused.status, status, "{path} {coding:?}: {}", refused.body);
            elsewhere.endless.assert_read_to(1 << 20);
            elsewhere.endless.nowhere();
            assert!(issuer.accounts().await.is_empty() && browser.cookie("sightline_issuer").is_empty(), "{path}");
        }
    }
}

/// Makes an ID token of claims.
type Forge = Box<dyn Fn(&Value) -> String>;

/// Another key than the provider's.
const OTHER_KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n-----END PRIVATE KEY-----\n";

/// The claims under a header that the provider never writes, with the signature of its own token or with none.
fn with_header(claims: &Value, header: &Value, keeps_signature: bool) -> String {
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let token = signed(claims);
    let signature = if keeps_signature { token.rsplit('.').next().unwrap() } else { "" };
    format!("{}.{}.{signature}", encode(header), encode(claims))
}

/// The claims signed with a secret that is known to the client, or to everybody.
fn with_secret(claims: &Value, kid: &str, secret: &[u8]) -> String {
    let header = Header { kid: Some(kid.to_owned()), ..Header::new(Algorithm::HS256) };
    jsonwebtoken::encode(&header, claims, &EncodingKey::from_secret(secret)).unwrap()
}

#[tokio::test]
async fn forged_id_tokens_sign_nobody_in() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let own =
        json!({ "kty": "OKP", "crv": "Ed25519", "use": "sig", "x": "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg" });
    let header = |member: &str, value: &Value| {
        let mut header = json!({ "alg": "EdDSA", "kid": "one", "typ": "JWT" });
        header[member] = value.clone();
        header
    };
    let mut forged: Vec<(&str, Forge)> = vec![
        ("another key under the kid", Box::new(|claims| signed_with(claims, "one", OTHER_KEY))),
        ("another key under its own kid", Box::new(|claims| signed_with(claims, "two", OTHER_KEY))),
        ("HS256 with the client's secret", Box::new(|claims| with_secret(claims, "one", SECRET.as_bytes()))),
        ("HS256 with the public key", Box::new(|claims| with_secret(claims, "one", PUBLIC_KEY.as_bytes()))),
        (
            "HS256 with the bytes of the public key",
            Box::new(|claims| with_secret(claims, "one", &URL_SAFE_NO_PAD.decode(PUBLIC_KEY).unwrap())),
        ),
        ("two parts", Box::new(|claims| signed(claims).rsplit_once('.').unwrap().0.to_owned())),
        (
            "claims of another token",
            Box::new(|claims| with_header(claims, &json!({ "alg": "EdDSA", "kid": "one" }), false)),
        ),
    ];
    for alg in ["none", "None", "nOnE", "", "RS256", "ES256"] {
        for keeps_signature in [false, true] {
            let header = header("alg", &json!(alg));
            forged.push((alg, Box::new(move |claims| with_header(claims, &header, keeps_signature))));
        }
    }
    for (member, value) in [
        ("jwk", own),
        ("jku", json!("https://evil.test/jwks")),
        ("x5u", json!("https://evil.test/x")),
        ("crit", json!(["exp"])),
    ] {
        let header = header(member, &value);
        forged.push((member, Box::new(move |claims| with_header(claims, &header, true))));
    }
    for (name, sign) in &forged {
        let leaving = browser.get(&authorize_path(&client, &[])).await;
        let back = elsewhere.answer_signed(leaving.header("location"), verified("7", BOB), sign);
        let refused = browser.get(&back).await;
        assert_eq!(refused.status, 502, "{name}: {}", refused.body);
    }
    assert!(issuer.accounts().await.is_empty() && browser.cookie("sightline_issuer").is_empty());
    assert_eq!(elsewhere.sign_in(&browser, &client, verified("7", BOB)).await.status, 303, "the provider itself");
}

#[tokio::test]
async fn a_client_hears_of_a_refusal_when_the_person_cancels() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(Rules::default()).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let path = authorize_path(&client, &[]);
    let state = parameters(browser.get(&path).await.header("location"))["state"].clone();
    let refused = browser.get(&back(&state, &[("error", "access_denied")])).await;
    assert!(refused.body.contains("Try again") && refused.body.contains("Cancel"), "{}", refused.body);
    let told = browser.post(&path, &[("decision", "cancel")]).await.redirect();
    assert_eq!((told["error"].as_str(), told["state"].as_str()), ("access_denied", "s"));
    let turned = elsewhere.sign_in(&browser, &client, verified("7", BOB)).await;
    let other = turned.body.split("href=\"/oauth/authorize?").nth(1).unwrap().split('"').next().unwrap();
    let again = browser.get(&format!("/oauth/authorize?{}", other.replace("&amp;", "&"))).await;
    let asked = parameters(again.header("location"));
    assert_eq!(asked["prompt"], "select_account");
    // A provider without that prompt is asked for a new sign-in, once.
    let refusal = [("error", "invalid_request")];
    let instead = browser.get(&back(&asked["state"], &refusal)).await.header("location").to_owned();
    let asked = parameters(browser.get(&instead).await.header("location"));
    assert_eq!(asked["prompt"], "login");
    assert_eq!(browser.get(&back(&asked["state"], &refusal)).await.status, 403);
}

#[tokio::test]
async fn a_provider_that_is_away_is_named_with_a_way_to_try_again() {
    let elsewhere = Elsewhere::start().await;
    elsewhere.is_away.store(true, Ordering::SeqCst);
    let issuer = elsewhere.issuer(Rules::default()).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let path = authorize_path(&client, &[]);
    let page = browser.get(&path).await;
    assert_eq!((page.status, page.header("retry-after")), (503, "5"), "{}", page.body);
    assert!(page.body.contains("127.0.0.1 does not answer") && page.body.contains("Try again"), "{}", page.body);
    elsewhere.is_away.store(false, Ordering::SeqCst);
    issuer.hand.advance(TimeDelta::seconds(6));
    assert_eq!(browser.get(&path).await.status, 303);
}

#[tokio::test]
async fn the_way_back_leads_to_the_request_that_was_left_and_nowhere_else() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let (browser, client) = (Browser::new(&issuer), issuer.client().await);
    let foreign = authorize_path(&client, &[("redirect_uri", "https://evil.test/cb")]);
    let page = browser.get(&foreign).await;
    assert!(page.status == 400 && page.headers.get("location").is_none(), "{}", page.body);
    assert!(browser.cookie("sightline_elsewhere").is_empty());
    let lure = authorize_path(&client, &[("return_to", "https://evil.test"), ("state", "//evil.test")]);
    let leaving = browser.get(&lure).await;
    let answered = elsewhere.answer(leaving.header("location"), verified("7", BOB));
    let arrived = browser.get(&format!("{answered}&return_to=https://evil.test&redirect_uri=https://evil.test")).await;
    assert!(arrived.header("location").starts_with("/oauth/authorize?"), "{}", arrived.header("location"));
    // A cookie that this service did not seal is not an attempt.
    let state = parameters(leaving.header("location"))["state"].clone();
    for forged in ["", "junk", &"A".repeat(400)] {
        browser.jar.borrow_mut().insert(attempt_cookie(&issuer, &state), forged.into());
        assert_eq!(browser.get(&back(&state, &[("code", "code-0")])).await.status, 400, "{forged}");
    }
    let long = authorize_path(&client, &[("state", &"%".repeat(2_000))]);
    let refused = Browser::new(&issuer).get(&long).await.redirect();
    assert_eq!(refused["error"], "invalid_request", "a request that no cookie can hold");
}

/// The name of the cookie of an attempt.
fn attempt_cookie(issuer: &TestIssuer, state: &str) -> String {
    format!("{}_{}", issuer.host_cookie("sightline_elsewhere"), &sha256_hex(state)[..16])
}
