//! The page on which a person chooses a simulated account and the scopes to grant.

use std::fmt::Write as _;

use poem::http::header;
use poem::{IntoResponse as _, Response};

use super::{pairs, parameter};
use crate::state::Shared;

/// A form that repeats the request `asked` and adds the person's choices: of all accounts, or of the one named `hinted`.
pub(super) fn page(shared: &Shared, asked: &[(String, String)], scope: &str, hinted: Option<&str>) -> Response {
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
    for account in shared.accounts.iter().filter(|account| hinted.is_none_or(|hinted| hinted == account.name)) {
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

/// The page on which people remove the access of clients.
pub(crate) fn permissions(shared: &Shared) -> Response {
    let mut list = String::new();
    for account in shared.accounts.iter() {
        for client in shared.oauth.clients_of(account.name) {
            // Writing to a String cannot fail.
            let _ = writeln!(
                list,
                "<form method=\"post\"><p>{email}: {client} <input type=\"hidden\" name=\"account\" value=\"{name}\">\
                 <button name=\"client_id\" value=\"{client}\">Remove access</button></p></form>",
                email = escape(&account.email()),
                name = escape(account.name),
                client = escape(&client),
            );
        }
    }
    let html = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Third-party access</title>\
         <h1>Simulated search engine</h1><p>Applications that have access to accounts since the last start:</p>{list}</html>"
    );
    poem::web::Html(html)
        .with_header(header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'")
        .with_header(header::CACHE_CONTROL, "no-store")
        .into_response()
}

/// Removes the access of a client, as a person does outside the client.
pub(crate) fn remove(shared: &Shared, body: &[u8]) -> Response {
    let form = pairs(body);
    if let (Some(client), Some(account)) = (parameter(&form, "client_id"), parameter(&form, "account")) {
        shared.oauth.end(&client, &account);
    }
    permissions(shared)
}

/// Escapes `text` for HTML, including attribute values in double quotes.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;").replace('\'', "&#39;")
}
