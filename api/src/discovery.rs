//! Where a client starts.

use macros::api_trait;
use poem_openapi::Object;

use crate::{
    answer::{Answered, Data, Rendered},
    security::Caller,
};

/// Where a client starts.
#[api_trait(tag = Discovery, routes = DiscoveryRoutes)]
pub trait DiscoveryApi: Send + Sync + 'static {
    /// Index of the API
    ///
    /// Says where the description, the documentation and the main resources are. Without credentials the answer is the 401
    /// whose `WWW-Authenticate` header starts the OAuth flow.
    #[get("/api")]
    async fn get_api_index(&self, caller: Caller) -> Answered<Rendered<Data<ApiIndex>>>;
}

/// Where things are.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct ApiIndex {
    /// The product's name.
    #[oai(validator(max_length = 100))]
    pub name: String,
    /// The API version, a date.
    #[oai(validator(pattern = r"^\d{4}-\d{2}-\d{2}$"))]
    pub version: String,
    /// The `OpenAPI` document.
    #[oai(validator(max_length = 2048))]
    pub openapi_url: String,
    /// The document rendered for people.
    #[oai(validator(max_length = 2048))]
    pub documentation_url: String,
    /// The tool-protocol endpoint.
    #[oai(validator(max_length = 2048))]
    pub mcp_url: String,
    /// The operations that take no parameters in the path.
    pub operations: Vec<OperationLink>,
}

/// One operation.
#[derive(Debug, Clone, PartialEq, Object)]
#[oai(rename_all = "camelCase")]
pub struct OperationLink {
    /// The operation id.
    #[oai(validator(max_length = 100))]
    pub operation_id: String,
    /// The HTTP method.
    #[oai(validator(max_length = 10))]
    pub method: String,
    /// The URL.
    #[oai(validator(max_length = 2048))]
    pub url: String,
    /// What it does, in a few words.
    #[oai(validator(max_length = 200))]
    pub summary: String,
}
