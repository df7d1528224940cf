//! The work of the product, independent of HTTP: one file or folder per subject, with free functions that take everything they use
//! as arguments. Rows of the database become types of the API here, by a private function beside the service that needs it.

pub mod access;
pub mod analyses;
pub mod annotations;
pub mod applications;
pub mod audit;
pub mod billing;
pub mod change;
pub mod classifications;
pub mod connections;
pub mod drift;
pub mod filters;
pub mod health;
pub mod integrations;
pub mod patience;
pub mod privacy;
pub mod properties;
pub mod replays;
pub mod search_accounts;
pub mod sharing;
pub mod system;
pub mod system_annotations;
pub mod tags;
pub mod team;
pub mod users;
pub mod waiting;
pub mod warming;
