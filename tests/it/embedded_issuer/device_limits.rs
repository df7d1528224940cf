//! Tests of the limits on device codes, and of what is stored of them.

use chrono::TimeDelta;
use entity::device_code;
use futures_util::future::join_all;
use sea_orm::{ActiveValue::Set, EntityTrait as _};

use super::{
    TestIssuer,
    device::{ENDPOINT, Machine, PATH},
    text,
};

#[tokio::test]
async fn guesses_at_codes_are_limited_though_rate_limits_are_off() {
    let issuer = TestIssuer::with_ann().await;
    let (machine, browser) = (Machine::new(&issuer).await, issuer.browser_of_ann().await);
    for number in 0..20 {
        let guess = if number % 2 == 0 { "BBBB-BBBB" } else { "nonsense" };
        assert_eq!(browser.enter_code(guess).await.status, 400, "{number}");
    }
    let refused = browser.enter_code(machine.user_code()).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "60"), "{}", refused.body);
    assert!(!refused.body.contains("Board"), "{}", refused.body);
    issuer.hand.advance(TimeDelta::seconds(60));
    assert_eq!(browser.enter_code(machine.user_code()).await.status, 200);
    assert_eq!(browser.enter_code(machine.user_code()).await.status, 429);
}

#[tokio::test]
async fn guesses_at_codes_at_once_are_counted_one_by_one() {
    let issuer = TestIssuer::with_ann().await;
    let (machine, browser) = (Machine::new(&issuer).await, issuer.browser_of_ann().await);
    browser.get(PATH).await;
    let guesses =
        (0..60).map(|number| format!("BBBB-BB{}B", char::from(b"BCDFGHJKLM"[number % 10]))).collect::<Vec<_>>();
    let forms: Vec<_> = guesses.iter().map(|guess| [("code", guess.as_str())]).collect();
    let statuses = join_all(forms.iter().map(async |form| browser.post(PATH, form).await.status)).await;
    let counted = |status: u16| statuses.iter().filter(|one| **one == status).count();
    assert_eq!((counted(400), counted(429)), (20, 40), "{statuses:?}");
    assert_eq!(browser.enter_code(machine.user_code()).await.status, 429);
}

/// A person who is called up and told a code sees that no machine of theirs asks.
#[tokio::test]
async fn the_page_of_a_machine_names_the_address_that_asked() {
    let issuer = TestIssuer::with_ann().await;
    let (machine, browser) = (Machine::new(&issuer).await, issuer.browser_of_ann().await);
    for (address, said) in [("198.51.100.7", "198.51.100.7"), ("2001:db8:7::/64", "2001:db8:7::")] {
        let asked_from = device_code::ActiveModel { asked_from: Set(Some(address.to_owned())), ..Default::default() };
        device_code::Entity::update_many().set(asked_from).exec(&issuer.db).await.unwrap();
        let page = browser.enter_code(machine.user_code()).await;
        assert!(page.status == 200 && page.body.contains(said), "{}", page.body);
        assert!(!page.body.contains("this computer"), "{}", page.body);
        for warning in ["on your own machine", "value=\"read\" required checked"] {
            assert!(page.body.contains(warning), "{warning}: {}", page.body);
        }
    }
}

#[tokio::test]
async fn machines_of_one_address_ask_so_often() {
    let issuer = TestIssuer::with(|provider| provider.with_limits(true)).await;
    for _ in 0..60 {
        assert_eq!(issuer.post(ENDPOINT, &[("client_id", "sightline-cli")]).await.status, 200);
    }
    let refused = issuer.post(ENDPOINT, &[("client_id", "sightline-cli")]).await;
    assert_eq!((refused.status, refused.header("retry-after")), (429, "60"), "{}", refused.body);
}

/// Stores as many codes as may wait.
async fn flood(issuer: &TestIssuer) {
    let now = issuer.clock.now();
    let row = |number: usize| device_code::ActiveModel {
        hash: Set(format!("{number:064}")),
        user_code: Set(format!("{number:043}")),
        client_id: Set("sightline-cli".to_owned()),
        scope: Set("openid".to_owned()),
        resources: Set("[]".to_owned()),
        asked_from: Set(None),
        created_at: Set(now),
        expires_at: Set(now + TimeDelta::hours(1)),
        interval_seconds: Set(5),
        next_poll_at: Set(now),
        grant_id: Set(None),
        denied_at: Set(None),
    };
    for start in (0..10_000).step_by(1_000) {
        let rows = (start..start + 1_000).map(row);
        device_code::Entity::insert_many(rows).exec_without_returning(&issuer.db).await.unwrap();
    }
}

#[tokio::test]
async fn a_network_gets_a_code_though_too_many_wait() {
    let issuer = TestIssuer::with(|provider| provider.with_limits(true)).await;
    flood(&issuer).await;
    let ask = async || issuer.post(ENDPOINT, &[("client_id", "sightline-cli")]).await.status;
    assert_eq!([ask().await, ask().await], [200, 429]);
    issuer.hand.advance(TimeDelta::minutes(10));
    assert_eq!([ask().await, ask().await], [200, 429]);

    let unlimited = TestIssuer::start().await;
    flood(&unlimited).await;
    assert_eq!(unlimited.post(ENDPOINT, &[("client_id", "sightline-cli")]).await.status, 429, "nobody is counted");
}

#[tokio::test]
async fn what_is_stored_holds_neither_code_and_no_address_after_the_decision() {
    let issuer = TestIssuer::with_ann().await;
    let machine = Machine::new(&issuer).await;
    let stored = async || device_code::Entity::find().one(&issuer.db).await.unwrap().unwrap();
    let before = stored().await;
    assert_eq!(before.asked_from.as_deref(), Some("127.0.0.1"));
    let shown = format!("{before:?}");
    let letters = machine.user_code().replace('-', "");
    for secret in [text(&machine.codes, "device_code"), machine.user_code(), &letters] {
        assert!(!shown.contains(secret), "{shown}");
    }
    issuer.browser_of_ann().await.allow_machine(&machine, "read").await;
    assert_eq!(stored().await.asked_from, None);
}
