//! Tests of the tool endpoint.

mod answers;
mod arguments;
mod context;
mod crowd;
mod defaults;
mod echoes;
mod explanation;
mod hostile;
mod protocol;
mod rights;
mod size;
mod states;
mod surface;
mod waiting;

use serde_json::Value;
use sightline::mcp::{clean::clean, round::round};

/// The answer of an operation as tools say it: cleaned and rounded.
fn as_said(mut answer: Value) -> Value {
    clean(&mut answer);
    round(&mut answer);
    answer
}
