//! Answers the index of the API.

use api::{
    answer::{Answered, Data, Rendered},
    discovery::{ApiIndex, DiscoveryApi, OperationLink},
    operation::{self, Operation},
    security::Caller,
};
use bytes::Bytes;
use common::{base_url::BaseUrl, digest::opaque_tag};
use poem_openapi::types::ToJSON as _;

use super::App;

/// The index in its sent form. It is the same for every caller, so it is rendered once.
#[derive(Debug, Clone)]
pub struct Index {
    body: Bytes,
    digest: String,
}

impl Index {
    /// Renders the index of a service with these public roots.
    #[must_use]
    pub fn new(base_url: &BaseUrl, mcp_url: &BaseUrl) -> Self {
        let link = |operation: &Operation| OperationLink {
            operation_id: operation.id.to_owned(),
            method: operation.method.to_string(),
            url: format!("{base_url}{}", operation.template()),
            templated: !operation.path_parameters.is_empty(),
            summary: operation.docs.lines().next().unwrap_or_default().to_owned(),
        };
        let data = ApiIndex {
            name: "Sightline".to_owned(),
            version: api::VERSION.to_owned(),
            openapi_url: format!("{base_url}/openapi.json"),
            documentation_url: format!("{base_url}/docs"),
            mcp_url: format!("{mcp_url}/mcp"),
            operations: operation::all().iter().map(link).collect(),
        };
        let body = Bytes::from(Data::from(data).to_json_string());
        Self { digest: opaque_tag(&body), body }
    }
}

impl DiscoveryApi for App {
    async fn get_api_index(&self, _: Caller) -> Answered<Rendered<Data<ApiIndex>>> {
        Ok(Rendered::new(self.index.body.clone()).with_strong_digest(&self.index.digest))
    }
}
