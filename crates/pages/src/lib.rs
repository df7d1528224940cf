//! The frame of every page, and what serves pages and documents beside the API: paths, cookies, fixed content, Markdown,
//! the check of the host name.

pub mod attempts;
pub mod cookie;
pub mod fixed;
pub mod markdown;
pub mod own_host;
pub mod page;
pub mod paths;
pub mod public;
