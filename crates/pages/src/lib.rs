//! The frame of every page, and what serves pages and documents beside the API: paths, cookies, fixed content, the check of the host name.

pub mod attempts;
pub mod cookie;
pub mod fixed;
pub mod own_host;
pub mod page;
pub mod paths;
pub mod public;
