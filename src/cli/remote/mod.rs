//! The commands that ask a running server, as any other client of it does.

pub mod api;
mod browser;
mod device;
pub mod error;
mod http;
pub mod login;
pub mod logout;
mod numbers;
pub mod report;
pub mod sites;
mod stored;
