//! Pure functions over rows: no async, no I/O, no clock.

pub mod change;
pub mod metrics;
pub mod series;
pub mod table;
