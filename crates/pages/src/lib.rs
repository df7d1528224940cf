//! The frame of every page, and what serves pages and documents beside the API: paths, the fields of forms, fixed content, content
//! codings, Markdown, the address of the client, the check of the host name.

pub mod client_address;
pub mod coding;
pub mod fixed;
pub mod form;
pub mod markdown;
pub mod own_host;
pub mod page;
pub mod paths;
pub mod public;
