//! Leads from an address with a slip to the one that it means: a slash at the end of a page or of the tool endpoint, or what a mail
//! program took into the address of a share link.

use std::sync::Arc;

use pages::paths::{Methods, TOOLS, is_at, is_below};
use poem::{
    Endpoint, IntoResponse, Request, Response, Result,
    http::{Method, StatusCode, Uri, header},
};

/// Paths for programs. The refusal of one names the right address.
const PROGRAMS: [&str; 3] = ["/api", "/oauth", "/.well-known"];

/// The length of the token of a share link.
const TOKEN: usize = 43;

/// The layer that redirects a browser to the page of `pages` that its address means, and an assistant, whose address a person typed, to the
/// tool endpoint.
///
/// # Errors
/// The errors of the inner layers.
pub async fn lead<E: Endpoint>(pages: Methods, next: Arc<E>, request: Request) -> Result<Response> {
    let to = if request.uri().path().strip_suffix('/') == Some(TOOLS) {
        Some(TOOLS.to_owned())
    } else if matches!(*request.method(), Method::GET | Method::HEAD) {
        share_link(request.uri()).or_else(|| page(request.uri(), &pages))
    } else {
        None
    };
    if let Some(to) = to {
        let response = Response::builder().status(StatusCode::PERMANENT_REDIRECT).header(header::LOCATION, to);
        return Ok(response.header(header::CACHE_CONTROL, "no-store").finish());
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// Returns the address of a share link without what follows its token, such as the full stop of a sentence.
fn share_link(uri: &Uri) -> Option<String> {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let (token, rest) = uri.path().strip_prefix("/share/")?.split_at_checked(TOKEN)?;
    let is_token = token.bytes().all(is_of_token) && rest.bytes().next().is_some_and(|byte| !is_of_token(byte));
    (is_token && !rest.contains('/')).then(|| format!("/share/{token}"))
}

/// Returns the address without the slash, if a page is there. It stays on this host: a browser takes what follows two slashes, or a slash
/// and a backslash, for another one.
fn page(uri: &Uri, pages: &[(&str, &str)]) -> Option<String> {
    let is_own = uri.path().starts_with('/') && !uri.path().starts_with("//") && !uri.path().contains('\\');
    let path = uri.path().strip_suffix('/').filter(|path| !path.is_empty())?;
    // The first match is the path's own pattern, as for `Allow`; patterns for any path come later.
    let found = || pages.iter().find(|(known, _)| is_at(known, path));
    let has_page = || found().is_some_and(|(_, methods)| methods.contains("GET"));
    let is_program = PROGRAMS.iter().any(|start| is_below(start, path));
    (is_own && !is_program && has_page())
        .then(|| uri.query().map_or_else(|| path.to_owned(), |query| format!("{path}?{query}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGES: [(&str, &str); 9] = [
        ("/", "GET, HEAD"),
        ("/docs", "GET, HEAD"),
        ("/share/:token", "GET, HEAD"),
        ("/account/sign-out", "POST"),
        ("/account/*rest", "GET, HEAD, POST"),
        ("/mcp", "POST"),
        ("/oauth/authorize", "GET, HEAD"),
        ("/.well-known/x", "GET, HEAD"),
        ("/:any/:where", "GET, HEAD"),
    ];

    fn led(address: &str) -> Option<String> {
        page(&address.parse().unwrap(), &PAGES)
    }

    #[test]
    fn a_page_is_found_without_its_slash() {
        for (address, to) in [
            ("/docs/", "/docs"),
            ("/docs/?a=1&b=%2F", "/docs?a=1&b=%2F"),
            ("/docs/?", "/docs?"),
            ("/share/x%2Fy/", "/share/x%2Fy"),
            ("/account/x/", "/account/x"),
        ] {
            assert_eq!(led(address).as_deref(), Some(to), "{address}");
        }
    }

    #[test]
    fn what_follows_the_token_of_a_share_link_is_cut_off() {
        let token = "Aa0-_".repeat(9)[..TOKEN].to_owned();
        let link = format!("/share/{token}");
        for after in [".", ",", ")", ";", "%3E", "%20", "%E2%80%9D", "&utm_source=x", ".?a=b", "…"] {
            let Ok(uri) = format!("{link}{after}").parse::<Uri>() else { continue };
            assert_eq!(share_link(&uri), Some(link.clone()), "{after}");
        }
        for other in ["", "/", "/queries", "./queries", "a", "?a=."] {
            assert_eq!(share_link(&format!("{link}{other}").parse().unwrap()), None, "{other}");
        }
        assert_eq!(share_link(&"/share/short.".parse().unwrap()), None);
    }

    #[test]
    fn nothing_else_is_led_anywhere() {
        for address in [
            "/",
            "//",
            "///",
            "/docs",
            "/nothing/",
            "/account/sign-out/",
            "/docs//",
            "/mcp/",
            "/oauth/authorize/",
            "/.well-known/x/",
            "/api/",
            "/api/properties/",
            "//evil.example/",
            "//evil.example/x/",
            "///docs/",
            "/share/x/y/",
        ] {
            assert_eq!(led(address), None, "{address}");
        }
    }

    proptest::proptest! {
        #[test]
        fn a_redirect_stays_on_this_host(path in "[/a-z.:@%?]{0,12}", tail in "[/a-z]{0,4}") {
            if let Ok(uri) = format!("/{path}{tail}/").parse::<Uri>()
                && let Some(to) = page(&uri, &PAGES)
            {
                let base = url::Url::parse("https://own.example/").unwrap();
                let led = base.join(&to).unwrap();
                proptest::prop_assert_eq!(led.host_str(), Some("own.example"));
            }
        }
    }
}
