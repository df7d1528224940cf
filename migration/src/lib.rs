//! The database schema, one migration per story, oldest first.

pub use sea_orm_migration::prelude::*;

pub mod m0002_identity_provider;
