//! Requests to a server that a person named. It may be any server, so its answers are read up to a limit.

use bytes::Bytes;
use common::{
    bounded::{self, Unread},
    json,
};
use reqwest::{RequestBuilder, StatusCode, header::HeaderMap};
use serde::de::DeserializeOwned;
use url::Url;

use super::error::RemoteError;

/// The most bytes of an answer of the API. The largest, a thousand sites with their days, has a few million.
pub const OPERATION: usize = 32 << 20;

/// An answer, read to its end.
pub struct Received {
    /// The status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    address: Url,
    body: Bytes,
}

/// Sends a request for metadata or tokens and reads the answer, whatever its status is.
///
/// # Errors
/// The server does not answer, or sends too much.
pub async fn send(request: RequestBuilder) -> Result<Received, RemoteError> {
    send_up_to(bounded::DOCUMENT, request).await
}

/// Sends a request and reads an answer of at most `most` bytes, whatever its status is.
///
/// # Errors
/// The server does not answer, or sends too much.
pub async fn send_up_to(most: usize, request: RequestBuilder) -> Result<Received, RemoteError> {
    let response = request.send().await.map_err(|error| away(&error))?;
    let (status, headers, address) = (response.status(), response.headers().clone(), response.url().clone());
    match bounded::bytes(response, most).await {
        Ok(body) => Ok(Received { status, headers, address, body }),
        Err(Unread::Broken(error)) => Err(away(&error.with_url(address))),
        Err(_) => Err(RemoteError::Failed(format!(
            "{} sends more than {} MiB, which no answer of Sightline has: name the address of a Sightline server by --server or base_url \
             (SIGHTLINE_BASE_URL)",
            without_query(address),
            most >> 20
        ))),
    }
}

impl Received {
    /// Reads the answer as JSON.
    ///
    /// # Errors
    /// It is something else.
    pub fn json<T: DeserializeOwned>(self) -> Result<T, RemoteError> {
        json::object(&self.body).map_err(|error| {
            RemoteError::Failed(format!("{} did not answer as Sightline does: {error}", without_query(self.address)))
        })
    }

    /// Reads a good answer as JSON.
    ///
    /// # Errors
    /// It is something else, or a refusal.
    pub fn success<T: DeserializeOwned>(self) -> Result<T, RemoteError> {
        self.accepted()?;
        self.json()
    }

    /// Says whether the answer is a good one.
    ///
    /// # Errors
    /// It is a refusal.
    pub fn accepted(&self) -> Result<(), RemoteError> {
        if self.status.is_success() {
            return Ok(());
        }
        Err(RemoteError::Failed(format!("{} answered {}", without_query(self.address.clone()), self.status)))
    }
}

/// Says which server did not answer, and what to do.
fn away(error: &reqwest::Error) -> RemoteError {
    RemoteError::Failed(match error.url() {
        Some(url) => format!(
            "no answer from {} ({}): start the server, or name another by --server or base_url (SIGHTLINE_BASE_URL)",
            url.origin().ascii_serialization(),
            cause(error)
        ),
        None => error.to_string(),
    })
}

/// The innermost cause of an error, such as that a connection was refused.
fn cause(error: &dyn std::error::Error) -> String {
    std::iter::successors(Some(error), |error| error.source()).last().map(ToString::to_string).unwrap_or_default()
}

/// An address without its query, which may hold what a sign-in keeps for itself.
fn without_query(mut address: Url) -> Url {
    address.set_query(None);
    address
}
