//! Tests of analytics: every number of every response is compared with sums over the generator's own cells.

mod agreement;
pub mod breakdowns;
pub mod case;
mod conditions;
pub mod filters;
pub mod fresh;
mod granularity;
mod named_windows;
mod order;
pub mod performance;
pub mod queries;
mod questions;
