//! Discovery.

use api::{
    answer::{Answer, Answered},
    discovery::{ApiIndex, DiscoveryApi, OperationLink},
    operation::{self, Operation},
    security::Caller,
};

use super::App;

impl DiscoveryApi for App {
    async fn get_api_index(&self, _: Caller) -> Answered<Answer<ApiIndex>> {
        let link = |operation: &Operation| OperationLink {
            operation_id: operation.id.to_owned(),
            method: operation.method.to_string(),
            url: format!("{}{}", self.base_url, operation.path),
            summary: operation.docs.lines().next().unwrap_or_default().to_owned(),
        };
        Ok(Answer(ApiIndex {
            name: "Sightline".to_owned(),
            version: api::VERSION.to_owned(),
            openapi_url: format!("{}/openapi.json", self.base_url),
            documentation_url: format!("{}/docs", self.base_url),
            mcp_url: format!("{}/mcp", self.config.mcp_url(&self.base_url)),
            operations: operation::all().iter().filter(|o| !o.path.contains('{')).map(link).collect(),
        }))
    }
}
