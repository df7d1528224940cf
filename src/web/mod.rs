//! Pages and documents for people, browsers and agents, next to the operations of the API.

mod attempts;
pub mod documentation;
pub mod own_host;
pub mod paths;
pub mod sign_in;
pub mod well_known;
