//! Keyed creates per second, beside the same rows inserted bare through the same pool of connections.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use entity::{annotation, replay};
use sea_orm::{ActiveValue::Set, DatabaseConnection, EntityTrait as _};
use sightline::{clock::Clock, random::Random, store::database};
use uuid::Uuid;

use crate::{
    Measured,
    connection::Connection,
    figure::{Figure, median},
    setting::{Engine, MIDDLING, Setting},
};

/// Writers at once.
const WRITERS: usize = 4;

/// Records of each writer in a round.
const RECORDS: usize = 100;

/// Rounds, the two sides by turns. With the round that warms up 4,000 annotations come together; a property may have 5,000.
const ROUNDS: usize = 4;

/// What is written.
const TEXT: &str = "New product pages went live";

/// Measures.
pub async fn measure() -> Measured<Vec<Figure>> {
    let engine = Engine::start(0)?;
    let setting = Setting::start(&engine, MIDDLING, |_| {}).await?;
    let (mut of_service, mut of_bare) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        of_bare.push(bare(&setting, round).await?);
        of_service.push(keyed(&setting, round).await?);
    }
    // The first round of each warms up.
    let (bare, service) = (median(of_bare.split_off(1)), median(of_service.split_off(1)));
    setting.service.shutdown().await;
    let per_second = |time: Duration| (WRITERS * RECORDS) as f64 / time.as_secs_f64();
    let ratio = per_second(service) / per_second(bare);
    Ok(vec![Figure {
        name: "annotations created with a key".to_owned(),
        value: format!("{:.0}/s", per_second(service)),
        baseline: format!("{:.0}/s the same rows inserted bare", per_second(bare)),
        ratio: format!("{ratio:.2}"),
        aim: Some(("≥ 0.5", ratio >= 0.5)),
    }])
}

fn path(setting: &Setting) -> String {
    format!("/api/properties/{}/annotations", setting.property.id)
}

/// How long the service takes to create all records of one round. The connections are opened before the clock starts.
async fn keyed(setting: &Setting, round: usize) -> Measured<Duration> {
    let (path, body) = (path(setting), format!(r#"{{"date":"2026-11-01","text":"{TEXT}"}}"#));
    let mut connections = Vec::new();
    for _ in 0..WRITERS {
        connections.push(Connection::open(setting.service.address, &path, &setting.token)?);
    }
    let start = Instant::now();
    let writing = connections.into_iter().enumerate().map(|(writer, mut connection)| {
        let (path, body, token) = (path.clone(), body.clone(), setting.token.clone());
        tokio::task::spawn_blocking(move || {
            for number in 0..RECORDS {
                connection.create(&path, &token, &format!("{round}-{writer}-{number}"), &body)?;
            }
            Measured::Ok(())
        })
    });
    for outcome in futures_util::future::join_all(writing).await {
        outcome??;
    }
    Ok(start.elapsed())
}

/// How long the rows alone take: the annotation and the replay, in a transaction as the service's.
async fn bare(setting: &Setting, round: usize) -> Measured<Duration> {
    let start = Instant::now();
    let writing = (0..WRITERS).map(|writer| {
        let (db, random, now) = (setting.service.db.clone(), Random::system(), Clock::system().now());
        let (property, user, path) = (setting.property.id, setting.property.user_id, path(setting));
        tokio::spawn(async move {
            for number in 0..RECORDS {
                let key = format!("bare-{round}-{writer}-{number}");
                insert(&db, (random.id(now), random.id(now), now), (property, user), &path, key).await?;
            }
            Measured::Ok(())
        })
    });
    for outcome in futures_util::future::join_all(writing).await {
        outcome??;
    }
    Ok(start.elapsed())
}

async fn insert(
    db: &DatabaseConnection,
    (id, replay_id, now): (Uuid, Uuid, DateTime<Utc>),
    (property_id, user_id): (Uuid, Uuid),
    path: &str,
    key: String,
) -> Measured<()> {
    let annotation = annotation::ActiveModel {
        id: Set(id),
        property_id: Set(property_id),
        author_id: Set(Some(user_id)),
        date: Set(now.date_naive()),
        end_date: Set(None),
        text: Set(TEXT.to_owned()),
        category: Set(None),
        created_at: Set(now),
        updated_at: Set(now),
    };
    let replay = replay::ActiveModel {
        id: Set(replay_id),
        user_id: Set(user_id),
        method: Set("POST".to_owned()),
        path: Set(path.to_owned()),
        idempotency_key: Set(key),
        request_hash: Set(vec![0; 32]),
        status: Set(201),
        content_type: Set(Some("application/json; charset=utf-8".to_owned())),
        location: Set(Some(format!("{path}/{id}"))),
        etag: Set(None),
        // About as long as the sealed answer.
        body: Set(vec![0; 350]),
        size: Set(350),
        created_at: Set(now),
        expires_at: Set(now + TimeDelta::hours(24)),
    };
    let transaction = database::begin(db).await?;
    annotation::Entity::insert(annotation).exec_without_returning(&transaction).await?;
    replay::Entity::insert(replay).exec_without_returning(&transaction).await?;
    transaction.commit().await?;
    Ok(())
}
