//! Tests of behaviour through the public API, over real HTTP. One binary, so that it links once.

#![expect(clippy::unwrap_used, reason = "a test fails where it unwraps nothing")]
#![expect(clippy::print_stdout, reason = "some tests say what they measured")]

mod abuse;
mod account;
mod accounts;
mod analytics;
mod architecture;
mod bad_input;
mod billing;
mod clock_jumps;
mod commands;
mod connections;
mod cors;
mod coverage;
mod credentials;
mod dashboard;
mod databases;
mod defaults;
mod deploy;
mod discovery;
mod disks;
mod documents;
mod drift;
mod edges;
mod embedded_issuer;
mod endless;
mod examples;
mod faults;
mod first_look;
mod first_request;
mod forms;
mod guides;
mod habits;
mod headers;
mod idempotency;
mod integrations;
mod introspection;
mod linked;
mod log_lines;
mod logins;
mod mcp;
mod methods;
mod metrics;
mod module_graph;
mod monitoring;
mod network;
mod not_counted;
mod operators;
mod outages;
mod pages;
mod parameters;
mod people;
mod portfolio;
mod privacy;
mod properties;
mod races;
mod rate_limits;
mod records;
mod replicas;
mod restart;
mod rights;
mod scopes;
mod search_accounts;
mod statements;
mod support;
mod system;
mod traces;
mod versions;
mod warming;
mod wire;
mod withdrawals;
mod world;

/// The allocator of the program, which is faster than the system's.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
