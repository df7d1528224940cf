//! Queries within striking distance.

use poem_openapi::{Enum, Object};
use serde::Serialize;

use super::{AnswerMeta, CtrCurve, CurveSource, QueryCoverage};
use crate::{
    error::ApiError,
    models::{Change, Metrics, OffsetParams, OrderParams, Presence, Question, RowLimit},
    params::{Decimal, Echo, QueryParams, Whole},
};

/// Parameters of the growth analysis.
#[derive(Debug, Clone, PartialEq, QueryParams, Serialize)]
#[params(check = GrowthParams::check, question = "GrowthQuestion")]
pub struct GrowthParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// Best position of the band, inclusive. The band applies to both kinds.
    #[param(default = "4", example = "4")]
    pub min_position: Decimal<1, 100>,
    /// Worst position of the band, inclusive; not below `minPosition`.
    #[param(default = "20", example = "20")]
    pub max_position: Decimal<1, 100>,
    /// Minimum impressions of a query.
    #[param(default = "100", example = "100")]
    pub min_impressions: Whole<1, 1_000_000>,
    /// Target position of a `rank` opportunity.
    #[param(default = "3", example = "3")]
    pub target_position: Whole<1, 10>,
    /// Returns only this kind. Without it: both.
    #[param(example = "rank")]
    pub kind: Option<OpportunityKind>,
    /// Includes branded queries. By default they are left out where the property has branded keywords.
    /// `classification=branded` includes them, too.
    #[param(default = "false", example = "false")]
    pub include_branded: bool,
    /// The order of the rows.
    #[param(flatten)]
    pub order: OrderParams,
    /// The first row.
    #[param(flatten)]
    pub offset: OffsetParams,
    /// Maximum number of opportunities in the answer.
    #[param(default = "500", example = "100")]
    pub limit: RowLimit,
}

impl GrowthParams {
    fn check(&self) -> Result<(), ApiError> {
        if self.max_position.0 < self.min_position.0 {
            return Err(ApiError::invalid("maxPosition", "must not be below minPosition"));
        }
        Ok(())
    }
}

/// Kind of opportunity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum OpportunityKind {
    /// A better position: the query ranks below the target position, and the target position promises more clicks.
    Rank,
    /// A better snippet: the query ranks on page one (up to position 10), but its CTR is lower than expected at its position.
    Snippet,
}

crate::enum_param!(OpportunityKind);

/// Opportunities to grow.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct GrowthAnswer {
    /// The results.
    pub data: Growth,
    /// Metadata of the answer.
    pub meta: GrowthMeta,
}

/// The results.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Growth {
    /// The curve that the expected CTRs come from.
    pub curve: CtrCurve,
    /// Ordered by potential clicks, highest first, then by query and kind. A query may appear once per kind.
    /// Opportunities without potential clicks are omitted.
    #[oai(validator(max_items = 5000))]
    pub opportunities: Vec<GrowthOpportunity>,
}

/// A query that could bring more clicks.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct GrowthOpportunity {
    /// The query.
    pub query: String,
    /// The page with the most impressions for the query; absent when no row from the search engine names it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// Kind of opportunity.
    pub kind: OpportunityKind,
    /// Clicks, a count.
    pub clicks: u64,
    /// Impressions, a count.
    pub impressions: u64,
    /// Clicks ÷ impressions.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub ctr: f64,
    /// Impression-weighted average position.
    #[oai(validator(minimum(value = "1")))]
    pub position: f64,
    /// Expected CTR on the curve, 0 to 1: at the target position for `rank`, at the query's own for `snippet`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub expected_ctr: f64,
    /// `impressions × max(0, expectedCtr − ctr)`. A heuristic for sorting, not a forecast.
    #[oai(validator(minimum(value = "0")))]
    pub potential_clicks: f64,
    /// Movement of the query since the comparison window; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub movement: Option<Movement>,
}

/// Movement of a query since the comparison window.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(skip_serializing_if_is_none)]
pub struct Movement {
    /// Windows whose rows contain the query.
    pub presence: Presence,
    /// Metrics of the comparison window's compared days; absent when their rows do not contain the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Metrics>,
    /// The query's metrics minus `previous`. A window that lacks the query counts as no clicks and no impressions. Absent where
    /// `presence` is `unknown`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

/// Metadata of the answer.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct GrowthMeta {
    /// Metadata that all analytics answers share.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<GrowthParams>,
    /// Coverage: the part of the data that was analysed.
    pub coverage: QueryCoverage,
    /// The thresholds used.
    pub thresholds: GrowthThresholds,
}

/// The thresholds used.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct GrowthThresholds {
    /// Best position of the band.
    #[oai(validator(minimum(value = "1"), maximum(value = "100")))]
    pub min_position: f64,
    /// Worst position of the band.
    #[oai(validator(minimum(value = "1"), maximum(value = "100")))]
    pub max_position: f64,
    /// Minimum impressions of a query.
    pub min_impressions: u64,
    /// Target position of a `rank` opportunity.
    pub target_position: u64,
    /// Worst position on page one, for `snippet`.
    pub page_one_position: u64,
    /// Source of the expected CTRs.
    pub curve: CurveSource,
    /// True if branded queries were left out.
    pub branded_excluded: bool,
}
