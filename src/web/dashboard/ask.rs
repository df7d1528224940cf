//! Asks the operations for a page.

use api::{
    analytics::{AnswerMeta, Performance, PerformanceAnswer, PerformanceCoverage},
    error::ApiError,
    models::Timestamp,
    sharing::{SharedPart, SharedPerformanceAnswer},
};
use poem::{
    Request,
    http::{Extensions, HeaderMap, Uri, header},
};
use poem_openapi::types::ParseFromJSON;
use url::form_urlencoded::Serializer;

use crate::{error::Error, operations::Operations};

/// Asks operations on behalf of whoever opened a page.
#[derive(Clone, Copy)]
pub struct Asker<'a> {
    pub operations: &'a Operations,
    pub page: &'a Visit,
}

/// The parts of the request for a page that its operations need.
#[derive(Clone)]
pub struct Visit {
    uri: Uri,
    headers: HeaderMap,
    extensions: Extensions,
}

impl From<&Request> for Visit {
    fn from(page: &Request) -> Self {
        Self { uri: page.uri().clone(), headers: page.headers().clone(), extensions: page.extensions().clone() }
    }
}

impl Visit {
    /// The query string of the page.
    pub fn query(&self) -> &str {
        self.uri.query().unwrap_or_default()
    }
}

impl Asker<'_> {
    /// Asks an operation and returns its answer.
    pub async fn ask<T: ParseFromJSON>(self, path: &str, query: &[(&str, String)]) -> Result<T, ApiError> {
        let query = Serializer::new(String::new()).extend_pairs(query).finish();
        let uri: Uri = format!("{path}?{query}").parse().map_err(Error::internal)?;
        let mut request = Request::builder().uri(uri);
        for cookie in self.page.headers.get_all(header::COOKIE) {
            request = request.header(header::COOKIE, cookie);
        }
        let json = self.operations.json(request.finish(), &self.page.extensions).await?;
        let answer = T::parse_from_json(Some(json));
        answer.map_err(|error| Error::internal(error.into_message()).into())
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
