//! `impl api::…Api for App`, one file per tag: translation only. What a handler needs is in the [`App`]; who is calling and
//! what they may do has been established by the layers in front of the router.

mod analytics;
mod annotations;
mod classifications;
mod discovery;
mod filters;
mod later;
mod lists;
mod properties;
mod sharing;
mod system;
mod tags;
mod team;

use std::sync::Arc;

use api::{answer::Rendered, error::ApiError, security::Caller};
use chrono::{DateTime, Utc};
use sea_orm::DatabaseConnection;
use uuid::Uuid;

use crate::{
    clock::Clock,
    config::Config,
    identity::issuer::Issuer,
    random::Random,
    services::{
        access::PropertyAccess,
        analyses::{rendered::RenderedAnswer, search_data::SearchData},
        records::IfMatch,
        system::HealthCheck,
        users::Member,
    },
    store::unit_of_work::UnitOfWork,
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
    /// Looks at what the service depends on.
    pub health: HealthCheck,
    /// What time it is.
    pub clock: Clock,
    /// For new ids.
    pub random: Random,
}

/// What has been established about a caller.
trait Established {
    /// The caller.
    fn member(&self) -> Result<Member, ApiError>;
    /// The right to the property in the path.
    fn access(&self) -> Result<PropertyAccess, ApiError>;
    /// What the request writes in; it is committed with the answer.
    fn unit(&self) -> Result<Arc<UnitOfWork>, ApiError>;
    /// The state that the caller wants to change.
    fn if_match(&self) -> Result<IfMatch, ApiError>;
}

impl Established for Caller {
    fn member(&self) -> Result<Member, ApiError> {
        self.get()
    }

    fn access(&self) -> Result<PropertyAccess, ApiError> {
        self.get()
    }

    fn unit(&self) -> Result<Arc<UnitOfWork>, ApiError> {
        self.get()
    }

    fn if_match(&self) -> Result<IfMatch, ApiError> {
        self.get()
    }
}

/// An answer that was rendered before.
fn sent<T>(answer: &RenderedAnswer<T>) -> Rendered<T> {
    Rendered::new(answer.body.clone()).with_digest(&answer.digest)
}

impl App {
    /// A new id, and the moment of which it is.
    fn fresh(&self) -> (Uuid, DateTime<Utc>) {
        let now = self.clock.now();
        (self.random.id(now), now)
    }
}
