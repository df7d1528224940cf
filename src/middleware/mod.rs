//! What every request passes before and after the operations.
//!
//! From the outside in: [`correlation`], [`client_address`], [`compression`], [`standing_headers`], [`api_version`], [`envelope`], [`body_limit`],
//! [`methods`], [`authenticate`], [`rate_limit`], [`property_access`], the other half of [`body_limit`], [`conditional`]. Everything inside the envelope refuses with an error; the envelope alone writes error bodies.

pub mod api_version;
pub mod authenticate;
pub mod body_limit;
pub mod client_address;
pub mod compression;
pub mod conditional;
pub mod correlation;
pub mod envelope;
pub mod failures;
pub mod methods;
pub mod property_access;
pub mod rate_limit;
pub mod refusal;
pub mod standing_headers;
pub mod writes;
