//! Keyed creates per second, beside the same rows inserted directly into the same file.

use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use common::{clock::Clock, random::Random};
use entity::{annotation, property, replay};
use sea_orm::{ActiveValue::Set, DatabaseConnection, EntityTrait as _};
use store::database;
use uuid::Uuid;

use crate::{
    Measured,
    connection::Connection,
    figure::{Figure, median},
    load::{self, CONNECTIONS},
    setting::{Engine, MIDDLING, Setting},
};

/// Number of records of each writer in a round.
const RECORDS: u32 = 30;

/// Rounds; the two sides alternate. Together with the warm-up they write 4,800 annotations; a property may have 5,000.
const ROUNDS: usize = 4;

/// Text of each annotation.
const TEXT: &str = "New product pages went live";

/// Runs the measurement.
pub async fn measure() -> Measured<Vec<Figure>> {
    let engine = Engine::start(0)?;
    let setting = Setting::start(&engine, MIDDLING, &[]).await?;
    let store = database::open(&format!("sqlite://{}", setting.database().display()), 1).await?;
    let property = property::Entity::find_by_id(setting.property.parse::<Uuid>()?).one(&store.reader).await?;
    let property = property.ok_or("the property is missing")?;
    let (mut of_service, mut of_bare) = (Vec::new(), Vec::new());
    for round in 0..=ROUNDS {
        of_bare.push(bare(&store.writer, &property, round).await?);
        of_service.push(keyed(&setting, round)?);
    }
    // The first round of each warms up.
    let records = f64::from(RECORDS) * CONNECTIONS as f64;
    let bare = records / median(of_bare.split_off(1)).as_secs_f64();
    let service = load::median(of_service.split_off(1));
    let ratio = service / bare;
    Ok(vec![Figure {
        name: "annotations created with a key".to_owned(),
        value: format!("{service:.0}/s"),
        baseline: format!("{bare:.0}/s the same rows inserted bare"),
        ratio: format!("{ratio:.2}"),
        aim: Some(("≥ 0.3".to_owned(), ratio >= 0.3)),
    }])
}

fn path(property: impl std::fmt::Display) -> String {
    format!("/api/properties/{property}/annotations")
}

/// Records per second of one round. The connections are opened before the clock starts.
fn keyed(setting: &Setting, round: usize) -> Measured<f64> {
    let (path, body) = (path(&setting.property), format!(r#"{{"date":"2026-11-01","text":"{TEXT}"}}"#));
    let connections = (0..CONNECTIONS).map(|_| Connection::open(setting.server.address, &path, &setting.token));
    let connections: Vec<Connection> = connections.collect::<Measured<_>>()?;
    load::together(connections.into_iter().enumerate().collect(), |(writer, mut connection)| {
        for number in 0..RECORDS {
            connection.create(&path, &setting.token, &format!("{round}-{writer}-{number}"), &body)?;
        }
        Ok(RECORDS)
    })
}

/// Time to write only the rows: the annotation and the replay, in one transaction as in the service.
async fn bare(db: &DatabaseConnection, property: &property::Model, round: usize) -> Measured<Duration> {
    let start = Instant::now();
    let writing = (0..CONNECTIONS).map(|writer| {
        let (db, random, now) = (db.clone(), Random::system(), Clock::system().now());
        let (property, user, path) = (property.id, property.user_id, path(property.id));
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
        // About as long as the encrypted answer.
        body: Set(vec![0; 350]),
        size: Set(350),
        api_version: Set(api::VERSION.to_owned()),
        created_at: Set(now),
        expires_at: Set(now + TimeDelta::hours(24)),
    };
    let transaction = database::begin(db).await?;
    annotation::Entity::insert(annotation).exec_without_returning(&transaction).await?;
    replay::Entity::insert(replay).exec_without_returning(&transaction).await?;
    transaction.commit().await?;
    Ok(())
}
