//! The search engine: wire types, OAuth grant, client, query planner and cache.
//!
//! Nothing here depends on HTTP routing or the database. Data of the search engine is kept in memory only.

mod access;
mod another;
mod answer;
mod appearances;
pub mod brand;
mod breaker;
mod client;
mod columns;
pub mod countries;
mod error;
mod failure;
pub mod filter;
mod keys;
mod labels;
mod matching;
mod oauth;
mod outcomes;
mod pace;
mod planner;
mod re2;
mod reader;
mod reading;
mod recent;
mod record;
mod refusal;
mod request;
mod settings;
mod shared_readings;
#[cfg(test)]
mod tests;
mod trouble;
mod wire;

pub use answer::{QueryResponse, SiteEntry};
pub use appearances::{Appearances, Names, WindowAppearances};
pub use client::SearchEngine;
pub use error::{PlanError, ReadError, SearchEngineError};
pub use filter::{Condition, Expression, Predicate};
pub use keys::any_of;
pub use labels::label;
pub use oauth::{Consent, Oauth, OauthSettings, READONLY_SCOPE, TokenAnswer, UserInfo};
pub use outcomes::{FailureKind, LastOutcomes};
pub use pace::{Asker, Lane, Pace, Quota};
pub use planner::{MAX_TERMS, Plan, Term, plan};
pub use reader::Reader;
pub use reading::{ENGINE_CEILING, HOURLY_DAYS, Part, Reading, Row, SHORT_LIST};
pub use recent::{LastFinal, Recent, RecentDays, RecentReader, UNSETTLED_DAYS, headline_span};
pub use settings::{Account, Grants, LockedGrant, Patience, Settings};
pub use trouble::{Trouble, TroubleKind};
pub use wire::{DataState, Dimension, Filter, FilterOperator, HISTORY_MONTHS, MAX_EXPRESSION, SiteUrl};
