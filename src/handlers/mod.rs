//! `impl api::…Api for App`, one file per tag: translation only. What a handler needs is in the [`App`]; who is calling and
//! what they may do has been established by the layers in front of the router.

mod analytics;
mod discovery;
pub mod documentation;
mod later;
mod properties;
mod system;

use std::sync::Arc;

use api::{error::ApiError, security::Caller};
use sea_orm::DatabaseConnection;

use crate::{
    clock::Clock,
    config::Config,
    identity::{Identity, issuer::Issuer},
    random::Random,
    services::{access::PropertyAccess, search_data::SearchData},
};

/// What operations work with.
pub struct App {
    /// The settings.
    pub config: Arc<Config>,
    /// The service's public root.
    pub base_url: String,
    /// The service's own records.
    pub db: DatabaseConnection,
    /// Search data.
    pub search: SearchData,
    /// The issuer of access tokens.
    pub issuer: Issuer,
    /// What time it is.
    pub clock: Clock,
    /// For new ids.
    pub random: Random,
}

/// What has been established about a caller.
trait Established {
    /// Who is calling.
    fn identity(&self) -> Result<Identity, ApiError>;
    /// The right to the property in the path.
    fn access(&self) -> Result<PropertyAccess, ApiError>;
}

impl Established for Caller {
    fn identity(&self) -> Result<Identity, ApiError> {
        self.get()
    }

    fn access(&self) -> Result<PropertyAccess, ApiError> {
        self.get()
    }
}
