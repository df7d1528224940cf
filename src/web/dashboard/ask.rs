//! The visitor of a page, and what pages ask for.

use api::{
    analytics::{AnswerMeta, Performance, PerformanceAnswer, PerformanceCoverage},
    models::Timestamp,
    sharing::{SharedPart, SharedPerformanceAnswer},
};
use poem::{
    Request,
    http::{Extensions, HeaderMap, Uri, uri::PathAndQuery},
};

use crate::{
    calls::{Calls, Visitor},
    services::waiting::Waiting,
};

/// Asks operations on behalf of whoever opened a page.
#[derive(Clone, Copy)]
pub struct Asker<'a> {
    calls: &'a Calls,
    pub page: &'a Visit,
    /// Notified when a reading waits.
    pub waiting: &'a Waiting,
}

impl<'a> Asker<'a> {
    /// Asks for the visitor of `page`.
    pub fn of(calls: &'a Calls, page: &'a Visit) -> Self {
        Self { calls, page, waiting: &page.waiting }
    }

    /// Returns the same, whose readings announce in `waiting` that they wait.
    pub fn watched_by(self, waiting: &'a Waiting) -> Self {
        Self { waiting, ..self }
    }

    /// Calls operations for the visitor.
    pub fn visitor(self) -> Visitor<'a> {
        self.calls.of(&self.page.extensions, self.waiting)
    }
}

/// The parts of the request for a page that its operations need.
#[derive(Clone)]
pub struct Visit {
    uri: Uri,
    pub headers: HeaderMap,
    pub extensions: Extensions,
    /// Notified when a reading of the page waits.
    pub waiting: Waiting,
}

impl From<&Request> for Visit {
    fn from(page: &Request) -> Self {
        Self {
            uri: page.uri().clone(),
            headers: page.headers().clone(),
            extensions: page.extensions().clone(),
            waiting: Waiting::watched(),
        }
    }
}

impl Visit {
    /// The path of the page.
    pub fn path(&self) -> &str {
        self.uri.path()
    }

    /// The path of the page with its query string.
    pub fn address(&self) -> &str {
        self.uri.path_and_query().map_or("/", PathAndQuery::as_str)
    }

    /// The query string of the page.
    pub fn query(&self) -> &str {
        self.uri.query().unwrap_or_default()
    }
}

/// The answer of either performance operation.
pub struct Answered {
    pub data: Performance,
    pub meta: AnswerMeta,
    pub coverage: Option<PerformanceCoverage>,
    /// The link, if the answer is for its readers.
    pub link: Option<Link>,
}

/// The link that an answer is for.
pub struct Link {
    /// Short name of the site.
    pub site: String,
    /// Name of the link.
    pub name: Option<String>,
    pub expires_at: Option<Timestamp>,
    /// True if its days are fixed.
    pub fixed_window: bool,
    /// The parts that it shows.
    pub show: Vec<SharedPart>,
}

impl From<PerformanceAnswer> for Answered {
    fn from(PerformanceAnswer { data, meta }: PerformanceAnswer) -> Self {
        Self { data, meta: meta.answer, coverage: meta.coverage, link: None }
    }
}

impl From<SharedPerformanceAnswer> for Answered {
    fn from(SharedPerformanceAnswer { data, meta }: SharedPerformanceAnswer) -> Self {
        let link = Link {
            site: meta.site,
            name: meta.link_name,
            expires_at: meta.link_expires_at,
            fixed_window: meta.fixed_window,
            show: meta.show,
        };
        Self { data, meta: meta.answer, coverage: meta.coverage, link: Some(link) }
    }
}
