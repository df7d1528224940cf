//! The endpoints of both providers that are simulated, and their paths.

/// An endpoint of provider A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderA {
    /// The account: balance, limits and prices. Free.
    UserData,
    /// Volume and cost per click, as advertisers see them.
    SearchVolume,
    /// All figures of given keywords.
    KeywordOverview,
    /// Keywords that contain a seed keyword.
    KeywordSuggestions,
    /// Keywords searched for together with a seed keyword.
    RelatedKeywords,
    /// Difficulty alone.
    BulkKeywordDifficulty,
    /// Counts of all backlinks.
    BacklinksSummary,
    /// Single backlinks.
    Backlinks,
    /// Domains that link.
    ReferringDomains,
    /// Anchor texts.
    Anchors,
    /// Counts of backlinks by month.
    BacklinksHistory,
}

impl ProviderA {
    /// All endpoints.
    pub const ALL: [Self; 11] = [
        Self::UserData,
        Self::SearchVolume,
        Self::KeywordOverview,
        Self::KeywordSuggestions,
        Self::RelatedKeywords,
        Self::BulkKeywordDifficulty,
        Self::BacklinksSummary,
        Self::Backlinks,
        Self::ReferringDomains,
        Self::Anchors,
        Self::BacklinksHistory,
    ];

    /// The path below `/provider-a/`.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::UserData => "v3/appendix/user_data",
            Self::SearchVolume => "v3/keywords_data/google_ads/search_volume/live",
            Self::KeywordOverview => "v3/dataforseo_labs/google/keyword_overview/live",
            Self::KeywordSuggestions => "v3/dataforseo_labs/google/keyword_suggestions/live",
            Self::RelatedKeywords => "v3/dataforseo_labs/google/related_keywords/live",
            Self::BulkKeywordDifficulty => "v3/dataforseo_labs/google/bulk_keyword_difficulty/live",
            Self::BacklinksSummary => "v3/backlinks/summary/live",
            Self::Backlinks => "v3/backlinks/backlinks/live",
            Self::ReferringDomains => "v3/backlinks/referring_domains/live",
            Self::Anchors => "v3/backlinks/anchors/live",
            Self::BacklinksHistory => "v3/backlinks/history/live",
        }
    }

    /// The endpoint at `path`, which begins after `/provider-a/`.
    #[must_use]
    pub fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|call| call.path() == path.trim_end_matches('/'))
    }
}

/// An endpoint of provider B.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProviderB {
    /// The subscription and the units used. Free.
    LimitsAndUsage,
    /// All figures of given keywords.
    KeywordOverview,
    /// Keywords that contain given words.
    MatchingTerms,
    /// Keywords that rank or are mentioned together with given ones.
    RelatedTerms,
    /// Keywords that begin with given words.
    SearchSuggestions,
    /// Volume of one keyword by month.
    VolumeHistory,
    /// Counts of all backlinks.
    BacklinksStats,
    /// The rating of a domain.
    DomainRating,
    /// Single backlinks.
    AllBacklinks,
    /// Domains that link.
    Refdomains,
    /// Keywords that a site ranks for.
    OrganicKeywords,
}

impl ProviderB {
    /// All endpoints.
    pub const ALL: [Self; 11] = [
        Self::LimitsAndUsage,
        Self::KeywordOverview,
        Self::MatchingTerms,
        Self::RelatedTerms,
        Self::SearchSuggestions,
        Self::VolumeHistory,
        Self::BacklinksStats,
        Self::DomainRating,
        Self::AllBacklinks,
        Self::Refdomains,
        Self::OrganicKeywords,
    ];

    /// The path below `/provider-b/`.
    #[must_use]
    pub fn path(self) -> &'static str {
        match self {
            Self::LimitsAndUsage => "v3/subscription-info/limits-and-usage",
            Self::KeywordOverview => "v3/keywords-explorer/overview",
            Self::MatchingTerms => "v3/keywords-explorer/matching-terms",
            Self::RelatedTerms => "v3/keywords-explorer/related-terms",
            Self::SearchSuggestions => "v3/keywords-explorer/search-suggestions",
            Self::VolumeHistory => "v3/keywords-explorer/volume-history",
            Self::BacklinksStats => "v3/site-explorer/backlinks-stats",
            Self::DomainRating => "v3/site-explorer/domain-rating",
            Self::AllBacklinks => "v3/site-explorer/all-backlinks",
            Self::Refdomains => "v3/site-explorer/refdomains",
            Self::OrganicKeywords => "v3/site-explorer/organic-keywords",
        }
    }

    /// The endpoint at `path`, which begins after `/provider-b/`.
    #[must_use]
    pub fn at(path: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|call| call.path() == path.trim_end_matches('/'))
    }
}
