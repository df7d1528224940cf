//! Fetches one document, with everything that an address may answer instead bounded.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use common::bounded::{self, Unread};
use http::{HeaderMap, StatusCode, header};
use reqwest::dns::Resolve;

use super::{
    Unreadable,
    identifier::Identifier,
    reach::{Guard, Reach},
};

/// Time for the whole answer, from the resolution of the name to the last byte.
const TIME_LIMIT: Duration = Duration::from_secs(5);
const MAX_BYTES: usize = 5 * 1024;
const UNAVAILABLE: Unreadable =
    Unreadable("The application's metadata document could not be fetched from its client_id.");
const TOO_LARGE: Unreadable = Unreadable("The application's metadata document is larger than 5 KiB.");

/// Makes a client of its own for documents out of the service's settings. Connections go to allowed addresses only, and never
/// through a proxy, which would resolve names itself.
pub(super) fn client(
    builder: reqwest::ClientBuilder,
    names: Arc<dyn Resolve>,
    reach: Reach,
) -> Result<reqwest::Client, reqwest::Error> {
    builder
        .dns_resolver(Arc::new(Guard { names, reach }))
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        // A compressed answer would unpack to more than its size.
        .no_gzip()
        .pool_max_idle_per_host(0)
        .timeout(TIME_LIMIT)
        .build()
}

/// Returns the headers and the bytes of a document.
pub(super) async fn fetch(http: &reqwest::Client, id: &Identifier) -> Result<(HeaderMap, Bytes), Unreadable> {
    let request = http.get(id.url().clone()).header(header::ACCEPT, "application/json");
    let response = request.send().await.map_err(|error| unavailable(id, &error))?;
    if response.status() != StatusCode::OK {
        tracing::info!(client_id = id.url().as_str(), status = %response.status(), "a client's document was not answered with 200");
        return Err(UNAVAILABLE);
    }
    if !is_json(response.headers()) {
        return Err(Unreadable("The application's metadata document is not served as application/json."));
    }
    let headers = response.headers().clone();
    match bounded::bytes(response, MAX_BYTES).await {
        Ok(body) => Ok((headers, body)),
        Err(Unread::TooLong(_)) => Err(TOO_LARGE),
        Err(error) => Err(unavailable(id, &error)),
    }
}

fn unavailable(id: &Identifier, error: &dyn std::error::Error) -> Unreadable {
    tracing::info!(client_id = id.url().as_str(), ?error, "a client's document could not be fetched");
    UNAVAILABLE
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let subtype = media_type.strip_prefix("application/").unwrap_or_default();
    subtype == "json" || (subtype.len() > "+json".len() && subtype.ends_with("+json"))
}
