//! Pages that compete for the same query.

use poem_openapi::{Enum, Object};
use serde::Serialize;

use super::AnswerMeta;
use crate::{
    models::{OffsetParams, OrderParams, Question, RowLimit, TableCoverage},
    params::{Decimal, Echo, QueryParams, Whole},
};

/// Parameters of the cannibalization analysis.
#[derive(Debug, Clone, PartialEq, QueryParams, Serialize)]
#[params(question = "CannibalizationQuestion")]
pub struct CannibalizationParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// Minimum impressions of a query, counted `byProperty`.
    #[param(default = "50", example = "50")]
    pub min_query_impressions: Whole<1, 1_000_000>,
    /// Minimum impressions of a page for a query.
    #[param(default = "10", example = "10")]
    pub min_page_impressions: Whole<1, 1_000_000>,
    /// Minimum share of a query's page impressions that a page must have, 0 to 1.
    #[param(default = "0.1", example = "0.1")]
    pub min_page_share: Decimal<0, 1>,
    /// Maximum share of the largest page, 0 to 1; above it the query has a clear owner.
    #[param(default = "0.8", example = "0.8")]
    pub max_top_share: Decimal<0, 1>,
    /// Includes branded queries. By default they are left out where the property has branded keywords, because several
    /// results for a brand are normal. `classification=branded` includes them, too.
    #[param(default = "false", example = "false")]
    pub include_branded: bool,
    /// The order of the rows.
    #[param(flatten)]
    pub order: OrderParams,
    /// The first row.
    #[param(flatten)]
    pub offset: OffsetParams,
    /// Maximum number of queries in the answer.
    #[param(default = "500", example = "100")]
    pub limit: RowLimit,
}

/// Candidates for cannibalization.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct CannibalizationAnswer {
    /// The results.
    pub data: Cannibalization,
    /// Metadata of the answer.
    pub meta: CannibalizationMeta,
}

/// The results: candidates to review, not verdicts.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Cannibalization {
    /// Queries analysed: queries with both a row of their own and known pages.
    pub queries_analysed: u64,
    /// Queries that match in the comparison window, by the same thresholds and conditions on metrics; absent without one. Those of
    /// the window are `meta.coverage.queries.rowsMatched`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_rows_matched: Option<u64>,
    /// Ordered by priority, highest first, then by query.
    #[oai(validator(max_items = 5000))]
    pub queries: Vec<CannibalizedQuery>,
}

/// A query for which several pages of the property appear.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct CannibalizedQuery {
    /// The query.
    pub query: String,
    /// Clicks of the query, counted `byProperty`: each results page counts once.
    pub clicks: u64,
    /// Impressions of the query, counted `byProperty`: its demand.
    pub impressions: u64,
    /// Sum of clicks over all its pages, counted `byPage`.
    pub page_clicks: u64,
    /// Sum of impressions over all its pages, counted `byPage`; the denominator of every share.
    pub page_impressions: u64,
    /// Pages that appeared for the query, including pages below the thresholds.
    pub pages_known: u64,
    /// Concentration: the sum of the squared impression shares of all its pages; 1 for a single page.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub hhi: f64,
    /// `1 − hhi`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub split_score: f64,
    /// Largest impression share of a page, 0 to 1.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub top_share: f64,
    /// `1 − topShare`: the combined share of all other pages.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub secondary_share: f64,
    /// Worst position minus best position of the listed pages.
    #[oai(validator(minimum(value = "0")))]
    pub position_spread: f64,
    /// `impressions × (1 − topShare)`: impressions on which the strongest page was not the one counted.
    #[oai(validator(minimum(value = "0")))]
    pub priority: f64,
    /// The suggested page to keep.
    pub suggested_owner: SuggestedOwner,
    /// The pages that qualify, most impressions first.
    #[oai(validator(min_items = 2))]
    pub pages: Vec<CompetingPage>,
    /// The query in the comparison window; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<CannibalizedBefore>,
}

/// A query in the comparison window, by the same thresholds.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(skip_serializing_if_is_none)]
pub struct CannibalizedBefore {
    /// Shows if it was a candidate then.
    pub state: BeforeState,
    /// Its figures; absent unless both its own row and its pages are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub figures: Option<ContestFigures>,
}

/// Shows if a query was a candidate in the comparison window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum BeforeState {
    /// It was a candidate, too.
    Candidate,
    /// It had impressions and was no candidate.
    NotCandidate,
    /// It had no row.
    Absent,
    /// The list of queries or of their pages was cut at its cap and may have hidden it.
    Unknown,
}

/// The figures of a query and its pages.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct ContestFigures {
    /// Clicks of the query, counted `byProperty`.
    pub clicks: u64,
    /// Impressions of the query, counted `byProperty`.
    pub impressions: u64,
    /// Sum of clicks over all its pages, counted `byPage`.
    pub page_clicks: u64,
    /// Sum of impressions over all its pages, counted `byPage`.
    pub page_impressions: u64,
    /// Pages that appeared for the query.
    pub pages_known: u64,
    /// Concentration: the sum of the squared impression shares of all its pages.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub hhi: f64,
    /// Largest impression share of a page, 0 to 1.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub top_share: f64,
    /// The page with that share; of several the one with most clicks, then the first URL.
    #[oai(validator(max_length = 2048))]
    pub top_page: String,
    /// `impressions × (1 − topShare)`.
    #[oai(validator(minimum(value = "0")))]
    pub priority: f64,
}

/// The listed page with the most clicks, then the most impressions, then the best position.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct SuggestedOwner {
    /// The page's URL.
    pub page: String,
    /// Agreement of clicks, impressions and position on this page.
    pub confidence: OwnerConfidence,
}

/// Agreement of clicks, impressions and position on an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum OwnerConfidence {
    /// The page leads alone in all three.
    High,
    /// The page leads alone in two.
    Medium,
    /// The page leads alone in one or none.
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
    /// Share of the query's page impressions, 0 to 1.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub impressions_share: f64,
    /// Share of the query's page clicks, 0 to 1; null without clicks.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub clicks_share: Option<f64>,
}

/// Metadata of the answer.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CannibalizationMeta {
    /// Metadata that all analytics answers share.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<CannibalizationParams>,
    /// Coverage: the part of the data that was analysed.
    pub coverage: CannibalizationCoverage,
    /// The thresholds used.
    pub thresholds: CannibalizationThresholds,
}

/// Coverage of the analysis. The search engine returns at most 50,000 rows.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CannibalizationCoverage {
    /// Coverage of the query rows, counted `byProperty`.
    pub queries: TableCoverage,
    /// Coverage of the rows by query and page, counted `byPage`.
    pub query_pages: TableCoverage,
}

/// The thresholds used.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct CannibalizationThresholds {
    /// Minimum impressions of a query.
    pub min_query_impressions: u64,
    /// Minimum impressions of a page.
    pub min_page_impressions: u64,
    /// Minimum share of a page, 0 to 1.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub min_page_share: f64,
    /// Maximum share of the largest page, 0 to 1.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub max_top_share: f64,
    /// True if branded queries were left out.
    pub branded_excluded: bool,
}
