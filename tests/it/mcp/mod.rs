//! Tests of the tool endpoint.

mod answers;
mod arguments;
mod context;
mod crowd;
mod echoes;
mod explanation;
mod hostile;
mod protocol;
mod rights;
mod size;
mod states;
mod surface;
mod waiting;
