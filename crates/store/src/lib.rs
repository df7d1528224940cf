//! Storage: the database with its connections and transactions, and in-process rate limits and requests in flight.

pub mod commits;
pub mod database;
mod error;
pub mod rate_limit;
pub mod remains;
pub mod resealing;
pub mod unit_of_work;

pub use error::Error;
