//! `/openapi.json` and its Swagger UI at `/docs`.
//!
//! Swagger UI comes with poem-openapi, which can only show its own 3.0 output. So its script, style and OAuth receiver are
//! extracted from its page once, and our own page shows the finished document.

pub mod errors;

use poem::{
    Endpoint, EndpointExt, Request,
    http::{Uri, header},
};
use poem_openapi::OpenApiService;
use serde_json::Value;
use url::Url;

use super::{
    fixed::{fixed, with_headers},
    paths::Paths,
};
use crate::identity::clients::DOCS;

/// The path of the page.
pub const PATH: &str = "/docs";

const PAGE: &str = include_str!("page.html");
const START: &str = include_str!("start.js");
const STYLE: &str = include_str!("docs.css");

/// The parts of Swagger UI in poem-openapi.
struct SwaggerUi {
    script: String,
    style: String,
    receiver: String,
}

impl SwaggerUi {
    async fn load() -> Option<Self> {
        let shipped = OpenApiService::new((), "", "").swagger_ui();
        let page = text(&shipped, "/").await?;
        let receiver = text(&shipped, "/oauth-receiver.html").await?;
        let style = between(&page, "<style charset=\"UTF-8\">", "</style>")?.to_owned();
        let script = between(&page, "<script charset=\"UTF-8\">", "</script>\n</head>")?.to_owned();
        Some(Self { script, style, receiver })
    }
}

async fn text(endpoint: &impl Endpoint, path: &'static str) -> Option<String> {
    let request = Request::builder().uri(Uri::from_static(path)).finish();
    endpoint.get_response(request).await.into_body().into_string().await.ok()
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end)?.0)
}

/// Adds the document and Swagger UI, which may send requests to the token endpoint at `token_url`. Returns `None` if poem-openapi's page
/// has an unknown structure.
pub async fn mount(paths: Paths, document: &Value, token_url: &str) -> Option<Paths> {
    let ui = SwaggerUi::load().await?;
    let json = serde_json::to_vec(document).ok()?;
    let issuer = Url::parse(token_url).ok()?.origin().ascii_serialization();
    let page_policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self' {issuer}; font-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    );
    let receiver_policy = "default-src 'none'; script-src 'unsafe-inline'; frame-ancestors 'none'";
    let (methods, html, script, style) =
        ("GET, HEAD", "text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8");
    let under = |policy: &str| [(header::CONTENT_SECURITY_POLICY, policy.to_owned())];
    Some(
        paths
            .at("/openapi.json", methods, fixed("application/json", json).with(poem::middleware::Cors::new()))
            .at(PATH, methods, with_headers(html, PAGE, &under(&page_policy)))
            .at("/docs/start.js", methods, fixed(script, START.replace("{client}", DOCS)))
            .at("/docs/docs.css", methods, fixed(style, STYLE))
            .at("/docs/swagger-ui.js", methods, fixed(script, ui.script))
            .at("/docs/swagger-ui.css", methods, fixed(style, ui.style))
            .at("/docs/oauth2-redirect.html", methods, with_headers(html, ui.receiver, &under(receiver_policy))),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn swagger_ui_is_found_in_the_page_that_poem_openapi_ships() {
        let ui = SwaggerUi::load().await.expect("the page has the expected shape");
        assert!(ui.script.contains("SwaggerUIBundle") && ui.script.len() > 100_000);
        assert!(ui.style.contains(".swagger-ui"));
        assert!(ui.receiver.contains("oauth2"));
    }
}
