//! Tests of writes while a disk or a connection to the database fails: what was acknowledged is there for another process, what was
//! refused is there once or not at all, and the next write is kept.

#[cfg(target_os = "linux")]
mod files;
mod sessions;

use poem::http::Method;
use sea_orm::{ConnectionTrait as _, DatabaseConnection, Statement};
use serde_json::json;

use crate::support::actor::{Actor, Answer};

/// Writes annotations of one property.
struct Writer {
    owner: Actor,
    path: String,
    /// The database, opened by this process and not by the service.
    db: DatabaseConnection,
}

impl Writer {
    async fn new(owner: Actor, db: DatabaseConnection) -> Self {
        let path = format!("/api/properties/{}/annotations", owner.property("northmoor").await);
        Self { owner, path, db }
    }

    /// Adds the annotation `text` under a key of its own.
    async fn add(&self, text: &str) -> Answer {
        let headers = [("content-type", "application/json"), ("idempotency-key", text)];
        let body = json!({ "date": "2026-11-01", "text": text }).to_string();
        self.owner.send(Method::POST, &self.path, Some(body), &headers).await
    }

    /// The texts of the stored annotations that begin with `text`.
    async fn stored(&self, text: &str) -> Vec<String> {
        let ask = "SELECT text FROM annotation WHERE text LIKE $1 ORDER BY text";
        let backend = self.db.get_database_backend();
        let ask = Statement::from_sql_and_values(backend, ask, [format!("{text}%").into()]);
        let rows = self.db.query_all_raw(ask).await.unwrap();
        rows.iter().map(|row| row.try_get("", "text").unwrap()).collect()
    }

    /// Adds `text` during a fault, which has ended when `end` returns. Checks the answer, what is stored, and the writes after it.
    async fn check(&self, text: &str, end: impl FnOnce()) {
        let answer = self.add(text).await;
        end();
        // On PostgreSQL one statement finds out that the connections were lost.
        self.owner.get(&self.path).await;
        if answer.status == 503 {
            assert_eq!((answer.code(), answer.header("retry-after")), ("unavailable", "5"), "{text}");
            assert!(self.stored(text).await.len() <= 1, "{text}");
        } else {
            answer.expect(201);
            assert_eq!(self.stored(text).await, [text], "it was acknowledged");
        }
        let next = format!("{text}, next");
        self.add(&next).await.expect(201);
        self.add(text).await.expect(201);
        assert_eq!(self.stored(text).await, [text, next.as_str()]);
    }
}
