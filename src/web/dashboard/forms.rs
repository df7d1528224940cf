//! Forms. Each becomes one write of an operation, through its layers: they judge its rights and its fields, and its key lets a double
//! click write once.
//!
//! A form is named by its action. On a page with sections an action is `section.verb`, and the page comes back at that section.

use api::error::{ApiError, Code};
use maud::{Markup, html};
use pages::{
    form::{self, Holds},
    page::unsent,
};
use poem::{Body, http::Method};
use serde_json::Value;
use url::form_urlencoded;

use super::labels::labelled;

/// The largest form, in bytes. The longest text of a note may be percent-encoded.
const LARGEST: usize = 256 * 1024;

/// The field that says which form of the page was sent.
pub const ACTION: &str = "do";

/// The field of a second button of a form.
pub const BUTTON: &str = "button";

/// The button that asks what the write would do.
pub const PREVIEW: &str = "preview";

/// The button that asks for the form again, with more fields or more words.
pub const AGAIN: &str = "again";

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
    /// The page that is opened afterwards, if the visitor may no longer open this one.
    pub leaves_to: Option<&'static str>,
}

impl Write {
    /// A write with a body.
    pub fn new(method: Method, path: String, body: Value, done: &'static str) -> Self {
        Self { method, path, query: Vec::new(), body: Some(body), done: Some(done), leaves_to: None }
    }

    /// The question what a write would do.
    pub fn preview(path: String, body: Value) -> Self {
        Self { done: None, ..Self::new(Method::POST, path, body, "") }
    }

    /// The deletion of a record.
    pub fn delete(path: String, done: &'static str) -> Self {
        Self { method: Method::DELETE, path, query: Vec::new(), body: None, done: Some(done), leaves_to: None }
    }

    /// The same write with a parameter.
    pub fn with(mut self, name: &'static str, value: &str) -> Self {
        self.query.push((name, value.to_owned()));
        self
    }

    /// The same write, after which another page is opened.
    pub fn leaving_to(self, page: &'static str) -> Self {
        Self { leaves_to: Some(page), ..self }
    }
}

/// The message of a page after a form.
const NOTICES: [(&str, &str); 11] = [
    ("added", "Added."),
    ("saved", "Saved."),
    ("deleted", "Deleted."),
    ("sent", "Sent."),
    ("invited", "Added. No e-mail is sent: tell the person to sign in here with this address."),
    ("removed", "Removed. It counts from the next request on."),
    ("left", "You have left. The site is no longer shared with you."),
    ("made", "The link is made. Copy its address below."),
    ("revoked", "Revoked. The link opens nothing any more."),
    ("hidden", "Hidden. Hidden sites are behind the link below."),
    ("shown", "Shown again."),
];

/// The message about a form of which it is open whether it was written.
const OPEN: &str = "It is not known yet whether this was written. Look at the page again in some seconds; sent again as it is, it is written once.";

/// Refuses a form that the page does not have.
pub fn unknown() -> ApiError {
    ApiError::invalid(ACTION, "names no form of this page; open the page and send it again")
}

impl Sent {
    /// Reads the fields.
    ///
    /// # Errors
    /// `invalid_request` if there are too many bytes.
    pub async fn read(body: Body) -> Result<Self, ApiError> {
        let body = body.into_bytes_limit(LARGEST).await;
        let body = body.map_err(|_| ApiError::invalid("form", "is too large or was cut; send less"))?;
        // A browser sends a line break as two characters, and counts it as one.
        let fields =
            form_urlencoded::parse(&body).map(|(name, value)| (name.into_owned(), value.replace("\r\n", "\n")));
        Ok(Self { fields: fields.collect(), refusal: None, preview: None })
    }

    /// Judges the characters of the fields. The operation judges what they mean, so here any field may have several lines.
    ///
    /// # Errors
    /// `invalid_request` if a field holds another control character.
    pub fn judge(&self) -> Result<(), ApiError> {
        let mut judged = self.fields.iter().map(|(name, value)| form::judge(name, value, Holds::Lines));
        Ok(judged.try_for_each(|judged| judged)?)
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

    /// Returns whether a button of the form was used.
    pub fn used(&self, button: &str) -> bool {
        self.text(BUTTON) == Some(button)
    }

    /// The section of the form, or nothing on a page without sections.
    pub fn section(&self) -> &str {
        section(self.text(ACTION).unwrap_or_default())
    }

    /// True if the form has what the page gives each form: a key, or the version of a record that was there.
    pub fn is_of_a_page(&self) -> bool {
        [KEY, VERSION].iter().any(|name| self.text(name).is_some())
    }

    /// True if it is open whether the form was written: it is being written, or the service failed meanwhile.
    fn is_open(&self) -> bool {
        let code = self.refusal.as_ref().map(|refusal| refusal.code).filter(|_| !self.used(PREVIEW));
        code.is_some_and(|code| code == Code::IdempotencyInProgress || code.status().is_server_error())
    }

    /// The key that the form keeps: another one would write again what may have been written already.
    pub fn kept_key(&self) -> Option<&str> {
        let is_early = self.refusal.as_ref()?.code == Code::RateLimited;
        self.text(KEY).filter(|_| is_early || self.is_open())
    }

    /// Returns whether this is the form with this `action` of the record with this `id`.
    pub fn is(&self, action: &str, id: Option<&str>) -> bool {
        self.text(ACTION) == Some(action) && self.text("id") == id
    }

    /// Draws what the visitor wrote, for a page without the form.
    pub fn written(&self) -> Markup {
        unsent::written(self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Returns whether a box of the form is ticked.
    pub fn ticks(&self, name: &str, value: &str) -> bool {
        self.all(name).any(|ticked| ticked == value)
    }
}

/// The section of an action or of what was done.
fn section(action: &str) -> &str {
    action.split_once('.').map_or("", |(section, _)| section)
}

/// The place on the page that a form leads to.
pub fn anchor(action: &str) -> Option<String> {
    Some(section(action)).filter(|section| !section.is_empty()).map(|section| format!("#{section}"))
}

/// Says in a section of the page what was done, or why nothing was.
pub fn notice(at: &str, done: Option<&str>, sent: Option<&Sent>) -> Markup {
    let done = done.filter(|done| sent.is_none() && section(done) == at);
    let word = done.map(|done| done.rsplit('.').next().unwrap_or_default());
    let words = word.and_then(|word| NOTICES.iter().find(|(name, _)| *name == word)).map(|(_, words)| *words);
    let sent = sent.filter(|sent| sent.section() == at);
    let refusal = sent.and_then(|sent| sent.refusal.as_ref());
    let is_open = sent.is_some_and(Sent::is_open);
    let written = sent.filter(|_| refusal.is_some_and(|refusal| takes_form_away(refusal.code))).map(Sent::written);
    html! {
        @if let Some(refusal) = refusal { p.notice.warn role="alert" { @if is_open { (OPEN) } @else { "Nothing was changed. " (told(refusal)) } } }
        @if let Some(written) = written { (written) }
        @if let Some(words) = words { p.notice.good role="status" { (words) } }
    }
}

/// Returns whether a page shows no form again after this refusal: its visitor may send none, or its record is gone.
fn takes_form_away(code: Code) -> bool {
    matches!(code, Code::Forbidden | Code::NotFound | Code::SubscriptionRequired)
}

/// Why a form changed nothing, in words for people.
fn told(refusal: &ApiError) -> Markup {
    let hint = refusal.hint.as_deref().unwrap_or(refusal.code.text());
    html! {
        @match refusal.code {
            Code::PreconditionFailed => "It has changed since you opened the page. Look at it again; what you send now replaces it.",
            Code::IdempotencyKeyReused => "This form was sent before, with something else in it. Send it again to write this, too.",
            Code::NotFound if refusal.hint.is_none() => "It is not there any more.",
            Code::SubscriptionRequired => { (hint) " " a href="/subscribe" { "Plans" } }
            _ => (labelled(hint)),
        }
    }
}

/// The hidden fields of a form with its key.
pub fn hidden(action: &str, key: &str) -> Markup {
    html! {
        input type="hidden" name=(ACTION) value=(action);
        input type="hidden" name=(KEY) value=(key);
    }
}

/// A button that deletes, behind a fold that asks again.
pub fn delete(action: &str, words: &str, fields: &[(&str, &str)]) -> Markup {
    html! {
        details.ask {
            summary { (words) }
            form method="post" action=[anchor(action)] {
                input type="hidden" name=(ACTION) value=(action);
                @for (name, value) in fields { input type="hidden" name=(name) value=(value); }
                button.danger { (words) " for good" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_keeps_its_key_where_it_may_have_been_written() {
        for (code, keeps, words) in [
            (Code::IdempotencyInProgress, true, OPEN),
            (Code::Unavailable, true, OPEN),
            (Code::RateLimited, true, "Nothing was changed."),
            (Code::InvalidRequest, false, "Nothing was changed."),
            (Code::IdempotencyKeyReused, false, "Nothing was changed."),
        ] {
            let fields = vec![(KEY.to_owned(), "k".to_owned())];
            let sent = Sent { fields, refusal: Some(ApiError::new(code)), preview: None };
            assert_eq!(sent.kept_key(), keeps.then_some("k"), "{code:?}");
            let shown = notice("", None, Some(&sent)).into_string();
            assert!(shown.contains(words), "{code:?}: {shown}");
        }
    }
}
