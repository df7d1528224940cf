//! Tests of the tool endpoint.

mod answers;
mod context;
mod explanation;
mod hostile;
mod protocol;
mod rights;
mod states;
mod surface;
mod waiting;
