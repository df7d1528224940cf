//! Pages and documents for people, browsers and agents, next to the operations of the API.

pub mod account;
pub mod changelog;
pub mod dashboard;
pub mod documentation;
mod plan_words;
pub mod refusal_page;
mod role_words;
pub mod sign_in;
mod site_words;
pub mod strangers;
pub mod subscribe;
pub mod tools;
pub mod well_known;
