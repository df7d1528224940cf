//! The page on which a person chooses a simulated account and the scopes to grant.

use std::fmt::Write as _;

use poem::http::header;
use poem::{IntoResponse as _, Response};

use crate::simulator::accounts;

/// A form that repeats the request `asked` and adds the person's choices.
pub(super) fn page(asked: &[(String, String)], scope: &str) -> Response {
    let mut form = String::new();
    for (name, value) in asked.iter().filter(|(name, _)| name != "login_hint" && name != "granted_scope") {
        // Writing to a String cannot fail.
        let _ = writeln!(form, "<input type=\"hidden\" name=\"{}\" value=\"{}\">", escape(name), escape(value));
    }
    for scope in scope.split_whitespace().map(escape) {
        let _ = writeln!(
            form,
            "<p><label><input type=\"checkbox\" name=\"granted_scope\" value=\"{scope}\" checked> {scope}</label></p>"
        );
    }
    for account in &accounts::ALL {
        let name = escape(account.name);
        let _ =
            writeln!(form, "<p><button name=\"login_hint\" value=\"{name}\">{}</button></p>", escape(&account.email()));
    }
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Choose an account</title>\
         <h1>Simulated search engine</h1><p>Choose an account and what the application may read.</p>\
         <form method=\"get\" action=\"/o/oauth2/v2/auth\">\n{form}\
         <p><button name=\"deny\" value=\"1\">Cancel</button></p></form></html>"
    );
    poem::web::Html(html)
        .with_header(header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'")
        .with_header(header::CACHE_CONTROL, "no-store")
        .into_response()
}

/// Escapes `text` for HTML, including attribute values in double quotes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
