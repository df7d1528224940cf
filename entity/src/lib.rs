//! The tables of the service's own records, one file each, with finders that are scoped to an owner.

pub mod authorization_code;
pub mod oauth_client;
pub mod oauth_grant;
pub mod refresh_token;
pub mod revocation;
pub mod session;
pub mod signing_key;
