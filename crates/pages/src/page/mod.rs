//! The frame of every HTML page: head, navigation, stylesheet and security headers. Pages work without script.

pub mod permissions;
pub mod unsent;
pub mod words;

use std::io;

use bytes::Bytes;
use futures_util::{FutureExt as _, StreamExt as _, future::ready, stream::once};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use poem::{
    Body, Response, RouteMethod,
    http::{HeaderMap, HeaderName, StatusCode, header},
};

use super::{
    fixed::{fixed, with_headers},
    paths::Paths,
};

/// The path of the stylesheet.
pub const STYLESHEET: &str = "/assets/sightline.css";

const HTML: &str = "text/html; charset=utf-8";

/// The path of the icon, which browsers ask for on pages of every kind.
const ICON: &str = "/favicon.ico";

/// Crawlers have no business at pages that change something or need a person. They may open share links, whose pages forbid to list them:
/// a crawler that may not open a page may still list its address.
const ROBOTS: &str =
    "User-agent: *\nDisallow: /account\nDisallow: /api\nDisallow: /auth/\nDisallow: /mcp\nDisallow: /oauth/\n";

/// There is no `form-action` directive: browsers also apply it to the redirect after a form, and sign-in redirects to clients and
/// to the search engine. Forms carry a token or are held to the service's own origin.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

/// The policy of pages with a script, which asks this service only.
const POLICY_WITH_SCRIPT: &str = "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self' data:; \
                                  frame-ancestors 'none'; base-uri 'none'";

/// Tells a proxy of Cloudflare to leave what looks like an e-mail address as it is. It would replace that by a text that only its own script
/// turns back, and pages run no script of others.
const AS_WRITTEN: [PreEscaped<&str>; 2] = [PreEscaped("<!--email_off-->"), PreEscaped("<!--/email_off-->")];

/// The place of a document where what comes later is put.
const REST: &str = "<!-- rest -->";

/// One HTML page.
#[derive(Debug)]
pub struct Page {
    title: String,
    /// The first heading, if it is not the title.
    heading: Option<Markup>,
    status: StatusCode,
    navigation: Option<Navigation>,
    /// The documents that stand in the navigation. Pages without any are no documents.
    documents: &'static [(&'static str, &'static str)],
    /// The path of the script. Pages without one run none.
    script: Option<&'static str>,
    /// True if the page has a form that is held to the service's own origin.
    sends: bool,
}

/// The navigation of signed-in people.
#[derive(Debug, Clone, Default)]
pub struct Navigation {
    /// The page of plans. `None` where nothing is for sale.
    pub plans: Option<String>,
}

impl Page {
    /// A page with this title and status 200.
    #[must_use]
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            heading: None,
            status: StatusCode::OK,
            navigation: None,
            documents: &[],
            script: None,
            sends: false,
        }
    }

    /// Returns the page with another first heading than its title.
    #[must_use]
    pub fn heading(self, heading: Markup) -> Self {
        Self { heading: Some(heading), ..self }
    }

    /// Returns the page with another status.
    #[must_use]
    pub fn status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// Returns the page with the navigation of signed-in people.
    #[must_use]
    pub fn signed_in(self, navigation: &Navigation) -> Self {
        Self { navigation: Some(navigation.clone()), ..self }
    }

    /// Returns the page as a document: it is wide, and its navigation leads to these paths, by their names, where nobody is signed in.
    #[must_use]
    pub fn document(self, documents: &'static [(&'static str, &'static str)]) -> Self {
        Self { documents, ..self }
    }

    /// Returns the page as one of the dashboard: it is wide, and may run the script at this path.
    #[must_use]
    pub fn dashboard(self, script: &'static str) -> Self {
        Self { script: Some(script), ..self }
    }

    /// Returns the page as one with a form that is held to the service's own origin.
    #[must_use]
    pub fn sending(self) -> Self {
        Self { sends: true, ..self }
    }

    /// Renders the page around `body`, under its first heading.
    #[must_use]
    pub fn render(&self, body: &Markup) -> Response {
        let response = Response::builder().status(self.status).content_type(HTML);
        let response = self.headers().iter().fold(response, |response, (name, value)| response.header(name, value));
        response.header(header::CACHE_CONTROL, "no-store").body(self.titled(body))
    }

    /// Sends the head of the page and `waiting` at once, and the `rest`, with its first heading, when it is there. The rest hides what
    /// came before it in the main part of the page.
    #[must_use]
    pub fn streamed(&self, waiting: &Markup, rest: impl Future<Output = Markup> + Send + 'static) -> Response {
        let document = self.whole(&html! { (waiting) (PreEscaped(REST)) });
        let (head, end) = document.split_once(REST).unwrap_or((&document, ""));
        let (head, end) = (head.to_owned(), end.to_owned());
        let rest = once(rest.map(move |rest| Bytes::from(rest.into_string() + &end)));
        let body = once(ready(Bytes::from(head))).chain(rest).map(Ok::<_, io::Error>);
        let response = self.render(&html! {});
        let (parts, _) = response.into_parts();
        Response::from_parts(parts, Body::from_bytes_stream(body))
    }

    /// Serves the page around `body`, which depends on no request.
    #[must_use]
    pub fn fixed(&self, body: &Markup) -> RouteMethod {
        with_headers(HTML, self.titled(body), &self.headers())
    }

    /// The document around a body under its first heading, which is the title unless the page says otherwise.
    fn titled(&self, body: &Markup) -> String {
        self.whole(&html! { h1 { @match &self.heading { Some(heading) => (heading), None => (self.title) } } (body) })
    }

    fn whole(&self, main: &Markup) -> String {
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · Sightline" }
                    link rel="icon" href=(ICON);
                    link rel="stylesheet" href=(STYLESHEET);
                    @if let Some(script) = self.script { script src=(script) defer {} }
                }
                body.dashboard[self.script.is_some()].document[!self.documents.is_empty()] {
                    (AS_WRITTEN[0])
                    a.skip href="#main" { "Skip to content" }
                    header {
                        a.brand href="/" { "Sightline" }
                        @if let Some(navigation) = &self.navigation {
                            nav aria-label="Main" {
                                a href="/" { "All sites" }
                                a href="/account" { "Account" }
                                @if let Some(plans) = &navigation.plans { a href=(plans) { "Plans" } }
                                a href="/docs/guides" { "Guides" }
                                a href="/docs" { "API" }
                                form method="post" action="/account/sign-out" { button.quiet { "Sign out" } }
                            }
                        } @else if !self.documents.is_empty() {
                            nav aria-label="Documents" {
                                @for (path, name) in self.documents { a href=(path) { (name) } }
                            }
                        }
                    }
                    main #main tabindex="-1" { (main) }
                    (AS_WRITTEN[1])
                }
            }
        };
        document.into_string()
    }

    fn headers(&self) -> [(HeaderName, String); 4] {
        // `no-referrer` makes browsers send `Origin: null` with forms, and forms of people are held to their origin. Forms of other
        // pages carry a token.
        let referrer = if self.navigation.is_some() || self.sends { "same-origin" } else { "no-referrer" };
        let policy = if self.script.is_some() { POLICY_WITH_SCRIPT } else { POLICY };
        [
            (header::CONTENT_SECURITY_POLICY, policy),
            (header::X_FRAME_OPTIONS, "DENY"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
            (header::REFERRER_POLICY, referrer),
        ]
        .map(|(name, value)| (name, value.to_owned()))
    }
}

/// Returns whether a client names HTML among what it accepts, as browsers do.
#[must_use]
pub fn is_wanted(headers: &HeaderMap) -> bool {
    let lines = headers.get_all(header::ACCEPT).iter().filter_map(|line| line.to_str().ok());
    lines.flat_map(|line| line.split(',')).any(|range| {
        let mut parts = range.split(';').map(str::trim);
        parts.next().is_some_and(|kind| kind.eq_ignore_ascii_case("text/html"))
            && !parts.any(|parameter| matches!(parameter, "q=0" | "q=0.0" | "q=0.00" | "q=0.000"))
    })
}

/// Adds the stylesheet, the icon, and the paths that crawlers are asked to leave alone.
#[must_use]
pub fn mount(paths: Paths) -> Paths {
    let methods = "GET, HEAD";
    paths
        .at(STYLESHEET, methods, fixed("text/css; charset=utf-8", include_str!("sightline.css")))
        .at(ICON, methods, fixed("image/x-icon", include_bytes!("favicon.ico").as_slice()))
        .at("/robots.txt", methods, fixed("text/plain; charset=utf-8", ROBOTS))
}

#[cfg(test)]
mod tests {
    use poem::http::HeaderValue;

    use super::*;

    #[test]
    fn a_browser_is_known_by_what_it_accepts() {
        let wants = |accept: &'static str| {
            is_wanted(&HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]))
        };
        for page in ["text/html", "text/html,application/xhtml+xml,*/*;q=0.8", "application/json, Text/HTML; q=0.5"] {
            assert!(wants(page), "{page}");
        }
        for other in ["*/*", "application/json", "text/*", "text/html;q=0", ""] {
            assert!(!wants(other), "{other}");
        }
        assert!(!is_wanted(&HeaderMap::new()));
    }
}
