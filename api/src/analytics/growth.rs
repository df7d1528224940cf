//! Queries within striking distance.

use poem_openapi::{Enum, Object};
use serde::Serialize;

use super::{AnswerMeta, CtrCurve, CurveSource, QueryCoverage};
use crate::{
    error::ApiError,
    models::{Change, Metrics, Presence, Question, RowLimit},
    params::{Decimal, QueryParams, Whole},
};

/// Parameters of the growth analysis.
#[derive(Debug, Clone, PartialEq, QueryParams, Serialize)]
#[params(check = GrowthParams::check)]
pub struct GrowthParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The best position of the band, included. The band holds for both kinds.
    #[param(default = "4", example = "4")]
    pub min_position: Decimal<1, 100>,
    /// The worst position of the band, included; not below `minPosition`.
    #[param(default = "20", example = "20")]
    pub max_position: Decimal<1, 100>,
    /// The fewest impressions of a query.
    #[param(default = "100", example = "100")]
    pub min_impressions: Whole<1, 1_000_000>,
    /// The position that a `rank` opportunity aims at.
    #[param(default = "3", example = "3")]
    pub target_position: Whole<1, 10>,
    /// Only this kind. Without it: both.
    #[param(example = "rank")]
    pub kind: Option<OpportunityKind>,
    /// Whether branded queries are analysed too. They are left out where the property has branded keywords, unless
    /// `classification=branded` asks for them.
    #[param(default = "false", example = "false")]
    pub include_branded: bool,
    /// The most opportunities to answer with.
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

/// What there is to gain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum OpportunityKind {
    /// A better position: worse than the target position now, and more clicks to expect there.
    Rank,
    /// A better snippet: on page one (up to position 10), but clicked less than its position lets expect.
    Snippet,
}

crate::enum_param!(OpportunityKind);

/// Opportunities to grow.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct GrowthAnswer {
    /// What was found.
    pub data: Growth,
    /// What the answer says about itself.
    pub meta: GrowthMeta,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct Growth {
    /// Where the expected CTRs come from.
    pub curve: CtrCurve,
    /// Opportunities that qualified, those cut by `limit` included.
    pub opportunities_found: u64,
    /// Most potential clicks first, then by query and kind. A query may stand once for each kind; where there is nothing to
    /// gain there is no opportunity.
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
    /// The page with the most impressions for it; absent when it is not among the rows that the search engine gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// What there is to gain.
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
    /// The CTR that the curve lets expect: at the target position for `rank`, at the query's own for `snippet`.
    #[oai(validator(minimum(value = "0"), maximum(value = "1")))]
    pub expected_ctr: f64,
    /// `impressions × max(0, expectedCtr − ctr)`. A heuristic to sort by, not a forecast.
    #[oai(validator(minimum(value = "0")))]
    pub potential_clicks: f64,
    /// How the query moved since the comparison window; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub movement: Option<Movement>,
}

/// How a query moved since the comparison window.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(skip_serializing_if_is_none)]
pub struct Movement {
    /// In which window's rows the query stands.
    pub presence: Presence,
    /// The comparison window's metrics; absent when it lacks the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Metrics>,
    /// Current minus previous; absent when the comparison window lacks the query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

/// What the answer says about itself.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct GrowthMeta {
    /// As on every analytics answer.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// How much of the truth was analysed.
    pub coverage: QueryCoverage,
    /// The thresholds used.
    pub thresholds: GrowthThresholds,
}

/// The thresholds used.
#[derive(Debug, Clone, Copy, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct GrowthThresholds {
    /// The best position of the band.
    #[oai(validator(minimum(value = "1"), maximum(value = "100")))]
    pub min_position: f64,
    /// The worst position of the band.
    #[oai(validator(minimum(value = "1"), maximum(value = "100")))]
    pub max_position: f64,
    /// The fewest impressions of a query.
    pub min_impressions: u64,
    /// The position that a `rank` opportunity aims at.
    pub target_position: u64,
    /// The worst position that is page one, where `snippet` looks.
    pub page_one_position: u64,
    /// Where the expected CTRs come from.
    pub curve: CurveSource,
    /// Whether branded queries were left out.
    pub branded_excluded: bool,
}
