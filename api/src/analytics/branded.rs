//! Branded, non-branded and anonymised traffic.

use poem_openapi::Object;
use serde::Serialize;

use super::{AnswerMeta, Counts, Period, Totals};
use crate::{
    models::{Change, Metrics, Question, SeriesParams},
    params::{Echo, QueryParams},
};

/// Parameters of the branded traffic.
#[derive(Debug, Clone, PartialEq, Eq, QueryParams, Serialize)]
#[params(question = "BrandedTrafficQuestion")]
pub struct BrandedTrafficParams {
    /// Window, comparison and slice.
    #[param(flatten)]
    pub question: Question,
    /// The periods of the series.
    #[param(flatten)]
    pub series: SeriesParams,
}

/// Branded, non-branded and anonymised traffic.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct BrandedTrafficAnswer {
    /// The split.
    pub data: BrandedSplit,
    /// Metadata of the answer.
    pub meta: BrandedTrafficMeta,
}

/// The split of all traffic by branded keywords. The search engine does not name anonymised queries, so they are
/// neither branded nor non-branded: `anonymised = total − branded − nonBranded`, never below 0.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct BrandedSplit {
    /// All traffic. Null where no day is counted, as the three parts: `meta.status` is `not_final_yet`.
    #[oai(nullable)]
    pub total: Option<Totals>,
    /// Queries that contain a branded keyword.
    #[oai(nullable)]
    pub branded: Option<BrandedPart>,
    /// Identified queries that contain none.
    #[oai(nullable)]
    pub non_branded: Option<BrandedPart>,
    /// Queries that the search engine does not name.
    #[oai(nullable)]
    pub anonymised: Option<AnonymisedPart>,
    /// Every period of the days that count.
    pub series: Vec<BrandedPoint>,
    /// The periods of the compared days of the comparison window, with their own dates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous_series: Option<Vec<BrandedPoint>>,
}

/// A part of the traffic whose queries are known.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct BrandedPart {
    /// Clicks, a count.
    pub clicks: u64,
    /// Impressions, a count.
    pub impressions: u64,
    /// Clicks ÷ impressions; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub ctr: Option<f64>,
    /// Impression-weighted average position; null without impressions.
    #[oai(nullable, validator(minimum(value = "1")))]
    pub position: Option<f64>,
    /// Share of all clicks, 0 to 1; null without clicks.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub clicks_share: Option<f64>,
    /// Share of all impressions, 0 to 1; null without impressions.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub impressions_share: Option<f64>,
    /// Metrics of the comparison window's compared days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Metrics>,
    /// These metrics minus `previous`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
}

/// The part of the traffic whose queries are not known. It is a remainder, so it has no CTR and no position.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct AnonymisedPart {
    /// Clicks, a count.
    pub clicks: u64,
    /// Impressions, a count.
    pub impressions: u64,
    /// Share of all clicks, 0 to 1; null without clicks.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub clicks_share: Option<f64>,
    /// Share of all impressions, 0 to 1; null without impressions.
    #[oai(nullable, validator(minimum(value = "0"), maximum(value = "1")))]
    pub impressions_share: Option<f64>,
    /// Clicks and impressions of the comparison window's remainder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub previous: Option<Counts>,
}

/// One period of the split.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct BrandedPoint {
    /// The period.
    #[oai(flatten)]
    #[serde(flatten)]
    pub period: Period,
    /// Queries that contain a branded keyword.
    pub branded: Metrics,
    /// Identified queries that contain none.
    pub non_branded: Metrics,
    /// Queries that the search engine does not name.
    pub anonymised: Counts,
}

/// Metadata of the answer.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct BrandedTrafficMeta {
    /// Metadata that all analytics answers share.
    #[oai(flatten)]
    #[serde(flatten)]
    pub answer: AnswerMeta,
    /// The question as it was understood.
    pub question: Echo<BrandedTrafficParams>,
    /// False if the property has no branded keywords. Then no query counts as branded.
    pub has_branded_keywords: bool,
    /// Coverage: the part of the traffic with a known query.
    pub coverage: IdentifiedCoverage,
}

/// Coverage: the part of the traffic with a known query.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
pub struct IdentifiedCoverage {
    /// Clicks and impressions of identified queries; null where no day is counted.
    #[oai(nullable)]
    pub identified: Option<IdentifiedShare>,
}

/// The identified part of the traffic.
#[derive(Debug, Clone, PartialEq, Object, Serialize)]
#[oai(rename_all = "camelCase")]
#[serde(rename_all = "camelCase")]
pub struct IdentifiedShare {
    /// Clicks, a count.
    pub clicks: u64,
    /// Impressions, a count.
    pub impressions: u64,
    /// Share of all clicks, 0 to 1; null without clicks.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub clicks_share: Option<f64>,
    /// Share of all impressions, 0 to 1; null without impressions.
    #[oai(nullable, validator(minimum(value = "0")))]
    pub impressions_share: Option<f64>,
}
