//! Tests of the simulated search engine.
