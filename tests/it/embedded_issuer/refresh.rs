//! Tests of the rows that refreshing leaves.

use entity::refresh_token;
use sea_orm::{EntityTrait as _, PaginatorTrait as _};
use serde_json::Value;

use super::{TestIssuer, text};

const OFFLINE: [(&str, &str); 1] = [("scope", "openid offline_access")];

async fn rows(issuer: &TestIssuer) -> u64 {
    refresh_token::Entity::find().count(&issuer.db).await.unwrap()
}

/// A client, and the tokens of a flow that asks for a refresh token.
async fn offline(issuer: &TestIssuer) -> (String, Value) {
    let client = issuer.client().await;
    let code = issuer.code(&client, &OFFLINE).await;
    (client.clone(), issuer.redeem(&client, &code, &[]).await.json())
}

#[tokio::test]
async fn spent_refresh_tokens_leave_nothing_and_still_end_the_family() {
    let issuer = TestIssuer::start().await;
    let other = issuer.client().await;
    for spent_first in [0, 1, 49] {
        let (client, mut tokens) = offline(&issuer).await;
        let (before, mut spent) = (rows(&issuer).await, Vec::new());
        for _ in 0..50 {
            spent.push(text(&tokens, "refresh_token").to_owned());
            let answer = issuer.refresh(&client, text(&tokens, "refresh_token")).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            tokens = answer.json();
        }
        assert_eq!(rows(&issuer).await, before, "a grant has one row");
        assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 200);
        issuer.refresh(&other, &spent[spent_first]).await.refused("invalid_grant");
        assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 200, "a client ends its own grants only");
        issuer.refresh(&client, &spent[spent_first]).await.refused("invalid_grant");
        issuer.refresh(&client, text(&tokens, "refresh_token")).await.refused("invalid_grant");
        assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 401);
    }
}

#[tokio::test]
async fn a_token_of_no_grant_ends_nothing() {
    let issuer = TestIssuer::start().await;
    let (client, tokens) = offline(&issuer).await;
    let (family, secret) = text(&tokens, "refresh_token").split_once('.').unwrap();
    for forged in
        [secret.to_owned(), format!("{secret}.{family}"), format!(".{secret}"), ".".to_owned(), "x.y.z".to_owned()]
    {
        issuer.refresh(&client, &forged).await.refused("invalid_grant");
    }
    assert_eq!(issuer.refresh(&client, text(&tokens, "refresh_token")).await.status, 200);
}

#[tokio::test]
async fn a_spent_token_of_a_family_revokes_it() {
    let issuer = TestIssuer::start().await;
    let (client, tokens) = offline(&issuer).await;
    let renewed = issuer.refresh(&client, text(&tokens, "refresh_token")).await.json();
    let form = [("client_id", client.as_str()), ("token", text(&tokens, "refresh_token"))];
    assert_eq!(issuer.post("/oauth/revoke", &form).await.status, 200);
    assert_eq!(issuer.api(text(&renewed, "access_token")).await.status, 401);
}
