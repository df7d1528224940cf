//! The contract: traits that declare every operation, the wire types, and the `OpenAPI` document made of them.
//!
//! Nothing here knows a database, an HTTP client or the server. A trait method carries everything there is to say about
//! an operation; the router, the document and the table of operations are derived from it by `#[api_trait]`.

pub mod analytics;
pub mod annotations;
pub mod answer;
pub mod billing;
pub mod body;
pub mod classifications;
pub mod discovery;
pub mod document;
pub mod error;
pub mod filters;
pub mod integrations;
pub mod models;
pub mod operation;
pub mod params;
pub mod privacy;
pub mod properties;
pub mod security;
mod shape;
pub mod sharing;
pub mod system;
pub mod tags;
pub mod team;

use poem_openapi::Tags;

/// The date of the API version that this contract describes; the value of `X-API-Version`.
pub const VERSION: &str = "2026-09-14";

/// The tags of the document, one trait each.
#[derive(Tags, Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Tag {
    /// Where a client starts: the index of the API.
    Discovery,
    /// Health, connection health and feature flags.
    System,
    /// The plan catalogue and the caller's subscription.
    Billing,
    /// The sites a user has connected, and which of them are tracked.
    Properties,
    /// What search data says about a property.
    Analytics,
    /// Branded keywords, segments of pages and topic clusters of queries.
    Classifications,
    /// Dated notes on a property.
    Annotations,
    /// A user's own labels on properties.
    Tags,
    /// Public read-only links to a property's dashboard.
    Sharing,
    /// Who else may see or edit a user's properties.
    Team,
    /// Saved sets of filter conditions.
    Filters,
    /// The search-engine account and the two SEO data providers.
    Integrations,
    /// Export and deletion of a user's data.
    Privacy,
}

/// The tables of all traits, in the order of the tags.
pub(crate) const OPERATIONS: &[&[operation::Operation]] = &[
    discovery::OPERATIONS,
    system::OPERATIONS,
    billing::OPERATIONS,
    properties::OPERATIONS,
    analytics::OPERATIONS,
    classifications::OPERATIONS,
    annotations::OPERATIONS,
    tags::OPERATIONS,
    sharing::OPERATIONS,
    team::OPERATIONS,
    filters::OPERATIONS,
    integrations::OPERATIONS,
    privacy::OPERATIONS,
];
