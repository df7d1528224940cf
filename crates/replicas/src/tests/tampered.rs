//! Values that somebody else has written to Redis.

use std::time::Duration;

use chrono::TimeDelta;
use common::clock::Clock;
use tokio::time::timeout;

use super::{replica, secrets, url};
use crate::{Found, Shared, Urgency, Wanted};

const SCOPE: &str = "account:1";

/// Timeout for events that must happen.
const GUARD: Duration = Duration::from_secs(30);

fn wanted(request: &str) -> Wanted<'_> {
    Wanted { scope: SCOPE, request, urgency: Urgency::Soon, patience: Duration::ZERO }
}

/// Sends a command that somebody with access to Redis could send, again if a busy machine took too long for the answer.
async fn command(shared: &Shared, name: &str, arguments: &[&[u8]]) {
    let mut command = redis::cmd(name);
    for argument in arguments {
        command.arg(*argument);
    }
    let answered = async {
        while shared.cache.command::<redis::Value>(&command).await.is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(GUARD, answered).await.unwrap();
}

/// The value at the key of a reading.
async fn stored(shared: &Shared, request: &str) -> Option<Vec<u8>> {
    let mut get = redis::cmd("GET");
    let get = get.arg(shared.names.reading(SCOPE, request));
    shared.cache.command::<Option<Vec<u8>>>(get).await.flatten()
}

/// Reads for all, and waits until the reading is there.
async fn put(shared: &Shared, request: &str, reading: &[u8]) -> Vec<u8> {
    let Found::Mine(claim) = shared.readings().find(&wanted(request)).await else { panic!("nobody had {request}") };
    claim.put(reading.to_vec(), Clock::system().now() + TimeDelta::hours(1));
    let there = async {
        loop {
            if let Some(value) = stored(shared, request).await.filter(|value| value.starts_with(b"V")) {
                return value;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(GUARD, there).await.unwrap()
}

/// Nobody who can write to Redis makes up a reading, or keeps others from reading it themselves.
#[tokio::test]
async fn values_of_others_are_no_readings_and_are_replaced() {
    let Some(url) = url() else { return };
    let secrets = secrets();
    let (one, other) = (replica(&url, &secrets).await, replica(&url, &secrets).await);
    let stranger = replica(&url, &super::secrets()).await;
    let own = put(&one, "clicks", b"the reading").await;
    let swapped = put(&one, "impressions", b"another reading").await;
    let foreign = put(&stranger, "clicks", b"made up elsewhere").await;
    assert!(![&own, &swapped, &foreign].iter().any(|value| value.windows(7).any(|part| part == b"reading")));
    let far = (Clock::system().now() + TimeDelta::days(36_500)).timestamp_millis();
    let values: [(&str, Vec<u8>); 13] = [
        ("of another question", swapped),
        ("of another deployment", foreign),
        ("cut", own[..own.len() - 1].to_vec()),
        ("longer", [&own[..], b"x"].concat()),
        ("empty", Vec::new()),
        ("a value of nothing", b"V".to_vec()),
        ("plain", b"Vthe reading, made up".to_vec()),
        ("a claim of nobody", b"C00123456789abcdef:1".to_vec()),
        ("a claim without an owner", b"C".to_vec()),
        ("a claim that is no text", b"C\xff\xfe".to_vec()),
        ("a failure for ever", format!("F{far}").into_bytes()),
        ("a failure at no time", b"Fnever".to_vec()),
        ("large", vec![b'V'; 30 << 20]),
    ];
    let name = other.names.reading(SCOPE, "clicks");
    for (what, value) in &values {
        command(&one, "SET", &[name.as_bytes(), value]).await;
        match timeout(GUARD, other.readings().find(&wanted("clicks"))).await.unwrap() {
            Found::Mine(claim) => drop(claim),
            // The replica reads by itself, because the value takes too long to arrive.
            Found::Alone => {}
            Found::Reading(reading) => panic!("{what}: {} is taken for a reading", String::from_utf8_lossy(&reading)),
            Found::Failed => panic!("{what}: nobody reads"),
        }
    }
    command(&one, "DEL", &[name.as_bytes()]).await;
    command(&one, "RPUSH", &[name.as_bytes(), b"a", b"list"]).await;
    let found = timeout(GUARD, other.readings().find(&wanted("clicks"))).await.unwrap();
    assert!(matches!(found, Found::Alone | Found::Mine(_)), "a list");
    command(&one, "DEL", &[name.as_bytes()]).await;
    drop(found);

    // The replica's own value is read again once it is back.
    command(&one, "SET", &[name.as_bytes(), &own]).await;
    let again = async {
        loop {
            match other.readings().find(&wanted("clicks")).await {
                Found::Reading(reading) => return reading,
                // A busy machine took too long for the answer.
                Found::Alone => tokio::time::sleep(Duration::from_millis(10)).await,
                Found::Mine(_) | Found::Failed => panic!("it is there"),
            }
        }
    };
    assert_eq!(timeout(GUARD, again).await.unwrap(), b"the reading");
}
