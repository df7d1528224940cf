//! Draws the parts that pages share.

pub mod chart;
pub mod conditions;
pub mod controls;
pub mod empty;
pub mod footer;
pub mod headline;
pub mod lack;
pub mod layers;
pub mod paging;
pub mod presets;
pub mod rows;
pub mod svg;
pub mod why;
pub mod words;
