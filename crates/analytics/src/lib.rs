//! The formulas: from rows of search data to tables, series and analyses. Pure functions without async, I/O or clock.

pub mod brand_suggestions;
pub mod branded;
pub mod breakdown;
pub mod cannibalization;
pub mod change;
pub mod country_trends;
pub mod coverage;
pub mod ctr_curve;
pub mod explanation;
pub mod growth;
pub mod headline;
pub mod listing;
pub mod movers;
pub mod page;
pub mod pairs;
pub mod period;
pub mod positions;
pub mod preview;
pub mod query_periods;
pub mod series;
pub mod table;
pub mod usual;
