//! What the product does, free of HTTP: one file per subject, free functions whose arguments name what they touch.

pub mod access;
pub mod accounts;
pub mod addresses;
pub mod analyses;
pub mod annotations;
pub mod branded_keywords;
pub mod csv_file;
pub mod filter_presets;
pub mod headlines;
pub mod health;
pub mod people;
pub mod plans;
pub mod predicate;
pub mod properties;
pub mod question;
pub mod records;
pub mod rendered;
pub mod replays;
pub mod saved_conditions;
pub mod search_data;
pub mod seed;
pub mod segments;
pub mod share_links;
pub mod subscriptions;
pub mod sync;
pub mod tags;
pub mod team;
pub mod topic_clusters;
pub mod tracking;

#[cfg(test)]
pub(crate) mod world;
