//! Tells the result of a form. The query names one of these, so no text of a link reaches the page.

use maud::{Markup, html};
use poem::Request;

const DONE: [(&str, &str); 5] = [
    ("session-ended", "That browser is signed out."),
    ("other-sessions-ended", "All other browsers are signed out."),
    ("application-revoked", "The application can no longer act for you."),
    ("application-limited", "Your choice counts from the application's next request on."),
    ("application-allowed", "The application may act for you again."),
];

/// The address of the page after a form has done something.
pub(super) fn after(done: &str) -> String {
    format!("{}?done={done}", super::PATH)
}

/// The notice that the query of a request names, if it names one.
pub(super) fn of(request: &Request) -> Markup {
    let query = request.uri().query().unwrap_or_default();
    let named = url::form_urlencoded::parse(query.as_bytes()).find(|(key, _)| key == "done").map(|(_, value)| value);
    let text = named.and_then(|named| DONE.iter().find(|(name, _)| *name == named)).map(|(_, text)| *text);
    html! { @if let Some(text) = text { p.notice.good role="status" { (text) } } }
}
