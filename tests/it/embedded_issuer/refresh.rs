//! Tests of refresh tokens and codes that are used again, and of the rows that refreshing leaves.

use chrono::TimeDelta;
use entity::{refresh_token, token_exchange};
use sea_orm::{EntityTrait as _, PaginatorTrait as _};
use serde_json::Value;

use super::{TestIssuer, text};

const OFFLINE: [(&str, &str); 1] = [("scope", "openid offline_access")];

async fn rows(issuer: &TestIssuer) -> u64 {
    let exchanges = token_exchange::Entity::find().count(&issuer.db).await.unwrap();
    refresh_token::Entity::find().count(&issuer.db).await.unwrap() + exchanges
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
            issuer.hand.advance(TimeDelta::seconds(31));
        }
        assert_eq!(rows(&issuer).await, before, "a grant has one token, and one exchange until it is swept");
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

#[tokio::test]
async fn what_is_exchanged_again_at_once_gives_the_same_refresh_token() {
    let issuer = TestIssuer::start().await;
    let client = issuer.client().await;
    let code = issuer.code(&client, &OFFLINE).await;
    let tokens = issuer.redeem(&client, &code, &[]).await.json();
    issuer.hand.advance(TimeDelta::seconds(30));
    let again = issuer.redeem(&client, &code, &[]).await.json();
    let first = text(&tokens, "refresh_token");
    assert_eq!(text(&again, "refresh_token"), first);

    let renewed = issuer.refresh(&client, first).await.json();
    issuer.hand.advance(TimeDelta::seconds(29));
    let again = issuer.refresh(&client, first).await.json();
    let second = text(&renewed, "refresh_token");
    assert_eq!(text(&again, "refresh_token"), second);
    for access in [&tokens, &renewed, &again] {
        assert_eq!(issuer.api(text(access, "access_token")).await.status, 200);
    }
    let third = issuer.refresh(&client, second).await.json();
    assert_eq!(issuer.refresh(&client, text(&third, "refresh_token")).await.status, 200);
}

/// A second use of a token, by its client or by somebody with a copy.
#[derive(Clone, Copy, Debug)]
enum Again {
    Late,
    AfterTheCodeExpired,
    AfterTheNextWasUsed,
    AfterTheClockWasSetBack,
}

#[tokio::test]
async fn what_is_exchanged_again_later_ends_the_grant() {
    for again in [Again::Late, Again::AfterTheCodeExpired, Again::AfterTheNextWasUsed, Again::AfterTheClockWasSetBack] {
        for is_code in [true, false] {
            let issuer = TestIssuer::start().await;
            let client = issuer.client().await;
            let code = issuer.code(&client, &OFFLINE).await;
            let mut latest = issuer.redeem(&client, &code, &[]).await.json();
            let spent = text(&latest, "refresh_token").to_owned();
            if !is_code {
                latest = issuer.refresh(&client, &spent).await.json();
            }
            match again {
                Again::Late => issuer.hand.advance(TimeDelta::seconds(31)),
                Again::AfterTheCodeExpired => issuer.hand.advance(TimeDelta::seconds(61)),
                Again::AfterTheNextWasUsed => {
                    latest = issuer.refresh(&client, text(&latest, "refresh_token")).await.json();
                }
                Again::AfterTheClockWasSetBack => issuer.hand.set(TimeDelta::hours(-2)),
            }
            let answer =
                if is_code { issuer.redeem(&client, &code, &[]).await } else { issuer.refresh(&client, &spent).await };
            answer.refused("invalid_grant");
            issuer.refresh(&client, text(&latest, "refresh_token")).await.refused("invalid_grant");
            assert_eq!(issuer.api(text(&latest, "access_token")).await.status, 401, "{again:?} {is_code}");
        }
    }
}

#[tokio::test]
async fn another_client_or_verifier_repeats_no_exchange() {
    let issuer = TestIssuer::start().await;
    let other = issuer.client().await;
    let verifier = "x".repeat(43);
    for change in [("client_id", other.as_str()), ("code_verifier", &verifier)] {
        let client = issuer.client().await;
        let code = issuer.code(&client, &OFFLINE).await;
        let tokens = issuer.redeem(&client, &code, &[]).await.json();
        issuer.redeem(&client, &code, &[change]).await.refused("invalid_grant");
        assert_eq!(issuer.api(text(&tokens, "access_token")).await.status, 401, "{change:?}");
    }
    let (client, tokens) = offline(&issuer).await;
    let renewed = issuer.refresh(&client, text(&tokens, "refresh_token")).await.json();
    issuer.refresh(&other, text(&tokens, "refresh_token")).await.refused("invalid_grant");
    assert_eq!(issuer.refresh(&client, text(&renewed, "refresh_token")).await.status, 200);
}

#[tokio::test]
async fn a_client_that_registered_refresh_tokens_gets_them_without_the_scope_of_openid_connect() {
    let issuer = TestIssuer::start().await;
    for scope in ["search:read", "openid", ""] {
        let client = issuer.client().await;
        let code = issuer.code(&client, &[("scope", scope)]).await;
        let tokens = issuer.redeem(&client, &code, &[]).await.json();
        assert_eq!(issuer.refresh(&client, text(&tokens, "refresh_token")).await.status, 200, "{scope}");
    }
}
