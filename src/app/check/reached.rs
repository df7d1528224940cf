//! Asks other servers, and says in words why one cannot be reached and what mends it.

use std::{error::Error as _, time::Duration};

use reqwest::{RequestBuilder, Response};
use url::Url;

/// The time for an answer of another server.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// Sends a request. Returns any answer.
///
/// # Errors
/// The reason why there is none, with what mends it.
pub(super) async fn send(request: RequestBuilder) -> Result<Response, String> {
    request.timeout(TIMEOUT).send().await.map_err(|error| reason(&error))
}

/// The host of a URL.
pub(super) fn host(url: &str) -> String {
    Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_else(|| url.to_owned())
}

/// Says why there is no answer. The last cause is the one that the system or TLS gives.
fn reason(error: &reqwest::Error) -> String {
    let (mut said, mut cause) = (Vec::new(), error.source());
    while let Some(found) = cause {
        said.push(found.to_string());
        cause = found.source();
    }
    let last = said.last().cloned().unwrap_or_default();
    let is = |words: &str| said.iter().any(|said| said.contains(words));
    if error.is_timeout() {
        format!(
            "no answer within {} s: look for a firewall, or for a router that does not lead back to itself",
            TIMEOUT.as_secs()
        )
    } else if is("dns error") {
        format!("this machine does not find its name ({last}): correct the name, or its DNS record")
    } else if is("certificate") {
        format!(
            "its certificate is refused ({last}): let the server send the whole chain of a valid one, or trust its authority on this machine"
        )
    } else if is("refused") {
        "nothing listens there: start it, or correct the host and the port".to_owned()
    } else {
        last
    }
}
