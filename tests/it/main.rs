//! Tests of behaviour through the public API, over real HTTP. One binary, so that it links once.

#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps nothing")]

mod abuse;
mod account;
mod accounts;
mod analytics;
mod architecture;
mod bad_input;
mod billing;
mod commands;
mod connections;
mod cors;
mod coverage;
mod credentials;
mod databases;
mod discovery;
mod documents;
mod examples;
mod faults;
mod first_request;
mod headers;
mod idempotency;
mod integrations;
mod introspection;
mod linked;
mod log_lines;
mod mcp;
mod metrics;
mod module_graph;
mod operators;
mod pages;
mod parameters;
mod people;
mod privacy;
mod properties;
mod rate_limits;
mod records;
mod restart;
mod scopes;
mod search_accounts;
mod statements;
mod support;
mod system;
mod versions;
mod wire;
mod withdrawals;
