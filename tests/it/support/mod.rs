//! Test support: separate apps, callers, and validators of responses.

pub mod actor;
pub mod app;
pub mod contract;
pub mod oracle;
pub mod postgres;
