//! Metrics of the database.

use std::time::Duration;

use prometheus_client::{metrics::histogram::Histogram, registry::Registry};

use super::requests::histogram;

/// Times statements, and what writes wait before their first one.
#[derive(Debug, Clone)]
pub struct DatabaseMeter {
    statements: Histogram,
    waits: Histogram,
}

impl Default for DatabaseMeter {
    fn default() -> Self {
        Self { statements: histogram(), waits: histogram() }
    }
}

impl DatabaseMeter {
    /// Adds the metrics to `registry`.
    pub fn register(&self, registry: &mut Registry) {
        let statements = "Time from a statement to its result";
        registry.register("database_statement_duration_seconds", statements, self.statements.clone());
        let waits = "Time until the transaction of a write begins, with the wait for a connection";
        registry.register("database_wait_seconds", waits, self.waits.clone());
    }

    /// Notes the time of a statement.
    pub fn note_statement(&self, took: Duration) {
        self.statements.observe(took.as_secs_f64());
    }

    /// Notes the time until a transaction began.
    pub fn note_wait(&self, took: Duration) {
        self.waits.observe(took.as_secs_f64());
    }
}
