//! Refuses requests to the tool endpoint that a page of another site sent, or that were sent to a foreign host name.
//!
//! An attacker's page can make its own name resolve to this machine (DNS rebinding), and the protocol requires servers to refuse such
//! requests. Most assistants are not pages and send no `Origin`.

use std::sync::Arc;

use api::error::{ApiError, Code};
use common::{
    base_url::BaseUrl,
    urls::{is_loopback, is_of_application},
};
use pages::own_host;
use poem::{Endpoint, IntoResponse, Request, Response, Result, http::header};
use url::Url;

/// The pages that may call the tool endpoint: the service's own, those listed, and on loopback every one there. Applications and extensions
/// with a scheme of their own may where such pages may: no site can make its name resolve to them. All send tokens: no cookie counts at
/// the tool endpoint.
#[derive(Debug, Clone)]
pub struct OwnOrigins {
    /// The root of the tool endpoint.
    pub tools: BaseUrl,
    /// The root of the service's own pages.
    pub pages: BaseUrl,
    /// The origins of the settings `mcp.origins` and `cors.origins`.
    pub listed: Vec<String>,
    /// True if pages on the reader's own machine may call, wherever the service is.
    pub loopback: bool,
}

/// The origin layer. It runs before authentication.
///
/// # Errors
/// 403 for a foreign `Host` or `Origin`, and the errors of the inner layers.
pub async fn own_origin<E: Endpoint>(settings: Arc<OwnOrigins>, next: Arc<E>, request: Request) -> Result<Response> {
    if !settings.are_addressed(&request) {
        return Err(refusal("Host", "", &settings.tools));
    }
    let mut origins = request.headers().get_all(header::ORIGIN).iter();
    if !origins.all(|origin| origin.to_str().is_ok_and(|origin| settings.includes(origin))) {
        return Err(refusal("Origin", " or one of the setting mcp.origins", &settings.tools));
    }
    next.call(request).await.map(IntoResponse::into_response)
}

impl OwnOrigins {
    /// Returns whether `request` was sent to one of these. Only hosts on this machine are checked.
    fn are_addressed(&self, request: &Request) -> bool {
        let on_pages = self.pages.is_loopback() && own_host::is_for(&self.pages, request);
        own_host::is_for(&self.tools, request) || on_pages
    }

    /// Returns whether pages of an origin may call. Programs on this machine serve pages at ports of their own, so on loopback every
    /// port may.
    pub(super) fn includes(&self, text: &str) -> bool {
        if self.listed.iter().any(|listed| listed == text) {
            return true;
        }
        if is_of_application(text) {
            return self.loopback || self.tools.is_loopback() || self.pages.is_loopback();
        }
        let Ok(origin) = Url::parse(text) else { return false };
        let names_a_user = text.contains('@');
        let is_bare = !names_a_user && origin.path() == "/" && origin.query().is_none() && origin.fragment().is_none();
        let own_origin = origin.origin().ascii_serialization();
        let may_be_here = |root: &BaseUrl| (self.loopback || root.is_loopback()) && is_here(&origin);
        let is_own = |root: &BaseUrl| own_origin == root.origin() || may_be_here(root);
        is_bare && origin.origin().is_tuple() && (is_own(&self.tools) || is_own(&self.pages))
    }
}

/// Returns whether an origin is on the reader's own machine. Names that end with `.localhost` are (RFC 6761 section 6.3).
fn is_here(origin: &Url) -> bool {
    is_loopback(origin) || origin.host_str().is_some_and(|host| host.ends_with(".localhost"))
}

fn refusal(name: &str, others: &str, root: &BaseUrl) -> poem::Error {
    let origin = root.origin();
    let hint = format!(
        "{name}: must be {origin}{others}. The operator of the service sets mcp.url to the address in use, and lists the origins of \
         assistants that run in a browser in mcp.origins."
    );
    ApiError::new(Code::Forbidden).hint(hint).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(tools: &str, pages: &str) -> OwnOrigins {
        let listed = vec!["https://app.example.com".to_owned()];
        OwnOrigins { tools: tools.parse().unwrap(), pages: pages.parse().unwrap(), listed, loopback: false }
    }

    #[test]
    fn own_and_listed_pages_may_call() {
        let here = origins("http://127.0.0.1:8080", "http://127.0.0.1:8080");
        let public = origins("https://tools.example.org", "https://search.example.org");
        let open = OwnOrigins { loopback: true, ..public.clone() };
        let cases = [
            (&open, "http://localhost:6274", true),
            (&open, "http://127.0.0.1:6274", true),
            (&open, "http://localhost.evil.example", false),
            (&open, "http://192.168.0.7:6274", false),
            (&open, "null", false),
            (&open, "https://tauri.localhost", true),
            (&open, "tauri://localhost", true),
            (&open, "chrome-extension://abcdefghijklmnop", true),
            (&open, "https://localhost.example", false),
            (&here, "app://obsidian.md", true),
            (&here, "http://app.localhost:3000", true),
            (&public, "app://obsidian.md", false),
            (&public, "https://tauri.localhost", false),
            (&here, "http://127.0.0.1:8080", true),
            (&here, "http://localhost:8080", true),
            (&here, "http://localhost:8081", true),
            (&here, "https://[::1]", true),
            (&here, "https://app.example.com", true),
            (&here, "https://app.example.com:8443", false),
            (&here, "http://app.example.com", false),
            (&here, "http://localhost.evil.example", false),
            (&here, "http://rebind.example:8080", false),
            (&here, "http://user@127.0.0.1:8080", false),
            (&here, "http://user:secret@localhost:8080", false),
            (&here, "http://@localhost:8080", false),
            (&here, "null", false),
            (&here, "", false),
            (&public, "https://tools.example.org", true),
            (&public, "https://app.example.com", true),
            (&public, "http://localhost:8080", false),
            (&public, "https://search.example.org", true),
            (&public, "https://search.example.org:443", true),
            (&public, "http://search.example.org", false),
            (&public, "https://example.org", false),
            (&public, "https://tools.example.org.evil.example", false),
            (&public, "https://tools.example.org/path", false),
            (&public, "http://localhost:443", false),
            (&public, "file:///etc/passwd", false),
        ];
        for (own, origin, expected) in cases {
            assert_eq!(own.includes(origin), expected, "{origin}");
        }
    }
}
