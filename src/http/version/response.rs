//! Brings answers into the shape of an older version.

use api::{error::ApiError, operation::Operation, versions::Edit};
use common::compute;
use poem::{
    Response, Result,
    http::{HeaderValue, Method, StatusCode, header},
};
use serde_json::Value;

use super::{HEADER, Pin};
use crate::error::Error;

/// The size in bytes up to which a body is rewritten on the thread that serves the request.
const SMALL: usize = 16 * 1024;

/// Rewrites an answer of `operation` for the client's version. Only JSON that is whole is rewritten: the registry refuses a change
/// of streamed answers, and CSV is not JSON. Status and other headers stay as they are.
pub(super) async fn rewritten(pin: &Pin, operation: &Operation, response: Response) -> Result<Response> {
    let versions = &pin.served.versions;
    // A stored answer has the shape of the version that was the newest when it was stored.
    let shape = match response.headers().get(HEADER).map(HeaderValue::to_str) {
        None => Some(versions.all().len() - 1),
        Some(date) => date.ok().and_then(|date| versions.find(date)),
    };
    let Some(shape) = shape.filter(|shape| *shape >= pin.at) else { return Ok(response) };
    let status = response.status();
    let edits = if status.is_success() || status == StatusCode::NOT_MODIFIED {
        versions.response_edits(shape, pin.at, operation.id)
    } else if status.is_client_error() {
        versions.refusal_edits(shape, pin.at, operation.id)
    } else {
        Vec::new()
    };
    let is_read = operation.method == Method::GET && matches!(status, StatusCode::OK | StatusCode::NOT_MODIFIED);
    let is_tagged = is_read && !edits.is_empty();
    let mut response = if status == StatusCode::NOT_MODIFIED { response } else { edited(response, edits).await? };
    response.headers_mut().remove(HEADER);
    if is_tagged {
        retag(&mut response, &pin.suffix());
    }
    Ok(response)
}

async fn edited(mut response: Response, edits: Vec<Edit>) -> Result<Response> {
    let is_json = response.content_type().is_some_and(|kind| kind.starts_with("application/json"));
    if edits.is_empty() || !is_json {
        return Ok(response);
    }
    let body = response.take_body().into_bytes().await?;
    let edited = compute::beside_unless(body.len() <= SMALL, move || {
        let mut value: Value = serde_json::from_slice(&body)?;
        for edit in edits {
            edit(&mut value);
        }
        serde_json::to_vec(&value)
    });
    let body = edited.await.map_err(Error::internal).and_then(|body| body.map_err(Error::internal));
    response.set_body(body.map_err(ApiError::from)?);
    Ok(response)
}

/// Makes the tag of a rewritten answer another than that of the answer in the newest shape.
fn retag(response: &mut Response, suffix: &str) {
    let tag =
        response.headers().get(header::ETAG).and_then(|tag| tag.to_str().ok()).and_then(|tag| tag.strip_suffix('"'));
    if let Some(Ok(tag)) = tag.map(|tag| HeaderValue::from_str(&format!("{tag}{suffix}\""))) {
        response.headers_mut().insert(header::ETAG, tag);
    }
}
