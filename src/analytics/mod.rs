//! Pure functions over rows: no async, no I/O, no clock.

pub mod metrics;
