//! Tests that forged and malformed tokens are all refused with the same response.

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::{Answer, TestIssuer, start_time, text};

/// Header, claims and signature of a valid token.
struct Genuine {
    issuer: TestIssuer,
    token: String,
    header: Value,
    claims: Value,
}

fn encode(value: &Value) -> String {
    URL_SAFE_NO_PAD.encode(value.to_string())
}

fn decode(part: &str) -> Value {
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
}

fn hs256(header: &Value, claims: &Value, secret: &[u8]) -> String {
    let message = format!("{}.{}", encode(header), encode(claims));
    let mut mac = Hmac::<Sha256>::new_from_slice(secret).unwrap();
    mac.update(message.as_bytes());
    format!("{message}.{}", URL_SAFE_NO_PAD.encode(mac.finalize().into_bytes()))
}

impl Genuine {
    async fn get() -> Self {
        let issuer = TestIssuer::start().await;
        let token = text(&issuer.tokens().await.1, "access_token").to_owned();
        let parts: Vec<_> = token.split('.').collect();
        let (header, claims) = (decode(parts[0]), decode(parts[1]));
        assert_eq!(issuer.api(&token).await.status, 200);
        Self { issuer, token, header, claims }
    }

    fn part(&self, index: usize) -> &str {
        self.token.split('.').nth(index).unwrap()
    }

    fn header_with(&self, member: &str, value: Value) -> Value {
        let mut header = self.header.clone();
        header[member] = value;
        header
    }

    async fn refused(&self, name: &str, token: &str) {
        let answer = self.issuer.api(token).await;
        assert_eq!(answer.status, 401, "{name}");
        assert!(answer.header("www-authenticate").contains("error=\"invalid_token\""), "{name}");
    }

    /// A token that the issuer really signs, with changed claims (`null`: omitted).
    async fn signed(&self, typ: &str, member: &str, value: Value) -> String {
        let mut claims = self.claims.clone();
        claims[member] = value;
        claims.as_object_mut().unwrap().retain(|_, value| !value.is_null());
        self.issuer.provider.keys.sign(typ, &claims).await.unwrap()
    }
}

#[tokio::test]
async fn headers_that_choose_their_own_key_or_algorithm() {
    let genuine = Genuine::get().await;
    for alg in ["none", "None", "NONE", "nOnE", ""] {
        let header = encode(&genuine.header_with("alg", json!(alg)));
        for signature in ["", genuine.part(2)] {
            let token = format!("{header}.{}.{signature}", genuine.part(1));
            genuine.refused(alg, &token).await;
        }
    }
    let jwk = genuine.issuer.get("/oauth/jwks").await.json()["keys"][0].clone();
    let modulus = URL_SAFE_NO_PAD.decode(jwk["n"].as_str().unwrap()).unwrap();
    let confused = genuine.header_with("alg", json!("HS256"));
    for secret in [modulus.clone(), jwk.to_string().into_bytes(), jwk["n"].as_str().unwrap().into(), Vec::new()] {
        genuine.refused("HS256", &hs256(&confused, &genuine.claims, &secret)).await;
    }
    for kid in
        ["../../dev/null", "https://evil.example/jwks", "file:///dev/null", "' OR 1=1 --", "", "\0", &"k".repeat(300)]
    {
        let header = genuine.header_with("kid", json!(kid));
        let token = format!("{}.{}.{}", encode(&header), genuine.part(1), genuine.part(2));
        genuine.refused(kid, &token).await;
        let mut header = confused.clone();
        header["kid"] = json!(kid);
        genuine.refused(kid, &hs256(&header, &genuine.claims, b"")).await;
    }
    for (member, value) in [
        ("jwk", jwk),
        ("jku", json!("https://evil.example/jwks")),
        ("x5u", json!("https://evil.example/cert")),
        ("crit", json!(["exp"])),
        ("b64", json!(false)),
        ("zip", json!("DEF")),
        ("enc", json!("A128GCM")),
        ("typ", json!("JWT")),
        ("typ", Value::Null),
        ("alg", json!("PS256")),
        ("alg", json!("ES256")),
    ] {
        let header = genuine.header_with(member, value);
        let token = format!("{}.{}.{}", encode(&header), genuine.part(1), genuine.part(2));
        genuine.refused(member, &token).await;
    }
}

#[tokio::test]
async fn signatures_and_shapes() {
    let genuine = Genuine::get().await;
    let (header, claims, signature) = (genuine.part(0), genuine.part(1), genuine.part(2));
    let mut other = genuine.claims.clone();
    other["sub"] = json!("demo-stranger");
    let nested = "[".repeat(2_000);
    for (name, token) in [
        ("stripped", format!("{header}.{claims}.")),
        ("two parts", format!("{header}.{claims}")),
        ("four parts", format!("{header}.{claims}.{signature}.x")),
        ("five parts", format!("{header}.{claims}.{signature}.x.y")),
        ("swapped claims", format!("{header}.{}.{signature}", encode(&other))),
        ("padded", format!("{header}.{claims}.{signature}==")),
        ("oversize", format!("{header}.{claims}.{}", "A".repeat(9_000))),
        ("nested header", format!("{}.{claims}.{signature}", URL_SAFE_NO_PAD.encode(&nested))),
        ("nested claims", format!("{header}.{}.{signature}", URL_SAFE_NO_PAD.encode(&nested))),
        ("no base64", format!("{header}~.{claims}.{signature}")),
        ("nonsense", "nonsense".to_owned()),
        ("dots", "..".to_owned()),
    ] {
        genuine.refused(name, &token).await;
    }
    for twice in ["\"alg\":\"none\"", "\"alg\":\"RS256\"", "\"typ\":\"JWT\"", "\"kid\":\"x\""] {
        let kid = &genuine.header["kid"];
        for header in [
            format!("{{\"typ\":\"at+jwt\",\"alg\":\"RS256\",\"kid\":{kid},{twice}}}"),
            format!("{{{twice},\"typ\":\"at+jwt\",\"alg\":\"RS256\",\"kid\":{kid}}}"),
        ] {
            genuine.refused(twice, &format!("{}.{claims}.{signature}", URL_SAFE_NO_PAD.encode(header))).await;
        }
    }
    let query = format!("/api?access_token={}", genuine.token);
    let answer = genuine.issuer.get(&query).await;
    assert_eq!(answer.status, 401, "a token in the query is not a credential");
    assert!(!answer.header("www-authenticate").contains("error"));
    let twice = genuine.issuer.http.get(format!("{}/api", genuine.issuer.base));
    assert_eq!(Answer::of(twice.bearer_auth(&genuine.token).bearer_auth(&genuine.token)).await.status, 400);
}

#[tokio::test]
async fn signed_tokens_with_other_claims() {
    let genuine = Genuine::get().await;
    let now = start_time().timestamp();
    for (member, value) in [
        ("iss", json!("https://other.example")),
        ("iss", json!(format!("{}/", genuine.issuer.base))),
        ("aud", json!("https://other.example")),
        ("aud", json!([])),
        ("aud", json!([genuine.issuer.base.clone() + "/"])),
        ("exp", json!(now - 5)),
        ("exp", json!("never")),
        ("exp", json!(1e300)),
        ("exp", json!(-1)),
        ("nbf", json!(now + 6)),
        ("iat", json!(now + 6)),
        ("iat", json!(now - 24 * 3_600 - 6)),
        ("sub", json!("")),
        ("jti", json!("x".repeat(256))),
    ] {
        let token = genuine.signed("at+jwt", member, value.clone()).await;
        genuine.refused(&format!("{member} {value}"), &token).await;
    }
    for required in ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"] {
        let token = genuine.signed("at+jwt", required, Value::Null).await;
        genuine.refused(required, &token).await;
    }
    for (member, value) in [
        ("aud", json!(genuine.issuer.base)),
        ("exp", json!(now - 4)),
        ("nbf", json!(now + 5)),
        ("iat", json!(now as f64 - 0.5)),
        ("iat", json!(now - 24 * 3_600 - 5)),
        ("extra", json!({ "deep": [1] })),
    ] {
        let token = genuine.signed("application/at+jwt", member, value.clone()).await;
        assert_eq!(genuine.issuer.api(&token).await.status, 200, "{member} {value}");
    }
    genuine.refused("typ", &genuine.signed("JWT", "extra", json!(1)).await).await;
    let unverified = genuine.signed("at+jwt", "email_verified", json!(false)).await;
    assert!(!genuine.issuer.api(&unverified).await.body.contains("owner@demo.test"), "only verified addresses count");
}
