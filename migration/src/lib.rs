//! The database schema: one migration per area, in the order of foreign keys.

pub use schema::TABLES;
use sea_orm_migration::prelude::*;
pub use sea_orm_migration::{MigrationName, MigrationTrait, MigratorTrait, SchemaManager};

mod m0001_people;
mod m0002_properties;
mod m0003_records;
mod m0004_issuer;
mod m0005_operations;
mod m0006_attempts;
mod m0007_device_codes;
mod m0008_share_links;
mod m0009_token_exchanges;
mod m0010_client_secrets;
mod m0011_room_of_annotations;
mod m0012_replicas;
mod m0013_indices;
mod m0014_opened_pages;
mod schema;

/// Migrates a database to the schema that this program expects.
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_people::Migration),
            Box::new(m0002_properties::Migration),
            Box::new(m0003_records::Migration),
            Box::new(m0004_issuer::Migration),
            Box::new(m0005_operations::Migration),
            Box::new(m0006_attempts::Migration),
            Box::new(m0007_device_codes::Migration),
            Box::new(m0008_share_links::Migration),
            Box::new(m0009_token_exchanges::Migration),
            Box::new(m0010_client_secrets::Migration),
            Box::new(m0011_room_of_annotations::Migration),
            Box::new(m0012_replicas::Migration),
            Box::new(m0013_indices::Migration),
            Box::new(m0014_opened_pages::Migration),
        ]
    }
}
