//! Features of a plan.

/// A feature that only some plans include.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Feature {
    /// Public links to a dashboard.
    ShareLinks,
    /// Grants to other people.
    Team,
    /// The tool-protocol endpoint.
    ToolEndpoint,
    /// Keyword research and backlinks.
    SeoProviders,
}
