//! What an operator sees of a running service.

pub mod logs;
