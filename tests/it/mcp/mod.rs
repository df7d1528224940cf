//! Tests of the tool endpoint.

mod answers;
mod hostile;
mod protocol;
mod rights;
mod surface;
