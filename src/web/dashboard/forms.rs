//! Forms. Each becomes one write of an operation, through its layers: they judge its rights and its fields, and its key lets a double
//! click write once.

use api::error::ApiError;
use maud::{Markup, html};
use poem::{Body, http::Method};
use serde_json::Value;
use url::form_urlencoded;

/// The largest form, in bytes. The longest text of a note may be percent-encoded.
const LARGEST: usize = 256 * 1024;

/// The field that says which form of the page was sent.
pub const ACTION: &str = "do";

/// The field with the `Idempotency-Key`.
pub const KEY: &str = "key";

/// The field with the version of the record that the form changes.
pub const VERSION: &str = "etag";

/// A form as it was sent.
#[derive(Debug, Clone, Default)]
pub struct Sent {
    fields: Vec<(String, String)>,
    /// Why it changed nothing.
    pub refusal: Option<ApiError>,
    /// The answer to its preview.
    pub preview: Option<Value>,
}

/// A write that a form asks for.
pub struct Write {
    /// `POST`, `PUT` or `DELETE`.
    pub method: Method,
    /// The path of the operation.
    pub path: String,
    /// The parameters in its query string.
    pub query: Vec<(&'static str, String)>,
    /// The JSON of its body, if it takes one.
    pub body: Option<Value>,
    /// The word of [`NOTICES`] that the page says afterwards. `None` for a preview, whose answer the page shows beside the form.
    pub done: Option<&'static str>,
}

impl Write {
    /// A write with a body.
    pub fn new(method: Method, path: String, body: Value, done: &'static str) -> Self {
        Self { method, path, query: Vec::new(), body: Some(body), done: Some(done) }
    }

    /// The question what a write would do.
    pub fn preview(path: String, body: Value) -> Self {
        Self { method: Method::POST, path, query: Vec::new(), body: Some(body), done: None }
    }

    /// The deletion of a record.
    pub fn delete(path: String, done: &'static str) -> Self {
        Self { method: Method::DELETE, path, query: Vec::new(), body: None, done: Some(done) }
    }
}

/// What a page says after a form.
const NOTICES: [(&str, &str); 6] = [
    ("added", "Added."),
    ("saved", "Saved."),
    ("deleted", "Deleted."),
    ("sent", "Sent."),
    ("hidden", "The site is hidden. Hidden sites are behind the link below."),
    ("shown", "The site is shown again."),
];

impl Sent {
    /// Reads the fields.
    ///
    /// # Errors
    /// `invalid_request` if there are too many bytes.
    pub async fn read(body: Body) -> Result<Self, ApiError> {
        let body = body.into_bytes_limit(LARGEST).await;
        let body = body.map_err(|_| ApiError::invalid("form", "is too large or was cut; send less"))?;
        let fields = form_urlencoded::parse(&body).map(|(name, value)| (name.into_owned(), value.into_owned()));
        Ok(Self { fields: fields.collect(), refusal: None, preview: None })
    }

    /// The first value of a field, unless it is empty.
    pub fn text(&self, name: &str) -> Option<&str> {
        let first = self.fields.iter().find(|(field, _)| field == name);
        first.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// The first value of a field as a segment of a path.
    pub fn segment(&self, name: &str) -> Option<String> {
        self.text(name).map(|value| form_urlencoded::byte_serialize(value.as_bytes()).collect())
    }

    /// Every value of a field.
    pub fn all<'s>(&'s self, name: &'s str) -> impl Iterator<Item = &'s str> {
        self.fields.iter().filter(move |(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Returns whether the form with this `action` was sent and changed nothing. It then shows what was written in it.
    pub fn keeps(&self, action: &str) -> bool {
        (self.refusal.is_some() || self.preview.is_some()) && self.text(ACTION) == Some(action)
    }

    /// Returns whether a box of the form is ticked.
    pub fn ticks(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|ticked| ticked == value)
    }
}

/// Says what was done, or why nothing was.
pub fn notice(done: Option<&str>, sent: Option<&Sent>) -> Markup {
    let done = done.and_then(|done| NOTICES.iter().find(|(name, _)| *name == done));
    html! {
        @if let Some(refusal) = sent.and_then(|sent| sent.refusal.as_ref()) {
            p.notice.warn role="alert" { "Nothing was changed. " (refusal.hint.as_deref().unwrap_or(refusal.code.text())) }
        } @else if let Some((_, words)) = done {
            p.notice role="status" { (words) }
        }
    }
}

/// The hidden fields of a form. `page` is the part of the key that no other view of the page has.
pub fn hidden(action: &str, page: &str) -> Markup {
    html! {
        input type="hidden" name=(ACTION) value=(action);
        input type="hidden" name=(KEY) value={ (page) "." (action) };
    }
}

/// A button that deletes, behind a fold that asks again.
pub fn delete(action: &str, words: &str, fields: &[(&str, &str)]) -> Markup {
    html! {
        details.ask {
            summary { (words) }
            form method="post" {
                input type="hidden" name=(ACTION) value=(action);
                @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
                button.danger { (words) " for good" }
            }
        }
    }
}
