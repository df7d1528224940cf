//! Previews: the matches of a classification before it is saved.

use poem_openapi::Object;

use super::ClassificationCondition;
use crate::{
    analytics::AnswerMeta,
    models::{Metrics, Name},
};

/// A segment or a topic cluster to preview: the body of the write. Only its conditions count.
#[derive(Debug, Clone, PartialEq, Eq, Object)]
#[oai(deny_unknown_fields, skip_serializing_if_is_none)]
pub struct ClassificationPreviewInput {
    /// Name. It makes no difference.
    #[oai(validator(max_length = 100))]
    pub name: Option<Name>,
    /// Colour in charts, `#rrggbb`. It makes no difference.
    #[oai(validator(max_length = 7, pattern = "^#[0-9A-Fa-f]{6}$"))]
    pub color: Option<String>,
    /// Conditions on a page's URL (of a segment) or on a query (of a topic cluster); `and` binds tighter than `or`.
    #[oai(validator(min_items = 1, max_items = 50))]
    pub conditions: Vec<ClassificationCondition>,
}

/// The preview of a classification.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct ClassificationPreviewAnswer {
    /// The preview.
    pub data: ClassificationPreview,
    /// Metadata of the answer.
    pub meta: AnswerMeta,
}

/// The traffic that a classification would match: pages for a segment, queries for a topic cluster and for branded keywords. `matched`,
/// `unmatched` and `anonymised` together are all traffic of the property.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
pub struct ClassificationPreview {
    /// Traffic that it would match. With branded keywords: branded traffic.
    pub matched: MatchedPart,
    /// Traffic that it would not match although its page or query is known. With branded keywords: non-branded traffic.
    pub unmatched: RemainingPart,
    /// Queries that the search engine does not name, so that they match nothing; absent for segments, because their pages are
    /// known.
    pub anonymised: Option<RemainingPart>,
    /// Number of pages or queries that it would match.
    pub rows: u64,
    /// True if the list was cut at the fetch ceiling of 50,000, so that `rows` is a lower bound.
    pub rows_capped: bool,
    /// The ten with the most clicks.
    #[oai(validator(max_items = 10))]
    pub largest: Vec<MatchedRow>,
}

/// The part of the traffic that a classification would match.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct MatchedPart {
    /// Its metrics.
    #[oai(flatten)]
    pub metrics: Metrics,
    /// Share of the property's clicks, 0 to 1; null without clicks.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub clicks_share: Option<f64>,
    /// Share of the property's impressions, 0 to 1; null without impressions.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub impressions_share: Option<f64>,
}

/// A remainder of the traffic, never below 0. It has no CTR and no position.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct RemainingPart {
    /// Clicks, a count.
    pub clicks: u64,
    /// Impressions, a count.
    pub impressions: u64,
    /// Share of the property's clicks, 0 to 1; null without clicks.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub clicks_share: Option<f64>,
    /// Share of the property's impressions, 0 to 1; null without impressions.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub impressions_share: Option<f64>,
}

/// A page or query that a classification would match.
#[derive(Debug, Clone, PartialEq, Object)]
pub struct MatchedRow {
    /// The page's URL, or the query.
    pub key: String,
    /// Its metrics.
    #[oai(flatten)]
    pub metrics: Metrics,
}
