//! What is kept: the database's connection and transactions, and in the process rate-limit counters and requests under way.

pub mod commits;
pub mod database;
pub mod in_flight;
pub mod places;
#[cfg(test)]
#[path = "../../tests/it/support/postgres.rs"]
mod postgres;
pub mod rate_limit;
pub mod unit_of_work;
