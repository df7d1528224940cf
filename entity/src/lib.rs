//! The tables of the service's own records, one file each, with finders that are scoped to an owner.

pub mod annotation;
pub mod authorization_code;
pub mod branded_keyword;
pub mod filter_preset;
pub mod oauth_client;
pub mod oauth_grant;
pub mod property;
pub mod property_preference;
pub mod property_tag;
pub mod refresh_token;
pub mod revocation;
pub mod search_account;
pub mod segment;
pub mod session;
pub mod share_link;
pub mod signing_key;
pub mod tag;
pub mod team_grant;
pub mod team_grant_property;
pub mod topic_cluster;
pub mod user;

/// Folds a name, keyword or e-mail address for comparison: surrounding space and differences of case do not count.
///
/// Unique indices stand on folded columns, because the databases disagree about case beyond ASCII.
#[must_use]
pub fn key(text: &str) -> String {
    text.trim().to_lowercase()
}
