//! The guides as pages, and the page for an address at which no document is.

use std::sync::LazyLock;

use api::error::{ApiError, Code};
use maud::{Markup, PreEscaped, html};
use pages::{
    markdown::{self, Rendered},
    page::is_wanted,
    paths::Paths,
};
use poem::{
    Request, Response, Result, RouteMethod, get, handler,
    http::{HeaderValue, StatusCode, header},
};

use super::{
    addresses::{ALL, API, FOLDER, GUIDES, Guide, INDEX, target},
    frame,
};

/// The guides and their list, rendered once.
static RENDERED: LazyLock<Vec<(&Guide, Rendered)>> = LazyLock::new(|| {
    let render = |guide: &'static Guide| (guide, markdown::render(guide.text, 0, |link| target(FOLDER, link)));
    ALL.iter().chain([&INDEX]).map(render).collect()
});

/// The address of the tool endpoint, as the files have it.
const TOOLS: &str = "{mcp.url}/mcp";

/// Adds the pages. Tools are at the address `tools`.
#[must_use]
pub fn mount(paths: Paths, tools: &str) -> Paths {
    let tools = html! { (tools) }.into_string();
    let add = |paths: Paths, (guide, text): &(&Guide, Rendered)| paths.at(guide.path, "GET, HEAD", page(text, &tools));
    let paths = RENDERED.iter().fold(paths, add);
    paths.at("/docs/:name", "GET, HEAD", get(unknown))
}

fn page(text: &Rendered, tools: &str) -> RouteMethod {
    let body = PreEscaped(text.body.0.replace(TOOLS, tools));
    frame::page(text.title.clone()).fixed(&frame::with_sections(&text.sections, &body))
}

/// The guides, by their titles.
#[must_use]
pub fn list() -> Markup {
    html! { ul { @for guide in &ALL { li { a href=(guide.path) { (guide.title()) } } } } }
}

/// Tells somebody at a wrong address which documents are there.
#[handler]
fn unknown(request: &Request) -> Result<Response> {
    if !is_wanted(request.headers()) {
        let hint = format!("the guides are listed at {GUIDES}, and the operations at {API}");
        return Err(ApiError::new(Code::NotFound).hint(hint).into());
    }
    let mut response = frame::page("Not found").status(StatusCode::NOT_FOUND).render(&html! {
        p role="alert" { "There is no document at this address. These are there:" }
        (list())
        p { "The operations are in the " a href=(API) { "documentation of the API" } "." }
    });
    response.headers_mut().append(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}
