//! `/openapi.json` and its Swagger UI at `/docs`, and below it the guides and the list of error codes.
//!
//! Swagger UI is a release of another project, in `swagger-ui/`, which `tools/swagger-ui/update.sh` renews.

pub mod addresses;
pub mod errors;
pub mod frame;
pub mod guides;

use identity::clients::DOCS;
use pages::{
    fixed::{fixed, with_headers},
    paths::Paths,
};
use poem::{EndpointExt, http::header};
use serde_json::Value;
use url::Url;

use self::addresses::API;

const PAGE: &str = include_str!("page.html");
const START: &str = include_str!("start.js");
const STYLE: &str = include_str!("docs.css");

const SWAGGER_UI: &str = include_str!("swagger-ui/swagger-ui-bundle.js");
const SWAGGER_UI_STYLE: &str = include_str!("swagger-ui/swagger-ui.css");
/// The page to which the issuer sends the window in which a person signs in, and its script.
const RECEIVER: &str = include_str!("swagger-ui/oauth2-redirect.html");
const RECEIVER_SCRIPT: &str = include_str!("swagger-ui/oauth2-redirect.js");

/// Adds the document, the guides and Swagger UI, which may send requests to the token endpoint at `token_url`. Returns `None` if that is no
/// URL. Tools are at the address `tools`.
#[must_use]
pub fn mount(paths: Paths, document: &Value, token_url: &str, tools: &str) -> Option<Paths> {
    let json = serde_json::to_vec(document).ok()?;
    let issuer = Url::parse(token_url).ok()?.origin().ascii_serialization();
    let page_policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         connect-src 'self' {issuer}; font-src data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    );
    let receiver_policy = "default-src 'none'; script-src 'self'; frame-ancestors 'none'; base-uri 'none'";
    let (methods, html, script, style) =
        ("GET, HEAD", "text/html; charset=utf-8", "text/javascript; charset=utf-8", "text/css; charset=utf-8");
    let under = |policy: &str| [(header::CONTENT_SECURITY_POLICY, policy.to_owned())];
    let paths = paths
        .at("/openapi.json", methods, fixed("application/json", json).with(poem::middleware::Cors::new()))
        .at(API, methods, with_headers(html, PAGE, &under(&page_policy)))
        .at("/docs/start.js", methods, fixed(script, START.replace("{client}", DOCS)))
        .at("/docs/docs.css", methods, fixed(style, STYLE))
        .at("/docs/swagger-ui.js", methods, fixed(script, SWAGGER_UI))
        .at("/docs/swagger-ui.css", methods, fixed(style, SWAGGER_UI_STYLE))
        .at("/docs/oauth2-redirect.html", methods, with_headers(html, RECEIVER, &under(receiver_policy)))
        .at("/docs/oauth2-redirect.js", methods, fixed(script, RECEIVER_SCRIPT));
    Some(guides::mount(paths, tools))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The service serves these files, and their licences ask for the notices beside them.
    #[test]
    fn swagger_ui_is_whole_and_of_one_release() {
        let (version, digest) = include_str!("swagger-ui/VERSION").trim().split_once(' ').unwrap();
        assert!(version.split('.').all(|part| part.parse::<u32>().is_ok()) && digest.starts_with("sha512-"));
        assert!(SWAGGER_UI.contains(&format!("\"{version}\"")), "the script is of another release");
        assert!(SWAGGER_UI.contains("SwaggerUIBundle") && SWAGGER_UI_STYLE.contains(".swagger-ui"));
        assert!(RECEIVER.contains("src=\"oauth2-redirect.js\"") && RECEIVER_SCRIPT.contains("swaggerUIRedirectOauth2"));
        assert!(include_str!("swagger-ui/LICENSE").contains("Apache License"));
        assert!(include_str!("swagger-ui/swagger-ui-bundle.js.LICENSE.txt").contains("DOMPurify"));
        assert!(!include_str!("swagger-ui/NOTICE").is_empty());
    }
}
