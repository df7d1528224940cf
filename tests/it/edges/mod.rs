//! Tests of values at the edge of what any part of the service can count, store or show.

mod controls;
mod days;
mod terminal;
mod twice;
