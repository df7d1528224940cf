//! Tests of the tool endpoint.

mod answers;
mod context;
mod crowd;
mod explanation;
mod hostile;
mod protocol;
mod rights;
mod size;
mod states;
mod surface;
mod waiting;
