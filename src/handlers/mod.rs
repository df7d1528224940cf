//! `impl api::…Api for App`, one file per tag. Handlers only translate between the API and the services. The layers in front of the
//! router establish the caller and the caller's rights.

mod analytics;
mod annotations;
mod billing;
mod classifications;
pub mod discovery;
mod filters;
mod integrations;
pub mod lists;
mod privacy;
mod properties;
mod sharing;
mod system;
mod tags;
mod team;

use std::sync::Arc;

use api::{
    answer::{Answered, Data, List, Record, Rendered},
    error::ApiError,
    params::{Ignored, Paging},
    security::Caller,
};
use common::{base_url::BaseUrl, clock::Clock, digest::opaque_tag, random::Random};
use identity::issuer::Issuer;
use poem_openapi::types::{ParseFromJSON, ToJSON};
use sea_orm::DatabaseConnection;
use serde::Serialize;
use store::unit_of_work::UnitOfWork;

use crate::{
    config::Config,
    services::{
        access::PropertyAccess,
        analyses::{prepared::Prepared, search_data::SearchData},
        change::{Author, Change},
        health::HealthCheck,
        integrations::Integrations,
        privacy::Privacy,
        users::Member,
    },
};

/// The state that operations share.
pub struct App {
    /// The settings.
    pub config: Arc<Config>,
    /// The service's public root.
    pub base_url: BaseUrl,
    /// The index of the API.
    pub index: discovery::Index,
    /// The database of the service's own records.
    pub db: DatabaseConnection,
    /// What replicas share, if they share anything.
    pub shared: Option<replicas::Shared>,
    /// Search data.
    pub search: SearchData,
    /// SEO providers.
    pub integrations: Integrations,
    /// The issuer of access tokens.
    pub issuer: Issuer,
    /// Checks the service's dependencies.
    pub health: HealthCheck,
    /// Exports and deletions of people's data.
    pub privacy: Privacy,
    /// The limits on lists of records.
    pub lists: lists::Lists,
    /// The clock.
    pub clock: Clock,
    /// The source of new ids.
    pub random: Random,
}

/// The facts that the layers established about a caller.
trait Established {
    /// The caller.
    fn member(&self) -> Result<Arc<Member>, ApiError>;
    /// The caller's access to the property in the path.
    fn access(&self) -> Result<Arc<PropertyAccess>, ApiError>;
}

impl Established for Caller {
    fn member(&self) -> Result<Arc<Member>, ApiError> {
        self.get()
    }

    fn access(&self) -> Result<Arc<PropertyAccess>, ApiError> {
        self.get()
    }
}

/// Renders an answer.
fn rendered<T: ToJSON>(answer: &T) -> Rendered<T> {
    Rendered::new(answer.to_json_string().into())
}

/// Returns a page of a list.
fn page_of<T: ToJSON + ParseFromJSON + Send + Sync>(all: Vec<T>, paging: &Paging) -> List<T> {
    let (data, meta) = paging.page(all);
    List { data, meta }
}

/// Renders a record. The `ETag` header is the record's `etag`, and after a dot a digest of the whole answer: it may show more than the
/// record's state, such as the name of an author. `If-Match` takes both.
fn record<T: ToJSON + ParseFromJSON + Send + Sync>(data: T, etag: fn(&T) -> &str) -> Record<T> {
    record_of_property(data, etag, &Ignored::NONE)
}

/// Renders a record of a property as [`record`] does, with the parameters that had no effect.
fn record_of_property<T>(data: T, etag: fn(&T) -> &str, ignored: &Ignored) -> Record<T>
where
    T: ToJSON + ParseFromJSON + Send + Sync,
{
    let state = etag(&data).trim_matches('"').to_owned();
    let body = Data::of(data, ignored).to_json_string();
    let digest = opaque_tag(body.as_bytes());
    Rendered::new(body.into()).with_strong_digest(&format!("{state}.{digest}"))
}

impl App {
    /// Renders the answer of an analysis, unless that was done before.
    async fn sent<T: Serialize + 'static>(&self, answer: Prepared<T>) -> Answered<Rendered<T>> {
        let rendered = self.search.answers.rendered(answer).await?;
        Ok(Rendered::new(rendered.body).with_digest(&rendered.digest))
    }

    /// Begins a change of the caller's own records, or of the records of the property in the path. It is committed together with the
    /// answer.
    async fn change<By: Author>(&self, caller: &Caller) -> Result<Change<By>, ApiError> {
        let unit: Arc<UnitOfWork> = caller.get()?;
        Ok(Change::begin(caller.get()?, &unit, caller.get()?, self.clock.now(), self.random.clone()).await?)
    }
}
