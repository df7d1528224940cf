//! The headline of an explanation: what changed, where, and what to check.

use chrono::NaiveDate;
use poem_openapi::{Enum, Object};
use serde::Serialize;

use crate::models::FilterCondition;

/// An explanation in words. Every number in it is a number of the answer, or a percentage of two.
#[derive(Debug, Clone, Default, PartialEq, Eq, Object, Serialize)]
pub struct ExplainedHeadline {
    /// The change and the effect behind most of it, in one sentence or two.
    #[oai(validator(max_length = 120))]
    pub text: String,
    /// The days since when it is not usual, then the largest parts of the change, largest share first. Empty where the change is usual.
    #[oai(validator(max_items = 5))]
    pub parts: Vec<HeadlinePart>,
    /// The checks that follow from the numbers.
    #[oai(validator(max_items = 4))]
    pub checks: Vec<HeadlineCheck>,
}

/// A part of a change, and the question that is about it alone.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct HeadlinePart {
    /// The part in words.
    #[oai(validator(max_length = 200))]
    pub text: String,
    /// Conditions to add to those of the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_items = 1))]
    pub filters: Option<Vec<FilterCondition>>,
    /// The classification of the part, as the parameter takes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_length = 49))]
    pub classification: Option<String>,
    /// The first day of the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_date: Option<NaiveDate>,
    /// The last day of the part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<NaiveDate>,
}

/// Something to check.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
pub struct HeadlineCheck {
    /// Its kind.
    pub code: HeadlineCheckCode,
    /// The check in words.
    #[oai(validator(max_length = 200))]
    pub text: String,
}

/// A kind of check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum HeadlineCheckCode {
    /// Branded queries have at least 30 % fewer impressions at the same position: indexing, robots.txt, the search engine's messages.
    BrandShownLess,
    /// One country, device or page carries more than half of the change.
    OnePart,
    /// A known update or incident of the search engine falls into the window.
    KnownEvent,
    /// Most of the clicks were lost at the same position.
    ClickedLess,
}
