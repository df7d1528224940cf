//! Sightline: a search-performance analytics server.
//!
//! `ARCHITECTURE.md` describes the modules and the allowed dependencies.

pub mod admission;
pub mod app;
pub mod cli;
pub mod config;
#[cfg_attr(not(feature = "demo"), path = "demo/absent.rs")]
pub mod demo;
pub mod error;
pub mod handlers;
pub mod http;
pub mod mcp;
pub mod server;
pub mod services;
#[cfg(test)]
mod testing;
pub mod web;
