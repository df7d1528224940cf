//! What is kept: the database's connection, and rate-limit counters in the process.

pub mod database;
pub mod rate_limit;
