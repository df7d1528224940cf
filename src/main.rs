//! The `sightline` command.

fn main() {}
