//! Sightline: a search-performance analytics server.
//!
//! It joins the crates of the workspace. `ARCHITECTURE.md` names them, their folders and the allowed dependencies.

pub mod admission;
pub mod app;
mod caller_limits;
mod calls;
pub mod cli;
pub mod config;
#[cfg_attr(not(feature = "demo"), path = "demo/absent.rs")]
mod demo;
pub mod error;
mod handlers;
mod http;
pub mod mcp;
pub mod operations;
pub mod server;
pub mod services;
#[cfg(test)]
mod testing;
pub mod web;
