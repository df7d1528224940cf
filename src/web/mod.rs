//! Pages and documents for people, browsers and agents, next to the operations of the API.

pub mod account;
pub(crate) mod attempts;
pub mod changelog;
pub(crate) mod cookie;
pub mod documentation;
pub mod fixed;
pub mod home;
pub mod own_host;
pub mod page;
pub mod paths;
mod plan_words;
pub mod share;
pub mod sign_in;
pub mod subscribe;
pub mod tools;
pub mod well_known;
