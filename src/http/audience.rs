//! Looks up whom a page is for, by its route, for the layers of pages.

use std::sync::Arc;

use pages::paths::{is_led_to, named};
use poem::{Endpoint, IntoResponse, Request, Response, Result};

use crate::web::dashboard::Audience;

/// The patterns of pages with their audiences, of which the first that matches counts.
pub type Audiences = Arc<[(&'static str, Audience)]>;

/// The visitors of the page of a request, as request data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visitors {
    /// Whom the page is for.
    pub audience: Audience,
    /// The id of the property or the token of the share link that the path names, as it was sent.
    pub named: Option<String>,
}

impl Visitors {
    /// The token of the share link whose page or file is asked for.
    pub fn share_token(&self) -> Option<&str> {
        match self.audience {
            Audience::Readers | Audience::Takers => self.named.as_deref(),
            Audience::People => None,
        }
    }

    /// Finds the visitors of the page at `path`.
    fn of(pages: &[(&str, Audience)], path: &str) -> Option<Self> {
        let (pattern, audience) = pages.iter().find(|(pattern, _)| is_led_to(pattern, path))?;
        Some(Self { audience: *audience, named: named(pattern, path).map(str::to_owned) })
    }
}

/// The layer that looks up the visitors. Requests for what is no page have none.
///
/// # Errors
/// The errors of the inner layers.
pub async fn look_up<E: Endpoint>(pages: Audiences, next: Arc<E>, mut request: Request) -> Result<Response> {
    if let Some(visitors) = Visitors::of(&pages, request.uri().path()) {
        request.set_data(visitors);
    }
    next.call(request).await.map(IntoResponse::into_response)
}

/// Returns the visitors of the page of `request`.
pub(super) fn of(request: &Request) -> Option<&Visitors> {
    request.data::<Visitors>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::dashboard::audiences;

    #[test]
    fn a_path_below_a_link_that_is_no_page_and_no_file_counts_for_no_link() {
        let pages: Vec<_> = audiences().collect();
        for (path, expected) in [
            ("/share/t", Some((Audience::Readers, Some("t")))),
            ("/share/t/where/country=deu/overview", Some((Audience::Readers, Some("t")))),
            ("/share/t/queries.csv", Some((Audience::Takers, Some("t")))),
            ("/share/t/pages.csv", Some((Audience::Takers, Some("t")))),
            ("/share/", Some((Audience::Readers, Some("")))),
            ("/share//where/country=deu/overview", Some((Audience::Readers, Some("")))),
            ("/share/t/countries.csv", None),
            ("/share/t/queries.csv/x", None),
            ("/p/7", Some((Audience::People, Some("7")))),
            ("/p/7/queries", Some((Audience::People, Some("7")))),
            ("/p//queries", Some((Audience::People, Some("")))),
            ("/p/7/where/country=deu/queries", Some((Audience::People, Some("7")))),
            ("/p/7/no/page", Some((Audience::People, Some("7")))),
            ("/", Some((Audience::People, None))),
            ("/docs", None),
        ] {
            let found = Visitors::of(&pages, path);
            let found = found.as_ref().map(|visitors| (visitors.audience, visitors.named.as_deref()));
            assert_eq!(found, expected, "{path}");
        }
    }
}
