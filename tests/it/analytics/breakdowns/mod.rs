//! Tests of breakdowns and exports: every number of countries, their trends, sparklines and CSV files is compared with sums
//! over the generator's own cells.

mod countries;
pub mod csv;
mod dimensions;
pub mod export;
mod figures;
mod keys;
mod query_rows;
mod refusals;
mod sparklines;
mod stream;
mod tables;
mod trends;

use super::case::{Case, LAST_FINAL, PAPER, People, SHOP, SMALL, SOFTWARE, Window, YOUNG, ordered};
use crate::support::class::Class;

/// The maximum number of rows of queries and pages.
const CEILING: usize = 5000;
