//! The index of the API, the starting point for clients.

use macros::api_trait;
use poem_openapi::Object;

use crate::{
    answer::{Answered, Data, Rendered},
    security::Caller,
};

/// The index of the API, the starting point for clients.
#[api_trait(tag = Discovery, routes = DiscoveryRoutes)]
pub trait DiscoveryApi: Send + Sync + 'static {
    /// Index of the API
    ///
    /// Returns links to the description and the documentation, and every operation. Without credentials, the answer is
    /// the 401 whose `WWW-Authenticate` header starts the OAuth flow.
    #[get("/api")]
    #[scope(none)]
    async fn get_api_index(&self, caller: Caller) -> Answered<Rendered<Data<ApiIndex>>>;
}

/// Links to the description, the documentation and the main resources.
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
    /// Every operation.
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
    /// The URL, as a template (RFC 6570) if the path has parameters: `…/properties/{propertyId}/performance`.
    #[oai(validator(max_length = 2048))]
    pub url: String,
    /// True if `url` is a template whose `{names}` are to be replaced by ids, or by the token of a share link.
    pub templated: bool,
    /// Summary of the operation.
    #[oai(validator(max_length = 200))]
    pub summary: String,
}
