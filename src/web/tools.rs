//! `GET /mcp` in a browser: what to do with the address of the tool endpoint.

use maud::html;
use pages::page::Page;
use poem::{
    Response,
    http::{StatusCode, header},
};

use super::documentation;

/// Returns the page that explains the tool endpoint at `address`. Its status is the protocol's for `GET`.
#[must_use]
pub fn page(address: &str) -> Response {
    let mut response = Page::new("An address for assistants").status(StatusCode::METHOD_NOT_ALLOWED).render(&html! {
        p { "Give this address to an assistant that speaks the Model Context Protocol, and it can answer questions about your search performance:" }
        p.card { code { (address) } }
        ul {
            li { "In Claude, ChatGPT or another assistant, add a connector (a remote MCP server) with this address, and sign in when it asks." }
            li { "In Claude Code: " code { "claude mcp add --transport http sightline " (address) } }
            li { "In other programs: a remote server with the transport \u{201c}Streamable HTTP\u{201d}, and sign-in by OAuth." }
        }
        p { "The assistant sees what you can see. You allow it once, and can end its access on " a href="/account" { "your account page" } "." }
        p { "Programs without an assistant use the " a href=(documentation::addresses::API) { "API" } "." }
    });
    response.headers_mut().insert(header::ALLOW, header::HeaderValue::from_static("POST"));
    response
}
