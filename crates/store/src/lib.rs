//! Storage: the database's connections and transactions, migrations at start, backups and locks of the file.

pub mod backup;
pub mod database;
pub mod database_file;
pub mod erasure;
mod error;
pub mod expired;
mod failures;
mod first_connection;
pub mod locks;
pub mod postgres;
pub mod resealing;
pub mod rights;
pub mod schema;
mod sqlite;
pub mod transaction;
pub mod unavailable;
pub mod unit_of_work;
pub mod write_probe;

pub use error::Error;
