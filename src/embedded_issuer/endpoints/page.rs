//! The two HTML pages: sign-in with consent, and the error that must not be sent to an unknown URL.

use poem::{Response, http::StatusCode};

use crate::embedded_issuer::{clients::Client, demo::PEOPLE};

// There is no form-action directive: browsers also apply it to the redirect after the form, which leads to the client.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'";
const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;max-width:26rem;margin:10vh auto;padding:0 1rem;color:#1b1f24}\
    button{display:block;width:100%;margin:.5rem 0;padding:.6rem;font:inherit;text-align:left;border:1px solid #bbb;\
    border-radius:.4rem;background:#fff;cursor:pointer}button:hover,button:focus{border-color:#06c}\
    .quiet{border:0;color:#555}code{overflow-wrap:anywhere}";

/// The page that shows the client and its requested access, and lets a demo person agree.
pub(super) fn sign_in(client: &Client, redirect_uri: &str, scope: &str, query: &str, csrf: &str) -> Response {
    let name = escape(client.name.as_deref().unwrap_or(&client.id));
    let people: String = PEOPLE.iter().map(|person| choice(person.name, person.display_name, person.email)).collect();
    let body = format!(
        "<h1>Sign in to Sightline</h1>\
         <p><strong>{name}</strong> asks to read your search analytics and to act for you ({scope}). \
         You return to <code>{address}</code>.</p>\
         <p>This service has demo people only. Choose one to sign in and agree:</p>\
         <form method=\"post\" action=\"/oauth/authorize?{query}\">\
         <input type=\"hidden\" name=\"csrf\" value=\"{csrf}\">{people}\
         <button class=\"quiet\" name=\"decision\" value=\"cancel\">Cancel</button></form>",
        scope = escape(scope),
        address = escape(redirect_uri),
        query = escape(query),
        csrf = escape(csrf),
    );
    html(StatusCode::OK, &body)
}

/// The page for a request with an invalid client or redirect URI.
pub(super) fn error(reason: &str) -> Response {
    html(StatusCode::BAD_REQUEST, &format!("<h1>You cannot sign in from here</h1><p>{}</p>", escape(reason)))
}

fn choice(name: &str, display_name: &str, email: &str) -> String {
    format!("<button name=\"person\" value=\"{name}\">{display_name}<br><small>{email}</small></button>")
}

fn html(status: StatusCode, body: &str) -> Response {
    Response::builder()
        .status(status)
        .content_type("text/html; charset=utf-8")
        .header("Content-Security-Policy", POLICY)
        .header("X-Frame-Options", "DENY")
        .header("X-Content-Type-Options", "nosniff")
        .header("Referrer-Policy", "no-referrer")
        .header("Cache-Control", "no-store")
        .body(format!(
            "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Sign in</title>\
             <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>{body}</body></html>"
        ))
}

/// Escapes text for HTML elements and quoted attributes.
pub(super) fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            other => escaped.push(other),
        }
    }
    escaped
}
