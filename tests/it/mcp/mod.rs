//! Tests of the tool endpoint.

mod answers;
mod context;
mod explanation;
mod hostile;
mod protocol;
mod rights;
mod surface;
mod waiting;
