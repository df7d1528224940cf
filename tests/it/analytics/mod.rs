//! Analytics: every figure of every answer, held against sums over the generator's own cells.

pub mod breakdowns;
pub mod filters;
pub mod performance;
pub mod queries;
