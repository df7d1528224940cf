//! Test support: separate apps, callers, and validators of responses.

pub mod actor;
pub mod app;
pub mod application;
pub mod assistant;
pub mod browser;
pub mod class;
pub mod collector;
pub mod contract;
pub mod cookies;
pub mod endless;
pub mod engine;
pub mod issuer;
pub mod oracle;
pub mod redis;
pub mod relay;
pub mod seeds;
pub mod signed_in;
pub mod whole;
