//! What every request passes before and after the operations.
//!
//! From the outside in: [`operation`], [`request_id`], [`client_address`], [`compression`], [`headers`], [`version`], [`errors`], [`body`],
//! [`methods`], [`authenticate`], [`rate_limit`], [`access`], the other half of [`body`], [`conditional`]. Everything inside the
//! envelope refuses with an error; the envelope alone writes error bodies.

pub mod access;
pub mod authenticate;
pub mod body;
pub mod client_address;
pub mod compression;
pub mod conditional;
pub mod error_map;
pub mod errors;
pub mod failures;
pub mod headers;
pub mod idempotency;
pub mod methods;
pub mod operation;
pub mod rate_limit;
pub mod request_id;
pub mod version;
