//! The frame of every page, and what serves pages and documents beside the API: their paths, cookies and fixed content.

pub mod attempts;
pub mod cookie;
pub mod fixed;
pub mod own_host;
pub mod page;
pub mod paths;
pub mod public;
