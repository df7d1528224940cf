//! Calls an operation of the API for a tool, through the layers that every request for it passes.

use api::{error::ApiError, operation::Operation};
use poem::{
    Body, Request,
    http::{HeaderName, Uri, header, request::Parts},
};
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
        self.json(request, &outer.extensions).await.map_err(as_argument)
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

/// Names the argument of the tool in a hint that names the parameter of the operation: `compareTo` instead of `compare`.
fn as_argument(mut refusal: ApiError) -> ApiError {
    let renamed =
        refusal.hint.as_deref().and_then(|hint| Some(format!("compareTo: {}", hint.strip_prefix("compare: ")?)));
    refusal.hint = renamed.or(refusal.hint);
    refusal
}
