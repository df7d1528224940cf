//! Calls an operation of the API for a tool, through the layers that every request for it passes.

use api::{
    error::{ApiError, Code, ErrorBody},
    operation::Operation,
};
use bytes::Bytes;
use poem::{
    Body, Request, ResponseParts,
    http::{HeaderName, Uri, header, request::Parts},
};
use poem_openapi::types::ParseFromJSON as _;
use serde_json::Value;
use url::form_urlencoded::Serializer;
use uuid::Uuid;

use super::arguments::Call;
use crate::{error::Error, http::operations::Operations};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

impl Operations {
    /// Calls `operation` on behalf of the caller of `outer`, the request to the tool endpoint.
    ///
    /// # Errors
    /// The refusal of the layers or of the operation.
    pub async fn call(
        &self,
        outer: &Parts,
        operation: &Operation,
        property: Option<Uuid>,
        call: Call,
    ) -> Result<Answer, ApiError> {
        let request = request(outer, operation, property, call)?;
        let (parts, body) = self.ask(request, &outer.extensions).await?;
        read(&parts, body)
    }
}

/// The answer of an operation, as a client of the API would get it.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The JSON.
    pub body: Bytes,
    /// The entity tag.
    pub tag: Option<String>,
}

impl Answer {
    /// Reads the JSON.
    ///
    /// # Errors
    /// 500 if the operation did not answer in JSON.
    pub fn json(&self) -> Result<Value, ApiError> {
        serde_json::from_slice(&self.body).map_err(|_| ApiError::new(Code::Internal))
    }
}

fn request(outer: &Parts, operation: &Operation, property: Option<Uuid>, call: Call) -> Result<Request, Error> {
    let path = property.map_or_else(|| operation.path.to_owned(), |id| operation.path.replace("{id}", &id.to_string()));
    let query = Serializer::new(String::new()).extend_pairs(&call.query).finish();
    let uri: Uri =
        if query.is_empty() { path.parse() } else { format!("{path}?{query}").parse() }.map_err(Error::internal)?;
    let mut request = Request::builder().method(operation.method.clone()).uri(uri);
    for value in outer.headers.get_all(header::AUTHORIZATION) {
        request = request.header(header::AUTHORIZATION, value);
    }
    if let Some(key) = call.key {
        // A key that no header can hold is sent as one that the operation refuses.
        request = request.header(
            IDEMPOTENCY_KEY,
            header::HeaderValue::from_str(&key).unwrap_or(header::HeaderValue::from_static("")),
        );
    }
    let mut request = match call.body {
        Some(body) => request.content_type("application/json").body(Body::from(Value::Object(body).to_string())),
        None => request.finish(),
    };
    request.set_data(call.named);
    Ok(request)
}

fn read(parts: &ResponseParts, body: Bytes) -> Result<Answer, ApiError> {
    let header = |name| parts.headers.get(name)?.to_str().ok();
    let retry_after = header(header::RETRY_AFTER).and_then(|seconds| seconds.parse().ok());
    let answer = Answer { body, tag: header(header::ETAG).map(str::to_owned) };
    if parts.status.is_success() { Ok(answer) } else { Err(refusal_of(answer.json()?, retry_after)) }
}

/// Reads a refusal back from its wire form.
fn refusal_of(body: Value, retry_after: Option<u64>) -> ApiError {
    let Ok(body) = ErrorBody::parse_from_json(Some(body)) else { return ApiError::new(Code::Internal) };
    let code = Code::ALL.iter().find(|code| Some(code.as_str()) == body.code.as_deref());
    // The argument is called like `period`, the parameter like `compareStart`.
    let as_argument =
        |hint: String| hint.strip_prefix("compare: ").map_or(hint.clone(), |rest| format!("compareTo: {rest}"));
    ApiError {
        code: code.copied().unwrap_or(Code::Internal),
        hint: body.hint.map(as_argument),
        retry_after,
        correlation_id: body.correlation_id,
    }
}
