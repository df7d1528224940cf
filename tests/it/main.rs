//! Behaviour through the public API, by actors, over real HTTP. One binary, so that it links once.

#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps nothing")]

mod abuse;
mod actor;
mod analyses;
mod app;
mod architecture;
mod bad_input;
mod breakdowns;
mod commands;
mod connections;
mod contract;
mod coverage;
mod credentials;
mod documents;
mod examples;
mod faults;
mod filters;
mod headers;
mod module_graph;
mod numbers;
mod once;
mod oracle;
mod people;
mod portable;
mod postgres;
mod privacy;
mod properties;
mod rate_limits;
mod records;
mod restart;
