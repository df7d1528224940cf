//! (in the making)

pub mod documentation;
