//! Tests of the issuer while the clock is set back or forward. Nobody waits longer than the limit that keeps them, and nothing is good twice.

use chrono::TimeDelta;
use common::{random::Random, secrets::Secrets};
use issuer::keys::rotation::{Former, rotate};

use super::{
    SECRETS_KEY, TestIssuer,
    browser::{ANN, Browser, PASSWORD},
    device::Machine,
    text,
};
use crate::clock_jumps::{BACK, JUMPS};

#[tokio::test]
async fn refresh_tokens_and_signing_keys_outlast_every_jump() {
    for (name, jump) in JUMPS {
        for rotates in [false, true] {
            let issuer = TestIssuer::start().await;
            let (client, mut tokens) = issuer.tokens().await;
            if rotates {
                let secrets = Secrets::new(SECRETS_KEY, Random::seeded(3));
                rotate(&issuer.db, &secrets, Former::Published, issuer.clock.now()).await.unwrap().unwrap();
            }
            issuer.hand.set(jump);
            for step in 0..8 {
                let answer = issuer.refresh(&client, text(&tokens, "refresh_token")).await;
                assert_eq!(answer.status, 200, "{name}, {step}: {}", answer.body);
                tokens = answer.json();
                let accepted = issuer.api(text(&tokens, "access_token")).await;
                assert_eq!(accepted.status, 200, "{name}, {step}, rotates: {rotates}");
                issuer.hand.advance(TimeDelta::seconds(40));
                issuer.provider.sweep().await.unwrap();
            }
        }
    }
}

#[tokio::test]
async fn a_code_is_good_once_before_and_after_the_clock_is_set_back() {
    for (name, jump) in BACK {
        let issuer = TestIssuer::start().await;
        let client = issuer.client().await;
        let code = issuer.code(&client, &[]).await;
        issuer.hand.set(jump);
        let tokens = issuer.redeem(&client, &code, &[]).await;
        assert_eq!(tokens.status, 200, "{name}: {}", tokens.body);
        issuer.hand.advance(TimeDelta::seconds(31));
        issuer.redeem(&client, &code, &[]).await.refused("invalid_grant");
        issuer.refresh(&client, text(&tokens.json(), "refresh_token")).await.refused("invalid_grant");
    }
}

#[tokio::test]
async fn a_machine_polls_on_after_the_clock_is_set_back() {
    for (name, jump) in BACK {
        let issuer = TestIssuer::with_ann().await;
        let machine = Machine::new(&issuer).await;
        machine.poll().await.refused("authorization_pending");
        issuer.hand.set(jump);
        for _ in 0..3 {
            issuer.hand.advance(TimeDelta::seconds(10));
            machine.poll().await.refused("authorization_pending");
        }
        let browser = Browser::new(&issuer);
        let waited = signs_in(&issuer, &browser).await;
        assert!(waited <= TimeDelta::minutes(10), "{name}: {waited}");
        browser.allow_machine(&machine, "read").await;
        machine.tokens().await;
        issuer.hand.advance(TimeDelta::seconds(31));
        machine.poll().await.refused("invalid_grant");
    }
}

/// Signs Ann in, and waits as long as each refusal says. Returns how long.
async fn signs_in(issuer: &TestIssuer, browser: &Browser<'_>) -> TimeDelta {
    let mut waited = TimeDelta::zero();
    loop {
        let page = browser.sign_in(ANN, PASSWORD).await;
        if page.status == 303 {
            return waited;
        }
        assert!(page.status == 429 && waited < TimeDelta::minutes(15), "{waited}: {}", page.body);
        let wait = TimeDelta::seconds(page.header("retry-after").parse().unwrap());
        issuer.hand.advance(wait);
        waited += wait;
    }
}

/// Each limit on guesses ends within its own interval. A longer credit would let guesses go on at another replica whose clock is behind.
#[tokio::test]
async fn guesses_keep_nobody_out_for_longer_than_their_limits() {
    for (name, jump) in BACK {
        let issuer = TestIssuer::with_ann().await;
        let stranger = Browser::new(&issuer);
        while stranger.sign_in(ANN, "a wrong password").await.status == 400 {}
        issuer.hand.set(jump);
        let waited = signs_in(&issuer, &stranger).await;
        assert!(waited <= TimeDelta::minutes(10), "{name}: {waited}");
    }
}

#[tokio::test]
async fn clients_register_after_the_clock_is_set() {
    for (name, jump) in JUMPS {
        let issuer = TestIssuer::start().await;
        issuer.client().await;
        issuer.hand.set(jump);
        let (client, _) = issuer.tokens().await;
        assert!(!client.is_empty(), "{name}");
    }
}
