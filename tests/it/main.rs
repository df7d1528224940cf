//! Behaviour through the public API, by actors, over real HTTP. One binary, so that it links once.

mod actor;
mod app;
mod architecture;
mod contract;
mod faults;
mod filters;
mod numbers;
mod oracle;
mod performance;
mod privacy;
