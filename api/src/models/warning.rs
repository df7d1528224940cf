//! Warnings: facts about the question of an answer that its numbers do not show.

use chrono::NaiveDate;
use poem_openapi::{Enum, Object};
use serde::Serialize;

/// A fact about the question of an answer that its numbers do not show.
#[derive(Debug, Clone, PartialEq, Eq, Object, Serialize)]
#[oai(rename_all = "camelCase", skip_serializing_if_is_none)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    /// The kind of fact.
    pub code: WarningCode,
    /// The fact in words.
    #[oai(validator(max_length = 2500))]
    pub text: String,
    /// First day that it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_date: Option<NaiveDate>,
    /// Last day that it is about, inclusive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_date: Option<NaiveDate>,
    /// The page that tells of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[oai(validator(max_length = 2048))]
    pub url: Option<String>,
}

/// The kind of a warning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "snake_case")]
#[serde(rename_all = "snake_case")]
pub enum WarningCode {
    /// A window has days on which the search engine counted wrongly or differently.
    DataIncident,
    /// The windows have different numbers of days, so their counts are not directly comparable.
    UnequalWindows,
    /// A window has days that are not final, so both windows count fewer days than were asked for.
    WindowsShortened,
    /// A condition compares whole pages with a text that is no full address, so it matches no page.
    PageWithoutScheme,
}

impl WarningCode {
    /// The code as it is written in answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DataIncident => "data_incident",
            Self::UnequalWindows => "unequal_windows",
            Self::WindowsShortened => "windows_shortened",
            Self::PageWithoutScheme => "page_without_scheme",
        }
    }
}
