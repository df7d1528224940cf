//! The length of the periods of a series.

use poem_openapi::Enum;
use serde::{Deserialize, Serialize};

use crate::params::QueryParams;

/// The length of the periods of a series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Enum, Serialize, Deserialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// Days.
    #[default]
    Day,
    /// Weeks, from Monday to Sunday (ISO 8601).
    Week,
    /// Months of the calendar.
    Month,
    /// Hours, of the last ten days.
    Hour,
}

crate::enum_param!(Granularity);

/// The length of the periods in which queries are counted. The search engine limits the rows of a day and not of an hour, so there are
/// no hours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Enum, Serialize)]
#[oai(rename_all = "lowercase")]
#[serde(rename_all = "lowercase")]
pub enum CountGranularity {
    /// Days.
    #[default]
    Day,
    /// Weeks, from Monday to Sunday (ISO 8601).
    Week,
    /// Months of the calendar.
    Month,
}

crate::enum_param!(CountGranularity);

impl From<CountGranularity> for Granularity {
    fn from(granularity: CountGranularity) -> Self {
        match granularity {
            CountGranularity::Day => Self::Day,
            CountGranularity::Week => Self::Week,
            CountGranularity::Month => Self::Month,
        }
    }
}

/// The periods of a series that counts queries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, QueryParams, Serialize)]
pub struct CountSeriesParams {
    /// Length of the periods of every series: `day`, `week` (Monday to Sunday) or `month`. Queries are counted once per period. A first
    /// or last week or month that the window cuts is marked with `cut`.
    #[param(default = "day", example = "week")]
    pub granularity: CountGranularity,
}

/// The periods of the series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, QueryParams, Serialize)]
pub struct SeriesParams {
    /// Length of the periods of every series: `day`, `week` (Monday to Sunday), `month`, or `hour`, which the search engine
    /// has for the last ten days. Without dates, hours cover the last two days that `dataState` counts. Hours that have not begun
    /// are not listed. A first or last week or month that the window cuts is marked with `cut`.
    #[param(default = "day", example = "week")]
    pub granularity: Granularity,
}
