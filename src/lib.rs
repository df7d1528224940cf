//! Sightline: a search-performance analytics server.
//!
//! `ARCHITECTURE.md` describes the modules and the allowed dependencies.

pub mod addresses;
pub mod admission;
pub mod analytics;
pub mod app;
pub mod cli;
pub mod clock;
pub mod coding;
pub mod compute;
pub mod config;
pub mod demo;
pub mod digest;
pub mod embedded_issuer;
pub mod error;
mod file_lock;
pub mod handlers;
pub mod http;
pub mod identity;
pub mod mail;
pub mod mcp;
pub mod plain_text;
mod private_files;
pub mod random;
pub mod search_engine;
pub mod secrets;
pub mod seo;
pub mod server;
pub mod services;
pub mod simulator;
pub mod store;
pub mod telemetry;
#[cfg(test)]
mod testing;
pub mod urls;
pub mod web;
