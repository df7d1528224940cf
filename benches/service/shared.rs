//! A warm read of a service on `PostgreSQL` that shares Redis, beside one that does not.

use std::time::Instant;

use crate::{
    Measured,
    connection::Connection,
    figure::{Figure, median},
    load::{self, ROUNDS},
    setting::{Engine, MIDDLING, Setting, window},
};

/// The variable that names a Redis server, as in the test suite.
const REDIS: &str = "SIGHTLINE_TEST_REDIS_URL";

/// The least part of the rate without Redis.
const LEAST: f64 = 0.75;

/// The most that Redis may add to a read, in milliseconds.
const MOST_MORE: f64 = 0.3;

/// Reads of a person who asks one after the other.
const READS: usize = 2_000;

/// Rate limits that count every request, and that nobody reaches.
const COUNTING: [(&str, &str); 3] =
    [("RATE_LIMIT__ENABLED", "true"), ("RATE_LIMIT__PER_MINUTE", "100000000"), ("RATE_LIMIT__BURST", "10000000")];

/// Runs the measurement.
pub async fn measure() -> Measured<Vec<Figure>> {
    let (Some(own), Some(other), Some(redis)) =
        (test_data::postgres::fresh().await, test_data::postgres::fresh().await, redis())
    else {
        let needs = format!("not measured: needs SIGHTLINE_TEST_POSTGRES_URL and {REDIS}");
        return Ok(vec![Figure::note("a warm read with Redis", needs)]);
    };
    let engine = Engine::start(0)?;
    let start = async |database: &str, more: &[(&str, &str)]| {
        let settings = [&COUNTING[..], &[("DATABASE__URL", database)], more].concat();
        Setting::start(&engine, MIDDLING, &settings).await
    };
    let without = start(&own.url, &[]).await?;
    let with = start(&other.url, &[("REDIS__URL", &redis)]).await?;
    let (from, to) = window(0, 28);
    let path =
        |setting: &Setting| format!("/api/properties/{}/performance?startDate={from}&endDate={to}", setting.property);
    let (mut rates, mut waits) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..=ROUNDS {
        for (side, setting) in [&without, &with].into_iter().enumerate() {
            let path = path(setting);
            let size = setting.get(&path).await?.len();
            rates[side].push(load::reads(setting.server.address, &path, &setting.token, size)?);
            waits[side].push(one_by_one(setting, &path)?);
        }
    }
    let [alone, shared] = rates.map(|mut rates| load::median(rates.split_off(1)));
    let [alone_waits, shared_waits] = waits.map(|mut waits| load::median(waits.split_off(1)));
    let (ratio, more) = (shared / alone, shared_waits - alone_waits);
    Ok(vec![
        Figure {
            name: "a warm read on PostgreSQL with Redis".to_owned(),
            value: format!("{shared:.0}/s"),
            baseline: format!("{alone:.0}/s without Redis"),
            ratio: format!("{ratio:.2}"),
            aim: Some((format!("≥ {LEAST}"), ratio >= LEAST)),
        },
        Figure {
            name: "the same, one after the other".to_owned(),
            value: format!("{shared_waits:.2} ms"),
            baseline: format!("{alone_waits:.2} ms without Redis"),
            ratio: format!("{:.2}", shared_waits / alone_waits),
            aim: Some((format!("≤ {MOST_MORE} ms more"), more <= MOST_MORE)),
        },
    ])
}

/// Median time of a read on one connection, in milliseconds.
fn one_by_one(setting: &Setting, path: &str) -> Measured<f64> {
    let mut connection = Connection::open(setting.server.address, path, &setting.token)?;
    let mut times = Vec::with_capacity(READS);
    for _ in 0..READS {
        let begun = Instant::now();
        connection.ask()?;
        times.push(begun.elapsed());
    }
    Ok(median(times).as_secs_f64() * 1e3)
}

#[expect(clippy::disallowed_methods, reason = "no setting of the service: it says where a server is")]
fn redis() -> Option<String> {
    std::env::var(REDIS).ok().filter(|url| !url.is_empty())
}
