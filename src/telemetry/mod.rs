//! Observability for operators.

pub mod logs;
