//! What the product does, free of HTTP: one file per subject, free functions whose arguments name what they touch.

pub mod access;
pub mod accounts;
pub mod analyses;
pub mod classifications;
pub mod csv_file;
pub mod headlines;
pub mod health;
pub mod owned;
pub mod people;
pub mod plans;
pub mod properties;
pub mod question;
pub mod rendered;
pub mod search_data;
pub mod seed;
pub mod subscriptions;
pub mod sync;
pub mod tracking;

#[cfg(test)]
pub(crate) mod world;
