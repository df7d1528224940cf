//! What is kept: the database's connection and transactions, and rate-limit counters in the process.

pub mod database;
#[cfg(test)]
#[path = "../../tests/it/postgres.rs"]
mod postgres;
pub mod rate_limit;
pub mod unit_of_work;
