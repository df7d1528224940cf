//! Tests of the tool endpoint.

mod answers;
mod explanation;
mod hostile;
mod protocol;
mod rights;
mod surface;
