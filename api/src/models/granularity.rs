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

/// The periods of the series.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, QueryParams, Serialize)]
pub struct SeriesParams {
    /// Length of the periods of every series: `day`, `week` (Monday to Sunday), `month`, or `hour`, which the search engine
    /// has for the last ten days. Without dates, hours are those of the last two days that `dataState` counts. A first or last week or month that the window cuts is marked with `cut`. Queries are
    /// counted once per period, and not by hour.
    #[param(default = "day", example = "week")]
    pub granularity: Granularity,
}
