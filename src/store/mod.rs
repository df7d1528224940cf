//! Storage: the database with its connections and transactions, and in-process rate limits and requests in flight.

pub mod bounds;
pub mod commits;
pub mod database;
#[cfg(test)]
#[path = "../../tests/it/support/postgres.rs"]
mod postgres;
pub mod rate_limit;
pub mod remains;
pub mod resealing;
pub mod unit_of_work;
