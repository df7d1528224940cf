//! The frame of every HTML page: head, navigation, stylesheet and security headers. Pages work without script.

pub mod permissions;
pub mod words;

use maud::{DOCTYPE, Markup, html};
use poem::{
    Response,
    endpoint::make_sync,
    get,
    http::{StatusCode, header},
};

use super::paths::Paths;

/// The path of the stylesheet.
pub const STYLESHEET: &str = "/assets/sightline.css";

/// There is no `form-action` directive: browsers also apply it to the redirect after a form, and sign-in redirects to clients and
/// to the search engine. Forms carry a token or are held to the service's own origin.
const POLICY: &str =
    "default-src 'none'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'";

/// One HTML page.
#[derive(Debug)]
pub struct Page {
    title: String,
    status: StatusCode,
    navigation: Option<Navigation>,
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
        Self { title: title.into(), status: StatusCode::OK, navigation: None }
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

    /// Renders the page around `body`. Its first heading is the title.
    #[must_use]
    pub fn render(&self, body: &Markup) -> Response {
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (self.title) " · Sightline" }
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href=(STYLESHEET);
                }
                body {
                    a.skip href="#main" { "Skip to content" }
                    header {
                        a.brand href="/" { "Sightline" }
                        @if let Some(navigation) = &self.navigation {
                            nav aria-label="Main" {
                                a href="/account" { "Account" }
                                @if let Some(plans) = &navigation.plans { a href=(plans) { "Plans" } }
                                a href="/docs" { "API" }
                                form method="post" action="/account/sign-out" { button.quiet { "Sign out" } }
                            }
                        }
                    }
                    main #main { h1 { (self.title) } (body) }
                }
            }
        };
        // `no-referrer` makes browsers send `Origin: null` with forms, and the account page is held to its origin. Forms of other
        // pages carry a token.
        let referrer = if self.navigation.is_some() { "same-origin" } else { "no-referrer" };
        Response::builder()
            .status(self.status)
            .content_type("text/html; charset=utf-8")
            .header(header::CONTENT_SECURITY_POLICY, POLICY)
            .header(header::X_FRAME_OPTIONS, "DENY")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .header(header::REFERRER_POLICY, referrer)
            .header(header::CACHE_CONTROL, "no-store")
            .body(document.into_string())
    }
}

/// Adds the stylesheet.
#[must_use]
pub fn mount(paths: Paths) -> Paths {
    let style = make_sync(|_| {
        Response::builder()
            .content_type("text/css; charset=utf-8")
            .header(header::CACHE_CONTROL, "public, max-age=300")
            .header(header::X_CONTENT_TYPE_OPTIONS, "nosniff")
            .body(include_str!("sightline.css"))
    });
    paths.at(STYLESHEET, "GET, HEAD", get(style))
}
