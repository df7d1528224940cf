//! Protected-resource metadata (RFC 9728): where clients of each API find the issuer. Public, from any origin.

use api::scope::Scope;
use pages::{
    paths::Paths,
    public::{json_document, open_to_browsers},
};
use serde_json::{Value, json};

/// The path of the REST API's document, below `base_url`.
pub const API_PATH: &str = "/.well-known/oauth-protected-resource";
/// The path of the tool endpoint's document, relative to `mcp_url`.
pub const MCP_PATH: &str = "/.well-known/oauth-protected-resource/mcp";

/// The documents of both APIs.
#[derive(Clone, Debug)]
pub struct ResourceMetadata {
    /// Identifier of the REST API (`base_url`), also its required audience.
    pub api: String,
    /// Identifier of the tool endpoint (`mcp_url` + `/mcp`), also its required audience.
    pub mcp: String,
    /// The issuer of access tokens.
    pub issuer: String,
}

impl ResourceMetadata {
    /// Adds the two well-known documents to `routes`. With an external issuer the service has no authorization-server
    /// document: `authorization_servers` names the issuer, which has it.
    #[must_use]
    pub fn mount(&self, paths: Paths) -> Paths {
        let methods = "GET, HEAD, OPTIONS";
        let document =
            |resource: &str, scopes: &[Scope]| open_to_browsers(json_document(&self.document(resource, scopes)));
        // Assistants ask for every scope that is listed, and few tools need more than these.
        let of_tools = document(&self.mcp, &[Scope::SearchRead, Scope::RecordsWrite]);
        paths.at(API_PATH, methods, document(&self.api, &Scope::ALL)).at(MCP_PATH, methods, of_tools)
    }

    fn document(&self, resource: &str, scopes: &[Scope]) -> Value {
        // offline_access concerns the issuer and is not a scope of the resource (MCP says the same).
        let scopes = ["openid", "profile", "email"].into_iter().chain(scopes.iter().map(|scope| scope.as_str()));
        json!({
            "resource": resource,
            "authorization_servers": [self.issuer],
            "scopes_supported": scopes.collect::<Vec<_>>(),
            "bearer_methods_supported": ["header"],
            "resource_name": "Sightline",
        })
    }
}
