//! The database schema, one migration per story, oldest first.

pub use sea_orm_migration::prelude::*;
