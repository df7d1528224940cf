//! The layers of the tool endpoint, and those between a tool and the operation that it calls.
//!
//! A tool calls an operation through the layers that a request for the operation passes: the same rights, plans, transactions, errors
//! and metrics hold. Only the request to the endpoint counts for the rate limit.

use std::sync::Arc;

use poem::{Endpoint, IntoResponse, Request, Response, Result, endpoint::BoxEndpoint, http::header};

use super::{authenticate::Authenticate, origin::OwnOrigins};

/// Makes the endpoint from the operations behind their layers.
pub type Build = Box<dyn FnOnce(BoxEndpoint<'static>) -> BoxEndpoint<'static>>;

/// The tool endpoint and its settings.
pub struct Tools {
    /// The operations as tools call them.
    pub operations: BoxEndpoint<'static>,
    /// Makes the endpoint.
    pub build: Build,
    /// The settings of authentication, with the endpoint's own audience and metadata.
    pub authenticate: Authenticate,
    /// The pages that may call the endpoint.
    pub origins: Arc<OwnOrigins>,
}

/// The layer that removes cookies: the tool endpoint takes bearer tokens only.
///
/// # Errors
/// The errors of the inner layers.
pub async fn without_cookies<E: Endpoint>(next: Arc<E>, mut request: Request) -> Result<Response> {
    request.headers_mut().remove(header::COOKIE);
    next.call(request).await.map(IntoResponse::into_response)
}
