//! Tests of a provider that has the habits of real ones. Each habit names a provider that has it, where one is known.

use identity::issuer::Issuer;
use serde_json::{Value, json};

use super::{
    super::{
        Answer, TestIssuer,
        browser::{Browser, authorize_path},
    },
    BOB,
    elsewhere::{CLIENT, Elsewhere, PUBLIC_KEY, listing, signed, signed_with, verified},
};

/// The private key of RFC 8037 appendix A.1, which is not the provider's.
const OTHER_KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMcrn9g\n-----END PRIVATE KEY-----\n";

/// Signs Bob in with these claims in place of his own, and returns the status.
async fn status(elsewhere: &Elsewhere, issuer: &TestIssuer, claims: &Value) -> u16 {
    let (browser, client) = (Browser::new(issuer), issuer.client().await);
    let mut said = verified("7", BOB);
    said.as_object_mut().unwrap().extend(claims.as_object().unwrap().clone());
    elsewhere.sign_in(&browser, &client, said).await.status
}

#[tokio::test]
async fn people_of_providers_with_odd_habits_sign_in() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let now = issuer.clock.now().timestamp();
    let userinfo = |claims: Value| signed(&claims);
    for (habit, claims) in [
        ("an empty address is a list, as PHP writes it", json!({ "address": [] })),
        ("Auth0: updated_at is text", json!({ "updated_at": "2026-09-14T10:00:00.000Z" })),
        ("Amazon Cognito and Apple: email_verified is text", json!({ "email_verified": "true" })),
        ("phone_number_verified is text", json!({ "phone_number_verified": "false" })),
        ("ZITADEL: the project is a further audience", json!({ "aud": [CLIENT, "290"], "azp": CLIENT })),
        ("the audience is a list of one", json!({ "aud": [CLIENT] })),
        (
            "Keycloak: much more than was asked for",
            json!({ "realm_access": { "roles": [] }, "acr": 0, "groups": "all" }),
        ),
        ("a clock that is ten seconds ahead", json!({ "iat": now + 10, "nbf": now + 10, "auth_time": now + 10 })),
        ("times with fractions", json!({ "iat": 1_789_387_200.5, "exp": 1_789_390_800.25 })),
        ("times as text", json!({ "iat": now.to_string(), "exp": (now + 600).to_string() })),
        ("members without a value", json!({ "picture": "", "locale": "", "website": "", "at_hash": null })),
        ("the address is at userinfo alone", json!({ "email": null, "userinfo": verified("7", BOB) })),
        (
            "userinfo numbers people",
            json!({ "email": null, "userinfo": { "sub": 7, "email": BOB, "email_verified": true } }),
        ),
        ("userinfo is signed", json!({ "email": null, "userinfo": userinfo(verified("7", BOB)) })),
    ] {
        assert_eq!(status(&elsewhere, &issuer, &claims).await, 303, "{habit}");
    }
}

#[tokio::test]
async fn a_key_counts_whatever_else_its_set_has_under_its_id_and_however_it_is_described() {
    let own = json!({ "kty": "OKP", "crv": "Ed25519", "kid": "one", "use": "sig", "x": PUBLIC_KEY });
    let described = |members: Value| {
        let mut key = own.clone();
        key.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        key
    };
    // The public keys of RFC 7517 appendix A.1.
    let elliptic = json!({
        "kty": "EC", "crv": "P-256", "kid": "one", "use": "sig",
        "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4", "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM",
    });
    let encrypting = json!({ "kty": "OKP", "crv": "X25519", "kid": "one", "use": "enc", "x": PUBLIC_KEY });
    for (habit, keys) in [
        ("RFC 7517: keys of two types share an id, the fitting one first", json!([own, elliptic])),
        ("the fitting one last", json!([elliptic, own])),
        ("Keycloak: a key to encrypt has the same id", json!([encrypting, own, encrypting])),
        ("OpenAM: one key is listed for each algorithm", json!([described(json!({ "alg": "EdDSA" })), own])),
        ("the numbers are padded", json!([described(json!({ "x": format!("{PUBLIC_KEY}=") }))])),
        (
            "Gluu: members of other types are there and empty",
            json!([described(json!({ "n": "", "e": "", "x5c": [""] }))]),
        ),
        ("the certificate is a text", json!([described(json!({ "x5c": "MIIB", "x5t": 7 }))])),
        ("the operations are a text", json!([described(json!({ "key_ops": "verify" }))])),
        ("members without a value", json!([described(json!({ "alg": null, "x5c": null, "x5u": "", "exp": null }))])),
        ("what is no key stands beside it", json!([null, 7, "one", [], {}, own])),
    ] {
        let elsewhere = Elsewhere::start().await;
        *elsewhere.instead.lock().unwrap() = Some(("/jwks", json!({ "keys": keys }).to_string()));
        let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
        assert_eq!(status(&elsewhere, &issuer, &json!({})).await, 303, "{habit}");
    }
    for (fault, keys) in [
        ("only a key of another type", json!([elliptic])),
        ("only a key to encrypt", json!([described(json!({ "use": "enc" }))])),
        ("only for another algorithm", json!([described(json!({ "alg": "RS256" })), elliptic])),
        ("another id", json!([described(json!({ "kid": "two" }))])),
    ] {
        let elsewhere = Elsewhere::start().await;
        *elsewhere.instead.lock().unwrap() = Some(("/jwks", json!({ "keys": keys }).to_string()));
        let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
        assert_eq!(status(&elsewhere, &issuer, &json!({})).await, 502, "{fault}");
    }
}

#[tokio::test]
async fn what_protects_people_is_no_habit() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let now = issuer.clock.now().timestamp();
    let by_somebody_else = signed_with(&verified("7", BOB), "one", OTHER_KEY);
    for (fault, claims, expected) in [
        ("a further audience without azp", json!({ "aud": [CLIENT, "290"] }), 502),
        ("azp of another client", json!({ "aud": [CLIENT, "290"], "azp": "290" }), 502),
        ("a clock that is two minutes ahead", json!({ "iat": now + 120 }), 502),
        ("the access token is another one", json!({ "at_hash": "77QmUPtjPfzWtF2AnpK9RQ" }), 502),
        ("userinfo of somebody else", json!({ "email": null, "userinfo": verified("8", BOB) }), 502),
        ("userinfo that somebody else signed", json!({ "email": null, "userinfo": by_somebody_else }), 502),
        ("userinfo takes no token", json!({ "email": null, "userinfo": 401 }), 502),
        ("userinfo is broken", json!({ "email": null, "userinfo": 500 }), 502),
        ("userinfo is away", json!({ "email": null, "userinfo": 503 }), 503),
        ("an address that is not verified", json!({ "email_verified": "false" }), 403),
        ("an address of which nothing is said that can be read", json!({ "email_verified": [] }), 403),
        ("an address that is no text", json!({ "email": [BOB] }), 403),
    ] {
        assert_eq!(status(&elsewhere, &issuer, &claims).await, expected, "{fault}");
    }
}

#[tokio::test]
async fn a_provider_may_have_no_userinfo_and_its_name_is_taken_to_the_letter() {
    let document = |base: &str, issuer: String| {
        json!({
            "issuer": issuer, "authorization_endpoint": format!("{base}/authorize"), "token_endpoint": format!("{base}/token"),
            "jwks_uri": format!("{base}/jwks"), "response_types_supported": ["code"], "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["EdDSA"],
        })
    };
    for (slash, expected) in [("", 303), ("/", 503)] {
        let elsewhere = Elsewhere::start().await;
        let named = document(&elsewhere.base, format!("{}{slash}", elsewhere.base));
        *elsewhere.instead.lock().unwrap() = Some(("/.well-known/openid-configuration", named.to_string()));
        let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
        let configured = Issuer::new(&elsewhere.base, super::super::client(), issuer.clock.clone()).unwrap();
        let name = format!("{}/", elsewhere.base);
        let unlike = configured.metadata().await.err().map(|unlike| unlike.to_string());
        assert_eq!(unlike.is_some_and(|said| said.contains(&format!("another issuer, {name}. If"))), expected == 503);
        let meant = Issuer::new(&name, super::super::client(), issuer.clock.clone()).unwrap();
        assert_eq!(meant.metadata().await.is_ok(), expected == 503, "with the name in its document");
        let (browser, client) = (Browser::new(&issuer), issuer.client().await);
        let leaving = browser.get(&authorize_path(&client, &[])).await;
        assert_eq!(leaving.status, expected, "{}", leaving.body);
        if expected == 303 {
            let answered = elsewhere.answer(leaving.header("location"), json!({ "email": null }));
            assert_eq!(browser.get(&answered).await.status, 403, "nobody says what the address is");
        }
    }
}

/// The bytes of an answer before its body.
fn head(answer: &Answer) -> usize {
    answer.headers.iter().map(|(name, value)| name.as_str().len() + value.len() + ": \r\n".len()).sum()
}

/// An application chooses its `state`, which goes back in `Location`, and a proxy has a buffer for the head of an answer.
#[tokio::test]
async fn a_proxy_takes_the_longest_head_of_an_answer_with_the_buffers_that_the_guide_gives_it() {
    let elsewhere = Elsewhere::start().await;
    let issuer = elsewhere.issuer(listing(&["corp.test"], &[])).await;
    let address = format!("https://app.example/{}", "a".repeat(980));
    let client = issuer.client_at(&[&address]).await;
    let mut longest = 0;
    for state in ["{".repeat(2_048), "x".repeat(2_048), "x".repeat(1_200)] {
        let browser = Browser::new(&issuer);
        let path = authorize_path(&client, &[("redirect_uri", &address), ("state", &state)]);
        for _ in 0..4 {
            let page = browser.get(&path).await;
            let answer =
                if page.status == 200 { browser.post(&path, &[("decision", "elsewhere")]).await } else { page };
            longest = longest.max(head(&answer));
        }
    }
    let issuer = TestIssuer::start().await;
    let client = issuer.client_at(&[&address]).await;
    let state = "{".repeat(2_048);
    let back = issuer.authorize(&client, &[("redirect_uri", &address), ("state", &state)]).await;
    longest = longest.max(head(&back));
    // The layers around these pages add less than a kibibyte.
    assert!((4_096..15 * 1_024).contains(&longest), "{longest}");
    let guide = include_str!("../../../../docs/OPERATING.md");
    assert!(guide.contains("    proxy_buffer_size 16k;\n    proxy_buffers 4 16k;\n"));
}
