//! What tests are made of: an app of their own, people who call it, and judges of what it answers.

pub mod actor;
pub mod app;
pub mod contract;
pub mod oracle;
pub mod postgres;
