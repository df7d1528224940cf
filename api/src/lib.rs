//! The contract: traits that declare every operation, the wire types, and the `OpenAPI` document derived from them.
//!
//! This crate knows no database, no HTTP client and no server. A trait method declares everything about an operation;
//! `#[api_trait]` derives the router, the document and the table of operations from it.

pub mod analytics;
pub mod annotations;
pub mod answer;
pub mod billing;
pub mod body;
pub mod classifications;
pub mod discovery;
pub mod document;
pub mod envelope;
pub mod error;
pub mod filters;
pub mod integrations;
pub mod models;
pub mod operation;
pub mod params;
pub mod privacy;
pub mod properties;
pub mod scope;
pub mod security;
mod shape;
pub mod sharing;
pub mod stream;
pub mod system;
pub mod tags;
pub mod team;
pub mod versions;

use std::sync::Arc;

use poem_openapi::Tags;

/// The date of the API version that this contract describes; the value of `X-API-Version`.
pub const VERSION: &str = "2026-09-14";

/// The media type of answers in JSON. It names the encoding, because Windows PowerShell and other programs read letters as Latin-1 without it.
pub(crate) const JSON: &str = "application/json; charset=utf-8";

/// Derives everything that needs all tags from one list: the tags of the document, the table of operations, the trait
/// of the whole contract, and its routes.
macro_rules! tags {
    ($($(#[$doc:meta])* $tag:ident = $module:ident::{$api:ident, $routes:ident};)*) => {
        /// The tags of the document, one trait each.
        #[derive(Tags, Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Tag { $($(#[$doc])* $tag),* }

        /// The names of the tags, in the order in which people read the document: what they come for first.
        pub(crate) const TAGS: &[&str] = &[$(stringify!($tag)),*];

        /// The tables of all traits, in the order of the tags.
        pub(crate) const OPERATIONS: &[&[operation::Operation]] = &[$($module::OPERATIONS),*];

        /// Implements the whole contract.
        pub trait Api: $($module::$api +)* {}

        impl<T: $($module::$api +)*> Api for T {}

        /// The routes of every trait, for one implementation of them all.
        pub(crate) fn all_routes<T: Api>(api: &Arc<T>) -> ($($module::$routes<T>,)*) {
            ($($module::$routes(api.clone()),)*)
        }
    };
}

tags! {
    /// Sites that a user has connected, and the selection of tracked ones.
    Properties = properties::{PropertiesApi, PropertiesRoutes};
    /// Analyses of a property's search data.
    Analytics = analytics::{AnalyticsApi, AnalyticsRoutes};
    /// Branded keywords, segments of pages and topic clusters of queries.
    Classifications = classifications::{ClassificationsApi, ClassificationsRoutes};
    /// Dated notes on a property.
    Annotations = annotations::{AnnotationsApi, AnnotationsRoutes};
    /// Saved sets of filter conditions.
    Filters = filters::{FiltersApi, FiltersRoutes};
    /// A user's own labels on properties.
    Tags = tags::{TagsApi, TagsRoutes};
    /// Public read-only links to a property's dashboard.
    Sharing = sharing::{SharingApi, SharingRoutes};
    /// Access of other users to a user's properties.
    Team = team::{TeamApi, TeamRoutes};
    /// The search-engine account and the two SEO data providers.
    Integrations = integrations::{IntegrationsApi, IntegrationsRoutes};
    /// The plan catalogue and the caller's subscription.
    Billing = billing::{BillingApi, BillingRoutes};
    /// Export and deletion of a user's data.
    Privacy = privacy::{PrivacyApi, PrivacyRoutes};
    /// The index of the API, the starting point for clients.
    Discovery = discovery::{DiscoveryApi, DiscoveryRoutes};
    /// Health, connection health and feature flags.
    System = system::{SystemApi, SystemRoutes};
}
