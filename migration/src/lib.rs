//! The database schema: one migration per topic, oldest first.

pub use sea_orm_migration::MigratorTrait;
use sea_orm_migration::prelude::*;

mod m0001_people_and_properties;
mod m0002_identity_provider;
mod m0003_classifications;
mod m0004_notes_and_sharing;
mod m0005_replays;
mod m0006_text_on_postgres;
mod m0007_sessions_without_profile;
mod m0008_when_claims_were_stated;
mod m0009_what_quotas_count;
mod m0010_grants_in_use;
mod m0011_annotations_counted;
mod m0012_local_accounts;
mod m0013_search_accounts;
mod m0014_connected_applications;
mod m0015_clients_and_keys;
mod m0016_provider_connections;
mod m0017_subscriptions;
mod m0018_upstream_sign_in;
mod m0019_privacy;
mod m0021_one_table_of_classifications;
mod m0022_consents_by_address;
mod m0023_text_on_postgres_again;
mod m0024_versions_of_replays;
mod m0025_uses_of_tools;
mod m0026_authors_of_classifications;
mod m0027_scopes;
mod m0028_former_trials;
mod m0029_families_of_refresh_tokens;
mod m0030_what_was_deleted;
mod schema;

/// Migrates a database to the schema that this program expects.
pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_people_and_properties::Migration),
            Box::new(m0002_identity_provider::Migration),
            Box::new(m0003_classifications::Migration),
            Box::new(m0004_notes_and_sharing::Migration),
            Box::new(m0005_replays::Migration),
            Box::new(m0006_text_on_postgres::Migration),
            Box::new(m0007_sessions_without_profile::Migration),
            Box::new(m0008_when_claims_were_stated::Migration),
            Box::new(m0009_what_quotas_count::Migration),
            Box::new(m0010_grants_in_use::Migration),
            Box::new(m0011_annotations_counted::Migration),
            Box::new(m0012_local_accounts::Migration),
            Box::new(m0013_search_accounts::Migration),
            Box::new(m0014_connected_applications::Migration),
            Box::new(m0015_clients_and_keys::Migration),
            Box::new(m0016_provider_connections::Migration),
            Box::new(m0017_subscriptions::Migration),
            Box::new(m0018_upstream_sign_in::Migration),
            Box::new(m0019_privacy::Migration),
            Box::new(m0021_one_table_of_classifications::Migration),
            Box::new(m0022_consents_by_address::Migration),
            Box::new(m0023_text_on_postgres_again::Migration),
            Box::new(m0024_versions_of_replays::Migration),
            Box::new(m0025_uses_of_tools::Migration),
            Box::new(m0026_authors_of_classifications::Migration),
            Box::new(m0027_scopes::Migration),
            Box::new(m0028_former_trials::Migration),
            Box::new(m0029_families_of_refresh_tokens::Migration),
            Box::new(m0030_what_was_deleted::Migration),
        ]
    }
}
