//! Calls an operation of the API for a tool, through the layers that every request for it passes.

use api::{
    error::{ApiError, Code, ErrorBody},
    operation::Operation,
};
use poem::{
    Body, Request, ResponseParts,
    http::{HeaderName, Uri, header, request::Parts},
};
use poem_openapi::types::ParseFromJSON as _;
use serde_json::Value;
use url::form_urlencoded::Serializer;
use uuid::Uuid;

use super::arguments::Call;
use crate::{error::Error, operations::Operations};

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

impl Operations {
    /// Calls `operation` and returns its JSON, on behalf of the caller of `outer`, the request to the tool endpoint.
    ///
    /// # Errors
    /// The refusal of the layers or of the operation.
    pub async fn call(
        &self,
        outer: &Parts,
        operation: &Operation,
        property: Option<Uuid>,
        call: Call,
    ) -> Result<Value, ApiError> {
        let request = request(outer, operation, property, call)?;
        let (parts, body) = self.ask(request, &outer.extensions).await?;
        read(&parts, &body)
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

fn read(parts: &ResponseParts, body: &[u8]) -> Result<Value, ApiError> {
    let retry_after = parts.headers.get(header::RETRY_AFTER).and_then(|seconds| seconds.to_str().ok()?.parse().ok());
    let json = serde_json::from_slice(body).map_err(|_| ApiError::new(Code::Internal))?;
    if parts.status.is_success() { Ok(json) } else { Err(refusal_of(json, retry_after)) }
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
