//! Tests of the rotation of signing keys.

use chrono::TimeDelta;
use common::{random::Random, secrets::Secrets};
use entity::signing_key::Entity;
use issuer::{
    IdentityProvider, KEY_MAX_AGE, Settings,
    keys::rotation::{Former, rotate},
};
use jsonwebtoken::decode_header;
use serde_json::Value;

use super::{SECRETS_KEY, TestIssuer, text};

fn secrets() -> Secrets {
    Secrets::new(SECRETS_KEY, Random::seeded(3))
}

/// Another replica on the same database.
fn replica(issuer: &TestIssuer) -> IdentityProvider {
    let base_url = issuer.base.clone();
    let audiences = vec![base_url.clone()];
    let settings = Settings {
        base_url: base_url.parse().unwrap(),
        audiences,
        demo_people: issuer::demo::people(false),
        demo_sign_in: true,
    };
    IdentityProvider::new(settings, issuer.db.clone(), secrets(), issuer.clock.clone(), Random::seeded(9))
}

async fn published(issuer: &TestIssuer) -> Vec<Value> {
    issuer.get("/oauth/jwks").await.json()["keys"].as_array().unwrap().clone()
}

fn kid(token: &str) -> String {
    decode_header(token).unwrap().kid.unwrap()
}

/// The command rotates in another process: the service is not told.
async fn rotate_elsewhere(issuer: &TestIssuer, former: Former) -> String {
    rotate(&issuer.db, &secrets(), former, issuer.clock.now()).await.unwrap().unwrap().id
}

#[tokio::test]
async fn no_request_fails_while_keys_are_rotated() {
    let issuer = TestIssuer::start().await;
    let (client, mut tokens) = issuer.tokens().await;
    let old = text(&tokens, "access_token").to_owned();
    let new = rotate_elsewhere(&issuer, Former::Published).await;
    let ids: Vec<_> = published(&issuer).await.iter().map(|key| text(key, "kid").to_owned()).collect();
    assert_eq!(ids, [new.clone(), kid(&old)], "both are published at once");
    let mut signed_by = Vec::new();
    for _ in 0..60 {
        let answer = issuer.refresh(&client, text(&tokens, "refresh_token")).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        tokens = answer.json();
        for token in [text(&tokens, "access_token"), &old] {
            assert_eq!(issuer.api(token).await.status, 200, "at {}", issuer.clock.now());
        }
        signed_by.push(kid(text(&tokens, "access_token")));
        issuer.hand.advance(TimeDelta::seconds(5));
    }
    signed_by.dedup();
    assert_eq!(signed_by, [kid(&old), new], "the new key is published for some time before it signs");
}

#[tokio::test]
async fn a_retired_key_is_published_until_its_tokens_have_expired() {
    let issuer = TestIssuer::start().await;
    issuer.tokens().await;
    rotate_elsewhere(&issuer, Former::Published).await;
    issuer.hand.advance(TimeDelta::minutes(119));
    issuer.provider.sweep().await.unwrap();
    let keys = published(&issuer).await;
    assert_eq!(keys.len(), 2);
    for key in &keys {
        let mut members: Vec<_> = key.as_object().unwrap().keys().map(String::as_str).collect();
        members.sort_unstable();
        assert_eq!(members, ["alg", "e", "kid", "kty", "n", "use"], "public members only");
        assert_eq!((text(key, "alg"), text(key, "use")), ("RS256", "sig"));
    }
    issuer.hand.advance(TimeDelta::minutes(2));
    issuer.provider.sweep().await.unwrap();
    assert_eq!(published(&issuer).await, keys[..1]);
}

#[tokio::test]
async fn a_key_that_leaked_is_discarded_with_its_tokens() {
    let issuer = TestIssuer::start().await;
    let (client, tokens) = issuer.tokens().await;
    let old = text(&tokens, "access_token");
    let new = rotate_elsewhere(&issuer, Former::Deleted).await;
    let info = async |token: &str| {
        let request = issuer.http.get(format!("{}/oauth/userinfo", issuer.base)).bearer_auth(token);
        super::Answer::of(request).await.status
    };
    // Another replica signs with the new key, which this one does not know yet.
    let claims = issuer.provider.keys.read::<Value>("at+jwt", old).await.unwrap().unwrap();
    let elsewhere = replica(&issuer).keys.sign("at+jwt", &claims).await.unwrap();
    assert_eq!(kid(&elsewhere), new);
    assert_eq!(info(&elsewhere).await, 200, "an unknown key id is looked up at once");
    assert_eq!(info(old).await, 401);

    issuer.hand.advance(TimeDelta::seconds(31));
    let fresh = issuer.refresh(&client, text(&tokens, "refresh_token")).await.json();
    assert_eq!(issuer.api(text(&fresh, "access_token")).await.status, 200);
    assert_eq!(issuer.api(old).await.status, 401);
}

#[tokio::test]
async fn a_key_is_replaced_by_age_and_by_one_of_many_replicas() {
    let issuer = TestIssuer::start().await;
    issuer.tokens().await;
    let others: Vec<_> = (0..4).map(|_| replica(&issuer)).collect();
    issuer.hand.advance(KEY_MAX_AGE - TimeDelta::seconds(1));
    assert_eq!(issuer.provider.rotate_old_key().await.unwrap(), None);
    issuer.hand.advance(TimeDelta::seconds(1));
    let rotated = futures_util::future::join_all(others.iter().map(IdentityProvider::rotate_old_key)).await;
    let new: Vec<_> = rotated.into_iter().filter_map(Result::unwrap).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    assert_eq!(issuer.provider.rotate_old_key().await.unwrap(), None);
    assert_eq!(text(&published(&issuer).await[0], "kid"), new[0]);
    assert_eq!(Entity::active().all(&issuer.db).await.unwrap().len(), 1);
}

#[tokio::test]
async fn replicas_that_start_together_agree_on_the_first_key() {
    let issuer = TestIssuer::start().await;
    let replicas: Vec<_> = (0..4).map(|_| replica(&issuer)).collect();
    let sets = futures_util::future::join_all(replicas.iter().map(|replica| replica.keys.public())).await;
    let sets: Vec<_> = sets.into_iter().map(Result::unwrap).collect();
    assert!(sets.iter().all(|keys| keys.len() == 1 && *keys == sets[0]));
}
