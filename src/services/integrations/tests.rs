//! Tests of stored answers and charges.

use std::sync::Arc;

use ::store::database;
use api::integrations::Provider;
use chrono::DateTime;
use common::{random::Random, secrets::Secrets};
use seo::{AccountRefusal, Findings, Ledger as _, Reading, Summary};
use test_data::noon;

use super::*;
use crate::{config::Config, services::change::MemberChange, testing::World};

#[test]
fn a_request_costs_only_the_questions_that_were_asked() {
    let given = |cost: Option<i64>, is_fresh| {
        let found = Findings::Summary(Summary::default());
        let reading = Reading { found, cost: cost.map(Amount), read_at: DateTime::UNIX_EPOCH };
        Given { reading: Arc::new(reading), is_fresh }
    };
    let cost = |given: Vec<Given>| Answers { given }.cost();
    assert_eq!(cost(Vec::new()), Some(Amount::ZERO));
    assert_eq!(cost(vec![given(Some(10), true), given(Some(5), true), given(Some(7), false)]), Some(Amount(15)));
    assert_eq!(cost(vec![given(None, false)]), Some(Amount::ZERO));
    assert_eq!(cost(vec![given(None, true), given(Some(5), true)]), None);
}

/// The stored connection of the owner, after `key` was stored with a balance.
async fn stored(world: &World, secrets: &Secrets, key: &str, balance: i64) -> entity::provider_connection::Model {
    let member = world.member(&Config::default(), world.owner).await;
    let credentials = Credentials::Key(key.to_owned().into());
    let replace = async |change: &MemberChange| {
        store::replace(change, secrets, Provider::B, &credentials, Some(Amount(balance))).await
    };
    world.change(&member, replace).await.unwrap()
}

async fn current(world: &World) -> entity::provider_connection::Model {
    store::one_of_user(&world.db, world.owner, Provider::B).await.unwrap().unwrap()
}

fn key(secrets: &Secrets, row: &entity::provider_connection::Model) -> Option<Vec<u8>> {
    store::credentials(secrets, row).ok().map(|credentials| credentials.to_bytes())
}

#[tokio::test]
async fn credentials_are_sealed_again_with_a_new_key() {
    let world = World::new().await;
    let old = Secrets::new([7; 32], Random::seeded(3));
    let row = stored(&world, &old, "the key", 5).await;
    assert!(!row.sealed.windows(7).any(|part| part == b"the key"));
    let new = Secrets::new([8; 32], Random::seeded(4));
    assert!(key(&old, &row).is_some() && key(&new, &row).is_none());
    let tx = database::begin(&world.db).await.unwrap();
    assert_eq!(reseal(&tx, &new.clone().with_previous(Some([7; 32]))).await.unwrap(), 1);
    tx.commit().await.unwrap();
    let again = current(&world).await;
    assert_eq!((key(&new, &again), key(&old, &again)), (key(&old, &row), None));
}

#[tokio::test]
async fn the_same_credentials_stored_again_are_the_same_holder() {
    let world = World::new().await;
    let secrets = Secrets::new([7; 32], Random::seeded(3));
    let first = stored(&world, &secrets, "first", 5).await;
    let again = stored(&world, &secrets, "first", 5).await;
    assert_ne!(first.sealed, again.sealed);
    let holder = |row| store::holder(&secrets, row).unwrap();
    assert_eq!(holder(&first), holder(&again));
    assert_ne!(holder(&first), holder(&stored(&world, &secrets, "second", 5).await));
}

#[tokio::test]
async fn charges_come_off_the_balance_of_the_credentials_that_were_used() {
    let world = World::new().await;
    let secrets = Secrets::new([7; 32], Random::seeded(3));
    let first = stored(&world, &secrets, "first", 1_000).await;
    let clock = common::clock::Clock::manual(noon()).0;
    let books = Books { db: world.db.clone(), secrets: secrets.clone(), clock };
    let holder = store::holder(&secrets, &first).unwrap();
    books.note(&holder, Ok(Some(Amount(300)))).await;
    books.note(&holder, Ok(Some(Amount(300)))).await;
    books.note(&holder, Ok(None)).await;
    assert_eq!(current(&world).await.balance_millionths, Some(400));
    books.note(&holder, Err(&SeoError::Unavailable("x".to_owned()))).await;
    assert_eq!(current(&world).await.state, entity::provider_connection::CredentialsState::Ok);
    books.note(&holder, Err(&SeoError::Refused(AccountRefusal::Wrong))).await;
    assert_eq!(current(&world).await.state, entity::provider_connection::CredentialsState::Invalid);

    let second = stored(&world, &secrets, "second", 2_000).await;
    assert_eq!((second.id, second.created_at), (first.id, first.created_at), "the connection is the same");
    books.note(&holder, Ok(Some(Amount(500)))).await;
    assert_eq!(current(&world).await, second, "late news of other credentials");
    books.note(&store::holder(&secrets, &second).unwrap(), Ok(Some(Amount(2_500)))).await;
    let left = connections(&world.db, world.owner).await.unwrap()[1].balance.clone().unwrap();
    assert!(left.amount.abs() < f64::EPSILON, "a provider rounds as it likes, and nothing is below zero");
}
