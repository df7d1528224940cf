//! Sightline: a search-performance analytics server.
//!
//! `ARCHITECTURE.md` describes the modules and the allowed dependencies.

pub mod admission;
pub mod app;
pub mod cli;
pub mod config;
pub mod demo;
pub mod embedded_issuer;
pub mod error;
pub mod handlers;
pub mod http;
pub mod identity;
pub mod mail;
pub mod mcp;
pub mod server;
pub mod services;
pub mod store;
#[cfg(test)]
mod testing;
pub mod web;
