//! Pages that compete for the same query.

use poem_openapi::{Enum, Object};
use serde::Serialize;

use super::AnswerMeta;
use crate::{
    models::{RowLimit, Slice, TableCoverage, WindowParams},
    params::{Decimal, QueryParams, Whole},
};

/// Parameters of the cannibalization analysis.
#[derive(Debug, Clone, PartialEq, QueryParams, Serialize)]
pub struct CannibalizationParams {
    /// The window.
    #[param(flatten)]
    pub window: WindowParams,
    /// The slice.
    #[param(flatten)]
    pub slice: Slice,
    /// The fewest impressions of a query, counted `byProperty`.
    #[param(default = "50", example = "50")]
    pub min_query_impressions: Whole<1, 1_000_000>,
    /// The fewest impressions of a page for a query.
    #[param(default = "10", example = "10")]
    pub min_page_impressions: Whole<1, 1_000_000>,
    /// The least share of a query's page impressions that a page must have.
    #[param(default = "0.1", example = "0.1")]
    pub min_page_share: Decimal<0, 1>,
    /// The most that the largest page's share may be; above it the query has a clear owner.
    #[param(default = "0.8", example = "0.8")]
    pub max_top_share: Decimal<0, 1>,
    /// Whether branded queries are analysed too. Several results for a brand are normal, so they are left out where the
    /// property has branded keywords, unless `classification=branded` asks for them.
    #[param(default = "false", example = "false")]
    pub include_branded: bool,
    /// The most queries to answer with.
    #[param(default = "500", example = "100")]
    pub limit: RowLimit,
}

/// Candidates for cannibalization.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CannibalizationAnswer {
    /// What was found.
    pub data: Cannibalization,
    /// What the answer says about itself.
    pub meta: CannibalizationMeta,
}

/// What was found: candidates to look at, not verdicts.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Cannibalization {
    /// Queries that were analysed: those of which both the query's own row and its pages are known.
    pub queries_analysed: u64,
    /// Queries that qualified, those cut by `limit` included.
    pub queries_found: u64,
    /// Highest priority first, then by query.
    #[oai(validator(max_items = 5000))]
    pub queries: Vec<CannibalizedQuery>,
}

/// A query for which several pages of the property appear.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CannibalizedQuery {
    /// The query.
    pub query: String,
    /// The query's own clicks, counted `byProperty`: a results page once.
    pub clicks: u64,
    /// The query's own impressions, counted `byProperty`: its demand.
    pub impressions: u64,
    /// Clicks over all its pages, counted `byPage`.
    pub page_clicks: u64,
    /// Impressions over all its pages, counted `byPage`; the base of every share.
    pub page_impressions: u64,
    /// Pages that appeared for it, those below the thresholds included.
    pub pages_known: u64,
    /// Concentration: the sum of the squared impression shares of all its pages, 1 for a single page.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub hhi: f64,
    /// `1 − hhi`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub split_score: f64,
    /// The largest impression share of a page.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub top_share: f64,
    /// `1 − topShare`: what all other pages have together.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub secondary_share: f64,
    /// Worst position less best position of the pages listed.
    #[oai(validator(minimum(value = "0")))]
    pub position_spread: f64,
    /// `impressions × (1 − topShare)`: impressions on which the strongest page was not the one counted.
    #[oai(validator(minimum(value = "0")))]
    pub priority: f64,
    /// The page that looks like the one to keep.
    pub suggested_owner: SuggestedOwner,
    /// The pages that qualify, most impressions first.
    #[oai(validator(min_items = 2))]
    pub pages: Vec<CompetingPage>,
}

/// Of the pages listed, the one with the most clicks, then the most impressions, then the best position.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct SuggestedOwner {
    /// The page's URL.
    pub page: String,
    /// How far the numbers agree.
    pub confidence: OwnerConfidence,
}

/// How far clicks, impressions and position agree on an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum OwnerConfidence {
    /// It leads alone in all three.
    High,
    /// It leads alone in two.
    Medium,
    /// It leads alone in one or none.
    Low,
}

/// A page that competes for a query.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CompetingPage {
    /// The page's URL.
    pub page: String,
    /// Clicks for this query.
    pub clicks: u64,
    /// Impressions for this query.
    pub impressions: u64,
    /// Clicks ÷ impressions.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub ctr: f64,
    /// Impression-weighted average position.
    #[oai(validator(minimum(value = "1")))]
    pub position: f64,
    /// Its share of the query's page impressions.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub impressions_share: f64,
    /// Its share of the query's page clicks; null when there are none.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub clicks_share: Option<f64>,
}

/// What the answer says about itself.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CannibalizationMeta {
    /// As on every analytics answer.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// How much of the truth was analysed.
    pub coverage: CannibalizationCoverage,
    /// The thresholds used.
    pub thresholds: CannibalizationThresholds,
}

/// How much of the truth was analysed. The search engine gives at most 50,000 rows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CannibalizationCoverage {
    /// Of the query rows, counted `byProperty`.
    pub queries: TableCoverage,
    /// Of the rows by query and page, counted `byPage`.
    pub query_pages: TableCoverage,
}

/// The thresholds used.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CannibalizationThresholds {
    /// The fewest impressions of a query.
    pub min_query_impressions: u64,
    /// The fewest impressions of a page.
    pub min_page_impressions: u64,
    /// The least share of a page.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub min_page_share: f64,
    /// The most that the largest share may be.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub max_top_share: f64,
    /// Whether branded queries were left out.
    pub branded_excluded: bool,
}
