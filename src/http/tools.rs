//! The layers of the tool endpoint, and the layers between a tool and its operation.
//!
//! A tool calls an operation through the layers that a request for the operation passes: the same rights, plans, transactions, errors
//! and metrics hold. Only the request to the endpoint counts for the rate limit.

use std::sync::Arc;

use pages::page;
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    endpoint::BoxEndpoint,
    error::MethodNotAllowedError,
    http::{Method, header},
};

use super::{authenticate::Authenticate, origin::OwnOrigins};
use crate::web::tools;

/// Makes the endpoint from the operations behind their layers.
pub type Build = Box<dyn FnOnce(BoxEndpoint<'static>) -> BoxEndpoint<'static>>;

/// The tool endpoint and its settings.
pub struct Tools {
    /// The URL of the endpoint.
    pub address: String,
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

/// The layer that refuses methods that nobody may use. It runs before authentication. `GET` passes, because clients ask by it without a token
/// for the challenge that leads to the metadata.
///
/// # Errors
/// 405, and the errors of the inner layers.
pub async fn methods<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    if !matches!(*request.method(), Method::GET | Method::POST) {
        return Err(MethodNotAllowedError.into());
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// The layer that tells people who open the endpoint at `address` in a browser what to do with it. They have no token, so it is before
/// authentication.
///
/// # Errors
/// The errors of the inner layers.
pub async fn explain<E: Endpoint>(address: Arc<str>, next: Arc<E>, request: Request) -> Result<Response> {
    if *request.method() == Method::GET && page::is_wanted(request.headers()) {
        return Ok(tools::page(&address));
    }
    next.call(request).await.map(IntoResponse::into_response)
}
