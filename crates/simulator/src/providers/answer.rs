//! The answer to one request, before it is sent.

use poem::http::StatusCode;
use serde_json::Value;

/// An answer of a provider.
#[derive(Debug)]
pub(crate) struct ProviderAnswer {
    pub status: StatusCode,
    /// Headers beyond the type and length of the body.
    pub headers: Vec<(&'static str, String)>,
    pub body: String,
}

impl ProviderAnswer {
    /// An answer with a JSON body.
    pub(super) fn json(status: StatusCode, body: &Value) -> Self {
        Self { status, headers: Vec::new(), body: body.to_string() }
    }

    /// The same with one more header.
    pub(super) fn with(mut self, name: &'static str, value: &impl ToString) -> Self {
        self.headers.push((name, value.to_string()));
        self
    }
}
