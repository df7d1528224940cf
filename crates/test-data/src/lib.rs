//! Databases, people and times for tests.

#![expect(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test that lacks its database fails")]

pub mod postgres;

use chrono::{DateTime, Utc};
use entity::user;
use sea_orm::DatabaseConnection;
use store::{
    database::{OpenDatabase, open},
    schema::migrate,
};
use uuid::Uuid;

/// The time of tests that need only one.
#[must_use]
pub fn noon() -> DateTime<Utc> {
    DateTime::from_timestamp(1_790_000_000, 0).unwrap()
}

/// A person of the `pro` plan who is not stored yet.
#[must_use]
pub fn person(name: &str) -> user::Model {
    user::Model {
        id: Uuid::nil(),
        issuer: "https://issuer.test".into(),
        subject: format!("demo-{name}"),
        email: Some(format!("{name}@demo.test")),
        email_key: Some(format!("{name}@demo.test")),
        email_verified: true,
        email_stated_at: Some(noon()),
        name: None,
        name_stated_at: None,
        plan: user::Plan::Pro,
        plan_state: user::PlanState::Active,
        period_starts_at: None,
        period_ends_at: None,
        trial_ends_at: None,
        created_at: noon(),
        updated_at: noon(),
    }
}

/// An empty database with the full schema: in memory, or on the `PostgreSQL` server of [`postgres`].
pub async fn store() -> OpenDatabase {
    if let Some(fresh) = postgres::fresh().await {
        let opened = open(&fresh.url, 2).await.unwrap();
        // The end of the test is not known here, so a later run drops the database.
        std::mem::forget(fresh);
        return opened;
    }
    let opened = open("sqlite::memory:", 1).await.unwrap();
    migrate(&opened.writer).await.unwrap();
    opened
}

/// The write connection of [`store()`].
pub async fn database() -> DatabaseConnection {
    store().await.writer
}
