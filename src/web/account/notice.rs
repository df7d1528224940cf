//! Tells the result of a form. The query names one of these, so no text of a link reaches the page. Each says what was done, and not what
//! holds: another form may have come meanwhile. The page shows what holds.

use maud::{Markup, html};
use poem::Request;

const DONE: [(&str, &str); 5] = [
    ("session-ended", "That browser was signed out."),
    ("other-sessions-ended", "All other browsers were signed out."),
    ("application-revoked", "The application's access was ended."),
    ("application-limited", "Your choice was stored. It counts from the application's next request on."),
    ("application-allowed", "The application was allowed to act for you again."),
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
