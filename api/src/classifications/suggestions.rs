//! The list of branded keywords, and suggestions of more.

use poem_openapi::{Enum, Object};

use super::BrandedKeyword;
use crate::{
    answer::ListMeta,
    models::{Freshness, Metrics, Timestamp, Window},
    params::{Paging, QueryParams},
};

/// The parameter of the list.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams)]
pub struct BrandedKeywordsParams {
    /// `true` adds `meta.suggestions`: terms that may be names of the brand, from the name of the site and from its navigational
    /// queries in web search in the last 28 final days.
    #[param(default = "false", example = "true")]
    pub suggest: bool,
    /// The page of the list.
    #[param(flatten)]
    pub paging: Paging,
}

/// The branded keywords of a property.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct BrandedKeywordsAnswer {
    /// The keywords, ordered by keyword.
    #[oai(validator(max_items = 200))]
    pub data: Vec<BrandedKeyword>,
    /// Place of the page in the list, and the suggestions.
    pub meta: BrandedKeywordsMeta,
}

/// Place of the page in the list, suggestions of branded keywords, and the data behind them.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BrandedKeywordsMeta {
    /// Place of the page in the list.
    #[oai(flatten)]
    pub list: ListMeta,
    /// Terms to look at, the most clicks first. No keyword of the property finds them. Absent unless asked for.
    #[oai(validator(max_items = 20))]
    pub suggestions: Option<Vec<BrandSuggestion>>,
    /// Queries that were read for suggestions; absent if none could be read.
    pub queries: Option<QueriesRead>,
    /// Reason why queries could not be read, so that the suggestions are from the name of the site alone. Absent if they were read.
    pub unread: Option<Unread>,
}

/// Reason why queries could not be read: the error that an analysis would answer.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(skip_serializing_if_is_none)]
pub struct Unread {
    /// Stable error code for programs.
    #[oai(validator(max_length = 64, pattern = "^[a-z][a-z0-9_]*$"))]
    pub code: String,
    /// The way out.
    #[oai(validator(max_length = 2000))]
    pub hint: Option<String>,
}

/// The queries behind suggestions. Anonymised queries are not among them.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct QueriesRead {
    /// Window of the queries.
    pub window: Window,
    /// Freshness of the data.
    pub freshness: Freshness,
    /// Time when the oldest part was read from the search engine.
    pub cached_at: Timestamp,
    /// Number of queries.
    pub rows: u64,
    /// True if the list was cut at the fetch ceiling of 50,000.
    pub rows_capped: bool,
}

/// A term that may be a name of the brand.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct BrandSuggestion {
    /// The term, as a keyword to add.
    #[oai(validator(min_length = 1, max_length = 100))]
    pub keyword: String,
    /// Reason why it is suggested.
    pub reason: SuggestionReason,
    /// The queries that contain it; absent if there are none.
    pub evidence: Option<BrandEvidence>,
}

/// Reason why a term is suggested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum)]
#[oai(rename_all = "snake_case")]
pub enum SuggestionReason {
    /// It is the name of the site: the label of its domain, as people write it.
    SiteName,
    /// It is the name of the site but for one or two letters, in a navigational query.
    ResemblesSiteName,
    /// It is a navigational query at least half of whose clicks land on the home page.
    LandsOnHomePage,
}

/// The evidence of a term. The metrics cover the queries that contain it.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct BrandEvidence {
    /// Metrics of the queries.
    #[oai(flatten)]
    pub metrics: Metrics,
    /// CTR that the published curve expects at this position; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub expected_ctr: Option<f64>,
    /// Share of the clicks that land on the home page, 0 to 1; null without clicks.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub home_page_share: Option<f64>,
    /// Number of queries that contain it.
    pub queries: u64,
    /// The query with the most clicks among them.
    pub example_query: String,
}
