//! Takes what forms of pages ask for, by requests through the layers of operations: a write is committed together with its answer.

use std::time::Duration;

use api::error::{ApiError, Code};
use poem::{
    Request, RequestBuilder,
    http::{HeaderName, HeaderValue, Method, header},
};
use serde_json::Value;
use tokio::time::sleep;
use url::form_urlencoded::Serializer;

use super::{
    ask::Visit,
    forms::{self, Sent, Write},
};
use crate::operations::Operations;

/// The pauses, in milliseconds, after which a form that is being taken is looked at again. Together they are longer than a crash holds a key.
const PAUSES: [u64; 9] = [25, 50, 100, 200, 400, 800, 1600, 3200, 6400];

/// Writes on behalf of whoever sent a form.
#[derive(Clone, Copy)]
pub struct Writer<'a> {
    pub operations: &'a Operations,
    pub page: &'a Visit,
}

impl Writer<'_> {
    /// Asks an operation to write what a form of this service asks for. Whether the form is the service's own is judged there.
    ///
    /// A form that was sent twice has one result. The second waits for the first, whose answer it gets by its key. A record that is gone is
    /// deleted, and one that holds what was sent is changed, whoever was faster.
    pub async fn write(self, write: &Write, sent: &Sent) -> Result<Value, ApiError> {
        let mut pauses = PAUSES.into_iter();
        let answer = loop {
            let answer = self.write_once(write, sent).await;
            match (answer, pauses.next()) {
                (Err(ApiError { code: Code::IdempotencyInProgress, .. }), Some(pause)) => {
                    sleep(Duration::from_millis(pause)).await;
                }
                (answer, _) => break answer,
            }
        };
        match answer {
            Err(ApiError { code: Code::NotFound, .. }) if write.method == Method::DELETE && sent.is_of_a_page() => {
                Ok(Value::Null)
            }
            Err(refusal) if refusal.code == Code::PreconditionFailed => self.held(write).await.ok_or(refusal),
            answer => answer,
        }
    }

    /// Returns the record that a write changes, if it holds what the write asks for.
    async fn held(self, write: &Write) -> Option<Value> {
        let body = write.body.as_ref().filter(|_| write.method == Method::PUT)?;
        let request = self.request(&write.path, &[], &[header::COOKIE]).ok()?;
        let answer = self.operations.json(request.finish(), &self.page.extensions).await.ok()?;
        holds(answer.get("data")?, body).then_some(answer)
    }

    async fn write_once(self, write: &Write, sent: &Sent) -> Result<Value, ApiError> {
        let passed = [header::COOKIE, header::ORIGIN, HeaderName::from_static("sec-fetch-site")];
        let mut request = self.request(&write.path, &write.query, &passed)?.method(write.method.clone());
        for (name, field) in [("idempotency-key", forms::KEY), ("if-match", forms::VERSION)] {
            if let Some(text) = sent.text(field) {
                let value = HeaderValue::try_from(text);
                let value =
                    value.map_err(|_| ApiError::invalid(field, "is not as the page had it; open the page again"))?;
                request = request.header(name, value);
            }
        }
        let request = match &write.body {
            Some(body) => request.content_type("application/json").body(body.to_string()),
            None => request.finish(),
        };
        self.operations.json(request, &self.page.extensions).await
    }

    /// A request with some headers of the one for the page.
    fn request(self, path: &str, query: &[(&str, String)], passed: &[HeaderName]) -> Result<RequestBuilder, ApiError> {
        let query = Serializer::new(String::new()).extend_pairs(query).finish();
        let target = if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") };
        let too_long =
            |_| ApiError::invalid("query string", "is too long: shorten what is searched for, or a field of the form");
        let mut request = Request::builder().uri(target.parse().map_err(too_long)?);
        for name in passed {
            for value in self.page.headers.get_all(name) {
                request = request.header(name, value);
            }
        }
        Ok(request)
    }
}

/// Returns whether a record holds everything that a body says of it. Null says that a field is absent.
fn holds(record: &Value, body: &Value) -> bool {
    match (record, body) {
        (Value::Object(record), Value::Object(body)) => {
            body.iter().all(|(name, value)| holds(record.get(name).unwrap_or(&Value::Null), value))
        }
        // A list of ids has no order.
        (Value::Array(record), Value::Array(body)) if body.iter().all(Value::is_string) => {
            record.len() == body.len() && body.iter().all(|id| record.contains(id))
        }
        (Value::Array(record), Value::Array(body)) => {
            record.len() == body.len() && record.iter().zip(body).all(|(record, body)| holds(record, body))
        }
        (Value::String(record), Value::String(body)) => record.trim() == body.trim(),
        (record, body) => record == body,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_record_holds_what_a_body_says_of_it() {
        let conditions = json!([{ "operator": "contains", "value": "b" }]);
        let record = json!({ "id": 1, "name": "A", "conditions": conditions, "ids": ["x", "y"] });
        for (body, expected) in [
            (json!({ "name": " A " }), true),
            (json!({ "name": "A", "color": null, "conditions": [{ "value": "b", "logic": null }] }), true),
            (json!({ "ids": ["y", "x"] }), true),
            (json!({ "ids": ["y"] }), false),
            (json!({ "name": "a" }), false),
            (json!({ "name": null }), false),
            (json!({ "name": "A", "color": "#fff" }), false),
            (json!({ "conditions": [] }), false),
        ] {
            assert_eq!(holds(&record, &body), expected, "{body}");
        }
    }
}
